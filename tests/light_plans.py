"""Plans lightly in a repository, by the commands that a host and a person run."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from shared.mode.where import open_database
from tests.journey import Answer, call
from tests.prepared import kept

if TYPE_CHECKING:
    from state.database import Planning
    from tests.conftest import Repository

PLAN: dict[str, Any] = {
    "summary": "Move the importer to ISO dates.",
    "steps": [
        {"description": "Change the parser", "tools": ["Edit", "Bash"], "risk": "low"},
        {"description": "Rewrite the archive", "tools": ["Bash"], "risk": "high"},
    ],
    "questions": [{"question": "Is 1904 a year here?", "answer": "Yes."}],
    "context_notes": "One caller.",
}


class Lightly:
    """One repository and the agent who plans in it: the repository itself, where none is named."""

    def __init__(self, repository: Repository, agent: str | None = None) -> None:
        self.repository = repository
        self.named = () if agent is None else ("--agent", agent)
        self.agent = agent or str(repository.path.resolve())

    def run(self, *words: str) -> Answer:
        """Run a command as the agent."""
        return call(self.repository.path, *words, *self.named)

    def mode(self, *words: str) -> Answer:
        """Run a command of the mode that must be done."""
        answer = self.run("mode", *words)
        assert answer.code == 0, answer.text
        return answer

    def status(self) -> dict[str, Any]:
        """Return what `mode status` says."""
        found: dict[str, Any] = json.loads(self.mode("status", "--json").text)
        return found

    def submit(self, plan: object = PLAN) -> Answer:
        """Write a plan to where the host writes it, and submit it."""
        self.repository.write(".planner/answers/light.json", json.dumps(plan))
        return self.run("mode", "submit", "--file", "answers/light.json")

    @kept
    def to(self, stage: str) -> Lightly:
        """Go on until the mode is at a stage."""
        self.mode("enter", "Move to ISO dates", "--reason", "several files")
        if stage in ("submitted", "executing"):
            assert self.submit().code == 0
        if stage == "executing":
            self.run("approve", self.status()["digest"])
        assert self.status()["stage"] == stage
        return self

    @property
    def row(self) -> Planning:
        """The row that the database holds."""
        database = open_database(str(self.repository.path))
        row = database.planning(self.agent)
        database.close()
        assert row is not None
        return row

    def audit(self) -> list[dict[str, Any]]:
        """Return the audit, oldest first."""
        lines = call(self.repository.path, "audit", "--json").text.splitlines()
        return [json.loads(line) for line in lines]

    def set_back(self, seconds: int) -> None:
        """Have all that the row and the session's file remember lie further back."""
        import os

        from shared.mode import sessions

        database = open_database(str(self.repository.path))
        columns = ("gathering_start", "last_tool_at", "submitted_at")
        back = ", ".join(
            f"{c}=strftime('%Y-%m-%dT%H:%M:%SZ', {c}, '-{seconds} seconds')" for c in columns
        )
        database.connection.execute(f"UPDATE planning_state SET {back}")  # noqa: S608
        database.close()
        if sessions.is_published(self.agent):
            path = sessions.path_of(self.agent)
            at = os.stat(path).st_mtime - seconds
            os.utime(path, (at, at))
