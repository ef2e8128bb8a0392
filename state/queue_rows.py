"""Queries of planner.db about the queue: requests whose runs are to start one after another."""

from __future__ import annotations

import json

from state.clock import now
from state.connection import Connection
from state.rows import Queued

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    from collections.abc import Sequence


class QueueRows(Connection):
    """The rows of planner.db about the queue; each `with` block is one transaction."""

    def queued(self) -> list[Queued]:
        """Return what is in the queue: the highest priority first, then the oldest."""
        rows = self._rows("SELECT * FROM queue ORDER BY priority DESC, rowid")
        return [
            Queued(row["id"], row["request"], row["priority"], self._list(row["after"]), row["at"])
            for row in rows
        ]

    def enqueue(self, request: str, priority: int, after: Sequence[str]) -> str:
        """Add a request to the queue, to start after others of it; return its new id."""
        # Ids are never used twice, and what was added stays in the audit.
        row = self._row("SELECT count(*) FROM audit WHERE action='queue add'")
        name = f"Q-{(row[0] if row else 0) + 1:03}"
        sql = "INSERT INTO queue (id, request, priority, after, at) VALUES (?,?,?,?,?)"
        self._execute(sql, (name, request, priority, json.dumps(list(after)), now()))
        return name

    def dequeue(self, name: str) -> list[str]:
        """Remove a request from the queue; return the ids of those that waited for it."""
        waiting = [row for row in self.queued() if name in row.after]
        for row in waiting:
            after = json.dumps([one for one in row.after if one != name])
            self._execute("UPDATE queue SET after=? WHERE id=?", (after, row.id))
        self._execute("DELETE FROM queue WHERE id=?", (name,))
        return [row.id for row in waiting]
