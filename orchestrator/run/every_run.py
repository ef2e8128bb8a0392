"""List the runs of a repository that are under way: what each is, and what it waits for (SD-8)."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from orchestrator.queue.waiting import add_waiting, count_of_waiting, waiting
from orchestrator.run import panel
from shared import resources
from shared.builders import Block
from shared.execution.progress import View
from shared.run import State
from shared.which_run import all_under_way, quoted
from state.database import Database
from state.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Iterable

    from state.database import Run

    Rows = list[dict[str, Any]]


def rows_of(database: Database, but: str = "") -> Rows:
    """Return each run under way as a JSON object, but for the one of a state directory."""
    return [
        {
            "run": run.run_id, "request": run.request, "status": run.status, "stage": run.stage,
            "state_dir": run.state_dir, **_said(database, run),
        }
        for run in all_under_way(database) if run.state_dir != but
    ]  # fmt: skip


def database_around(folder: str) -> Database:
    """Return the database of the repository around `folder`, which has one."""
    return Database(resources.repository_database(folder) or "")


def only_queued(folder: str) -> bool:
    """Return whether in the repository around `folder` nothing has begun, but plans wait."""
    path = resources.repository_database(folder)
    database = Database(path) if path else None
    return database is not None and not database.runs() and bool(waiting(database))


def lines_of(rows: Iterable[dict[str, Any]]) -> str:
    """Return a line for each run: its request, its step, who goes on, how to name it."""
    named = ((row, resources.quote(row["state_dir"])) for row in rows)
    return "\n".join(
        f"{quoted(row['request'])}: {row['words']} (--state-dir {name})" for row, name in named
    )


def render_runs(database: Database, rows: Rows) -> str:
    """Return the block that lists runs of which none is meant before the others, and the queue."""
    block = Block("result").data("under way", lines_of(rows))
    add_waiting(block, database, starts=not rows)
    for row in rows:
        block.next(row["run"], resources.command("status", state_dir=row["state_dir"]))
    return block.render()


def count_of(database: Database) -> str:
    """Return how many runs are under way and how many wait for the user, in one line.

    Where none has begun, how many wait in the queue.
    """
    rows = rows_of(database)
    if not rows:
        return count_of_waiting(database)
    waiting = sum(row["waits_for_person"] for row in rows)
    asked = f" · {waiting} {'waits' if waiting == 1 else 'wait'} for you" if waiting else ""
    return f"{len(rows)} plans under way{asked}"


def _said(database: Database, run: Run) -> dict[str, Any]:
    """Return where a run is in words, and whether it waits for the user."""
    state = State(run.state_dir, database, run)
    try:
        state.check_unedited()
        view = View(state) if os.path.exists(resources.plan_path(run.state_dir)) else None
        waits = panel.waits_for_person(state, view)
        return {"words": panel.in_words(state, view), "waits_for_person": waits}
    except Refused as refusal:
        return {"words": refusal.problems[0].problem, "waits_for_person": False}
