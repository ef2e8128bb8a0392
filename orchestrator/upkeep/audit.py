"""Read the audit log of one run or of a whole repository, as rows and as text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shared.builders import DATA_LIMITS, Block, json_text, visible_line
from shared.mode.where import open_database
from shared.run import open_state
from state.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TextIO

    from shared.mode.where import Target
    from state.database import Database, Run

_NAMES = {"from_state": "from", "to_state": "to"}


class Record:
    """The audit log of all runs in a repository, or of one run."""

    def __init__(self, database: Database, run: Run | None) -> None:
        self.database = database
        self.run = run

    def rows(self, after: int = 0) -> list[dict[str, Any]]:
        """Return the audit log's rows after row number `after`, oldest first."""
        rows = self.database.audit_rows(self.run, after)
        return [{_NAMES.get(k, k): v for k, v in row.items()} for row in rows]

    def grow(self, wait: Callable[[], object]) -> Iterator[dict[str, Any]]:
        """Yield every audit log row, then each new one; call `wait` before looking for new rows."""
        last = 0
        while True:
            for row in self.rows(last):
                last = row["seq"]
                yield row
            wait()


def open_record(target: Target) -> Record:
    """Return the audit log of a run, or of the whole repository if no run is named."""
    if target.state_dir is not None:
        state = open_state(target.state_dir, target.folder)
        return Record(state.database, state.run)
    return Record(open_database(target.folder), None)


def check_terminal(stream: TextIO) -> None:
    """Raise Refused if the audit log is to be followed without a terminal to interrupt it from."""
    if not stream.isatty():
        text = "`--follow` never ends, so its standard input must be a terminal"
        raise Refused("usage", "--follow", text, "leave out --follow", "planner audit --json")


def as_json(row: dict[str, Any]) -> str:
    """Return an audit log row as one line of JSON."""
    return json_text(row, indent=None)


def as_line(row: dict[str, Any]) -> str:
    """Return an audit log row as one line of text; control characters are escaped."""
    moved = f"{row['from']} → {row['to']}" if row["from"] or row["to"] else ""
    digest = f"digest {row['digest'][:12]}…" if row["digest"] else ""
    parts = (row["at"], row["action"], moved, f"by {row['who']}", digest, row["detail"])
    agent = f"[{row['agent']}]" if row["agent"] else ""
    return visible_line(" · ".join(p for p in (*parts, agent) if p))


def render(record: Record) -> str:
    """Return the newest rows of the audit log, as many as fit into a printed block."""
    lines = [as_line(row) for row in record.rows()]
    kept: list[str] = []
    room = DATA_LIMITS["result"]
    for line in reversed(lines):
        room -= len(line) + 1
        if room < 0:
            break
        kept.append(line)
    block = Block("result").data("audit", "\n".join(reversed(kept)), rows=len(lines))
    if not lines:
        block.task("Nothing is recorded yet.")
    if len(kept) < len(lines):
        block.task(f"The newest {len(kept)} of {len(lines)} rows; all: planner audit --json")
    return block.render()
