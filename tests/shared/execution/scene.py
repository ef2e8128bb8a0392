"""A run whose milestones are under way: a real database and plan.json, without a repository."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shared.execution.deeds import Execution
from shared.execution.events import settle
from shared.resources import database_path, lock_path, plan_path
from shared.run import State
from state.database import Database
from state.files import write_json
from tests.state.plans import UUID, empty_plan, plain

if TYPE_CHECKING:
    from pathlib import Path

RUN: dict[str, Any] = {
    "run_id": "20260102-abcdef", "request": "Parse dates", "repository": "/repo",
    "depth": "intent", "status": "ACTIVE", "stage": "executing", "workflow": "executor", "step": 3,
}  # fmt: skip
LIMITS: dict[str, Any] = {
    "gathering_timeout_s": 3_600, "approval_timeout_s": 1_800, "on_timeout": "pause",
}  # fmt: skip
OPTIONS = [{"key": "jwt", "label": "Tokens"}, {"key": "session", "label": "Sessions"}]


def milestone(number: int, files: str, after: str = "", **values: Any) -> dict[str, Any]:  # noqa: ANN401
    """Return a milestone of a plan; `files` and `after` (numbers) are words."""
    depends_on = [f"M-{int(other):03}" for other in after.split()]
    return {
        "id": f"M-{number:03}", "number": number, "name": f"Part {number}",
        "files": files.split(), "depends_on": depends_on, **values,
    }  # fmt: skip


def checkpoint(number: int, **values: Any) -> dict[str, Any]:  # noqa: ANN401 – fields of any type
    """Return a checkpoint of a plan, with two options."""
    return {
        "id": f"CP-{number:03}", "header": "Login", "question": f"Which way, {number}?",
        "options": OPTIONS, "multi": False, **values,
    }  # fmt: skip


class Scene:
    """One run in a folder, opened anew for every deed, as commands are that come one by one."""

    def __init__(
        self, folder: Path, milestones: list[dict[str, Any]],
        checkpoints: list[dict[str, Any]] | None = None, **config: Any,  # noqa: ANN401
    ) -> None:  # fmt: skip
        self.state_dir = str(folder / ".planner" / "runs" / "20260102-abcdef")
        (folder / ".planner" / "runs" / "20260102-abcdef").mkdir(parents=True)
        plan = empty_plan(
            milestones=milestones, checkpoints=checkpoints or [],
            counters={"CP": len(checkpoints or [])},
        )  # fmt: skip
        write_json(plan_path(self.state_dir), plain(plan))
        stored = {"config": config, "hash": "", "text": "", "submodules": []}
        write_json(f"{self.state_dir}/config.json", stored)
        with open(lock_path(self.state_dir), "wb"):
            pass
        database = Database(database_path(self.state_dir), create=True)
        with database:
            database.add_run({**RUN, "state_dir": self.state_dir})
            run = database.run_at(self.state_dir)
            assert run is not None
            database.set_planning("a session", run_id=run.run_id, phase="executing", **LIMITS)
        database.close()

    def place(self, **values: object) -> State:
        """Put fields of the run's row where a test begins, and open it."""
        database = self.state().database
        for name, value in values.items():
            database.connection.execute(f"UPDATE runs SET {name}=?", (value,))  # noqa: S608
        return self.state()

    def state(self) -> State:
        database = Database(database_path(self.state_dir))
        run = database.run_at(self.state_dir)
        assert run is not None
        return State(self.state_dir, database, run)

    def view(self) -> Execution:
        return Execution(self.state())

    def do(self, deed: str, *arguments: Any, **values: Any) -> Any:  # noqa: ANN401 – any deed
        """Carry out one deed in a transaction of its own."""
        state = self.state()
        with state.database:
            return getattr(Execution(state), deed)(*arguments, **values)

    def statuses(self) -> dict[str, str]:
        return {name: row.status for name, row in self.view().progress.items()}

    def move(self, action: str) -> None:
        """Pause, resume or cancel the run."""
        state = self.state()
        with state.database:
            state.move(action, "host")

    def time_passes(self) -> None:
        """Let every question be as old as can be."""
        self.all_asked("2000-01-01T00:00:00Z")

    def settle(self) -> None:
        """Store what time limits have changed, as every command that changes a run does first."""
        state = self.state()
        settle(state.database, state.run)

    def limits_pass(self) -> None:
        """Let every milestone that waits for the end of a rate limit have waited long enough."""
        database = self.state().database
        sql = "UPDATE milestones SET not_before='2000-01-01T00:00:00Z' WHERE not_before!=''"
        database.connection.execute(sql)

    def all_asked(self, at: str) -> None:
        database = self.state().database
        database.connection.execute("UPDATE checkpoints SET asked_at=?", (at,))

    def events(self, kind: str = "") -> list[dict[str, Any]]:
        state = self.state()
        rows = state.database.event_rows(state.run)
        assert all(row["payload"].get("plan_id") == UUID for row in rows)
        return [row["payload"] for row in rows if kind in ("", row["kind"])]
