"""Queries of planner.db about the execution of a plan: its milestones, checkpoints, holder, events.

`Database` inherits them. They store what they are given; which changes are possible is decided by
`state/execution.py`.
"""

from __future__ import annotations

import json

from state.clock import now
from state.connection import Connection
from state.rows import Asked, Auto, Holder, Progress

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    import sqlite3
    from typing import Any

    from state.rows import Run


# Columns of a milestone that its object holds as they are.
_KEPT = (
    "status", "note", "agent", "attempts", "started_at", "not_before", "limited", "turns",
)  # fmt: skip


class ExecutionRows(Connection):
    """The rows of planner.db about the execution of plans; each `with` block is one transaction."""

    # milestones

    def progress(self, run: Run) -> dict[str, Progress]:
        """Return how far each milestone of a run is, by id; those never begun have no entry."""
        sql = "SELECT * FROM milestones WHERE run_id=? ORDER BY rowid"
        return {row["milestone"]: self._progress(row) for row in self._rows(sql, (run.run_id,))}

    def _progress(self, row: sqlite3.Row) -> Progress:
        values = {name: row[name] for name in _KEPT}
        return Progress(row["milestone"], waits=self._list(row["waits"]), **values)

    def set_progress(self, run: Run, progress: Progress) -> None:
        """Store how far a milestone is; replace its row or add one."""
        values = {name: getattr(progress, name) for name in _KEPT}
        values |= {"waits": json.dumps(progress.waits), "at": now()}
        row = (*values.values(), run.run_id, progress.id)
        changed = ", ".join(f"{name}=?" for name in values)
        sql = f"UPDATE milestones SET {changed} WHERE run_id=? AND milestone=?"  # noqa: S608
        if not self._execute(sql, row).rowcount:
            names = ", ".join((*values, "run_id", "milestone"))
            marks = ",".join("?" * len(row))
            self._execute(f"INSERT INTO milestones ({names}) VALUES ({marks})", row)  # noqa: S608

    # A client's hook stores these while commands move the milestone, so they touch nothing else.

    def bind_agent(self, run: Run, milestone: str, agent: str) -> None:
        """Store which agent of the client works on a milestone, if it is still in progress."""
        sql = (
            "UPDATE milestones SET agent=?, turns=0 WHERE run_id=? AND milestone=?"
            " AND status='IN_PROGRESS'"
        )
        self._execute(sql, (agent, run.run_id, milestone))

    def count_turn(self, run: Run, milestone: str, agent: str) -> None:
        """Add one to the turns of an agent, if it still works on the milestone."""
        sql = (
            "UPDATE milestones SET turns=turns+1 WHERE run_id=? AND milestone=? AND agent=?"
            " AND status='IN_PROGRESS'"
        )
        self._execute(sql, (run.run_id, milestone, agent))

    def drop_progress(self, run: Run, milestone: str) -> None:
        """Remove the row of a milestone that the plan holds no longer."""
        sql = "DELETE FROM milestones WHERE run_id=? AND milestone=?"
        self._execute(sql, (run.run_id, milestone))

    # checkpoints

    def checkpoints(self, run: Run) -> dict[str, Asked]:
        """Return the questions that milestones of a run have waited for or wait for, by id."""
        sql = "SELECT * FROM checkpoints WHERE run_id=? ORDER BY rowid"
        rows = self._rows(sql, (run.run_id,))
        return {
            row["checkpoint"]: Asked(
                {**dict(row), "id": row["checkpoint"], "options": self._list(row["options"]),
                 "multi": bool(row["multi"])}
            )
            for row in rows
        }  # fmt: skip

    def add_checkpoint(self, run: Run, asked: dict[str, Any]) -> None:
        """Store a question that milestones wait for from now on; replace an older row of its id.

        Its time limit counts once a block has printed it (SD-2).
        """
        values = (
            run.run_id, asked["id"], asked.get("milestone", ""), asked["header"],
            asked["question"], json.dumps(asked["options"], ensure_ascii=False),
            int(asked["multi"]), asked["timeout_s"], "",
        )  # fmt: skip
        self._execute("INSERT OR REPLACE INTO checkpoints VALUES (?,?,?,?,?,?,?,?,?)", values)

    def begin_limits(self, run: Run) -> None:
        """Let the time limits of the questions count that a block prints now for the first time."""
        sql = "UPDATE checkpoints SET asked_at=? WHERE run_id=? AND asked_at=''"
        self._execute(sql, (now(), run.run_id))

    def ask_again(self, run: Run, checkpoint: str | None = None) -> None:
        """Let the time limit of a question count from now; of every printed one if none is named.

        Of one that nobody was shown yet it does not count.
        """
        named = "asked_at!='' AND checkpoint=coalesce(?, checkpoint)"
        sql = f"UPDATE checkpoints SET asked_at=? WHERE run_id=? AND {named}"  # noqa: S608
        self._execute(sql, (now(), run.run_id, checkpoint))

    # who executes

    def holder(self, run: Run) -> Holder | None:
        """Return the instance that executes a run; None if none does."""
        row = self._row("SELECT * FROM holders WHERE run_id=?", (run.run_id,))
        return Holder(row) if row else None

    def set_holder(
        self, run: Run, instance: str, machine: str, pid: int, process_start: str
    ) -> None:
        """Store which instance executes a run; `since` stays if the same one did before."""
        before, at = self.holder(run), now()
        since = before.since if before and before.instance == instance else at
        values = (run.run_id, instance, machine, pid, process_start, since, at)
        self._execute("INSERT OR REPLACE INTO holders VALUES (?,?,?,?,?,?,?)", values)

    def drop_holder(self, run: Run) -> None:
        """Remove what is stored about the instance that executes a run."""
        self._execute("DELETE FROM holders WHERE run_id=?", (run.run_id,))

    # approval in advance

    def auto(self, run: Run) -> Auto | None:
        """Return the approval in advance that a person gave for a run; None if none is in force."""
        row = self._row("SELECT * FROM auto WHERE run_id=?", (run.run_id,))
        return Auto(row) if row else None

    def set_auto(self, run: Run, most_files: int, risk: str, who: str, channel: str) -> None:
        """Store a person's approval in advance for a run, with its limits; replace an earlier."""
        values = (run.run_id, most_files, risk, who, channel, now())
        self._execute("INSERT OR REPLACE INTO auto VALUES (?,?,?,?,?,?)", values)

    def drop_auto(self, run: Run) -> bool:
        """Take back the approval in advance of a run; return whether there was one."""
        return self._execute("DELETE FROM auto WHERE run_id=?", (run.run_id,)).rowcount > 0

    # events

    def event(self, run: Run | None, kind: str, payload: dict[str, Any]) -> None:
        """Append a row to the event log: time, run, kind of event, and details as JSON."""
        text = json.dumps(payload, ensure_ascii=False)
        values = (now(), run.run_id if run else None, kind, text)
        self._execute("INSERT INTO events VALUES (NULL,?,?,?,?)", values)

    def plan_id(self, run: Run) -> str:
        """Return the id of the plan that a run has begun to execute; "" if it has not begun."""
        sql = "SELECT payload FROM events WHERE run_id=? AND kind='PlanStarted' LIMIT 1"
        row = self._row(sql, (run.run_id,))
        return str(self._json(row[0])["plan_id"]) if row else ""

    def changes_at_answers(self, run: Run) -> dict[str, str]:
        """Return by question what named the bytes of the change when it was answered last."""
        sql = "SELECT payload FROM events WHERE run_id=? AND kind='PlanDecision' ORDER BY seq"
        rows = [self._json(row["payload"]) for row in self._rows(sql, (run.run_id,))]
        return {row["decision_id"]: row["changes"] for row in rows if "changes" in row}

    def event_rows(self, run: Run | None, after: int = 0) -> list[dict[str, Any]]:
        """Return the event log's rows of a run, oldest first; those of all runs if `run` is None.

        `after` is the number of the last row that the caller has.
        """
        sql = "SELECT * FROM events WHERE seq>? AND (? IS NULL OR run_id IS ?) ORDER BY seq"
        name = run.run_id if run else None
        rows = self._rows(sql, (after, name, name))
        return [{**dict(row), "payload": self._json(row["payload"])} for row in rows]
