"""Write the todo list of a run that implements requirements: its milestones and their state."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from shared import resources
from shared.git.journal import journal_state
from shared.requirements_record import IN_WORK, TODO, lane_of
from state.beneath import Beneath
from state.execution import COMPLETED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shared.run import State
    from state.plan_table import Milestone

_ALSO = "## Committed as well, as the user agreed"


def refresh_todo(state: State) -> None:
    """Write todo.md anew from the run's plan; do nothing for a run without requirements."""
    lane = lane_of(state.state_dir)
    files = Beneath(state.run.repository)
    if not lane or not files.is_file(os.path.join(lane["planning"], IN_WORK)):
        return
    planned = os.path.exists(resources.plan_path(state.state_dir))
    milestones = state.plan.milestones if planned else ()
    text = render_todo(lane["sha256"], milestones, _done(state, milestones))
    files.write(os.path.join(lane["planning"], TODO), text.encode())


def render_todo(digest: str, milestones: Sequence[Milestone], done: set[str]) -> str:
    """Return the text of a todo list; before there are milestones, the plan is what is to do."""
    head = f"# Todo\n\nRequirements: {IN_WORK}\nSHA-256: {digest}\n\n"
    rows = [
        f"- [{'x' if m.id in done else ' '}] {m.id} {' '.join(m.name.split())}\n"
        for m in milestones
    ]
    return head + ("".join(rows) or f"- [ ] plan {IN_WORK}\n")


def _done(state: State, milestones: Sequence[Milestone]) -> set[str]:
    """Return the milestones that are done: all that are applied, before that those written."""
    applied = journal_state(resources.journal_path(state.state_dir))
    if applied == "applied":
        return {m.id for m in milestones}
    progress = state.database.progress(state.run) if applied is None else {}
    return {name for name, row in progress.items() if row.status == COMPLETED}


def as_completed(todo: str, name: str) -> str:
    """Return a todo list that calls its requirements by the name that they get when complete."""
    head = f"Requirements: {IN_WORK}\n"
    return todo.replace(head, f"Requirements: {name}\n", 1)


def also_committed(todo: str, files: Sequence[str]) -> str:
    """Return a completed todo list that names the other files that the user agreed to commit."""
    kept, named_before, _ = todo.partition(_ALSO)
    kept = kept.rstrip("\n")
    if not files:
        return f"{kept}\n" if named_before else todo
    rows = "".join(f"- {file}\n" for file in files)
    return f"{kept}\n\n{_ALSO}\n\n{rows}"
