"""Read the queue of a repository: plans that start one after another (PC-14).

A request of the queue belongs to the first run with its words that was started after it was added,
before another one with the same words that waits for others.
So starting needs no second write, and a run that the user starts by hand counts as well. Status
shows the queue and has to be quick, so this loads neither git nor pydantic.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from shared.builders import counted, first_of, shortened, visible_line
from shared.resources import command
from state.errors import Refused
from state.stages import ACTIVE, CANCELLED, COMPLETED, IDLE, INACTIVE, PAUSED

if TYPE_CHECKING:
    from shared.builders import Block
    from state.database import Database, Run
    from state.rows import Queued

READY, WAITING = "READY", "WAITING"
UNDER_WAY = (IDLE, ACTIVE, PAUSED)
LIST = "planner queue list"
_MOST_SHOWN = 160  # characters of a request
_MOST_LINES = 20


class Place(NamedTuple):
    """A request of the queue, its run if it has begun, and what it waits for."""

    row: Queued
    run: Run | None
    waits: list[str]

    @property
    def status(self) -> str:
        """Return the status of its run; READY or WAITING before it has one."""
        return self.run.status if self.run else WAITING if self.waits else READY

    def to_json(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        row, run = self.row, self.run
        return {
            "id": row.id, "request": row.request, "priority": row.priority, "after": row.after,
            "status": self.status, "waits_for": self.waits, "run": run.run_id if run else None,
        }  # fmt: skip

    def line(self) -> str:
        """Return it as one line of text, a long request cut; whole it is in `queue list --json`."""
        said = [f"{self.row.id} {self.status} {shortened(self.row.request, _MOST_SHOWN)}"]
        said += [f"priority {self.row.priority}"] if self.row.priority else []
        said += [f"waits for {', '.join(self.waits)}"] if self.waits else []
        return visible_line(" · ".join(said))


def places(database: Database) -> list[Place]:
    """Return the queue, the next one first; what has begun or ended stands where it was."""
    rows, runs = database.queued(), database.runs()
    taken: dict[str, Run] = {}
    # Of several with the same words only one that waits for nothing can have begun first.
    for row in sorted(rows, key=lambda row: (bool(row.after), row.number)):
        own = [
            run for run in runs
            if run.request == row.request and run.created_at >= row.at and run not in taken.values()
        ]  # fmt: skip
        if own:  # what was cancelled may have been started again
            taken[row.id] = next((run for run in own if run.status != CANCELLED), own[0])
    done = {name for name, run in taken.items() if run.status == COMPLETED}
    return [
        Place(row, taken.get(row.id), [_with_status(n, taken) for n in row.after if n not in done])
        for row in rows
    ]


def _with_status(name: str, runs: dict[str, Run]) -> str:
    return f"{name} ({runs[name].status})" if name in runs else name


def following(database: Database, agent: str) -> Place:
    """Return what a session has to do: its own plan of the queue, else one under way, or the next.

    Not one that another session works on: two would go on with the same run (SD-8). Raises Refused
    if nothing is left.
    """
    found = places(database)
    under_way = [place for place in found if place.status in UNDER_WAY]
    elsewhere = [place for place in under_way if _is_elsewhere(database, place, agent)]
    here = [place for place in under_way if place not in elsewhere]
    here.sort(key=lambda place: agent not in _agents(database, place))
    due = here or [place for place in found if place.status == READY]
    if not due:
        waits = [place.line() for place in found if place.status == WAITING]
        text = "nothing of the queue can start" if waits else "nothing waits in the queue"
        if elsewhere:
            text += f"; another session works on {', '.join(p.row.id for p in elsewhere)}"
        ways = "; ".join(waits) or 'planner queue add "TEXT"'
        raise Refused("not_found", "queue", text, ways, LIST)
    return due[0]


def _is_elsewhere(database: Database, place: Place, agent: str) -> bool:
    """Return whether sessions take part in the run of a place, and this one does not."""
    names = _agents(database, place)
    return bool(names) and agent not in names


def _agents(database: Database, place: Place) -> list[str]:
    """Return the sessions that take part in the run of a place."""
    rows = database.planning_of(place.run.run_id) if place.run else []
    return [row.agent_name for row in rows if row.phase != INACTIVE]


def has_ready(database: Database) -> bool:
    """Return whether a plan of the queue can start."""
    return any(place.status == READY for place in places(database))


def waiting(database: Database) -> list[str]:
    """Return what has not begun, a line each, to be shown beside a run."""
    return first_of([place.line() for place in places(database) if not place.run], _MOST_LINES)


def count_of_waiting(database: Database) -> str:
    """Return in a few words how many plans have not begun, "" if none."""
    number = sum(not place.run for place in places(database))
    said = f"{counted(number, 'plan')} {'waits' if number == 1 else 'wait'} in the queue"
    return said if number else ""


def add_waiting(block: Block, database: Database, *, starts: bool) -> Block:
    """Add what waits to a block, and where the queue `starts`, the command for its next plan."""
    block.data("queue", "\n".join(waiting(database)))
    if starts and has_ready(database):
        block.next("queue", command("queue", "next"))
    return block
