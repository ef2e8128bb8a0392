"""Tell files that another run has written from files that somebody has changed (PL-29)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shared import resources
from shared.git.journal import is_on_side, load_journal
from state.errors import Refused

if TYPE_CHECKING:
    from shared.git.journal import Side
    from shared.git.repository import Repository
    from shared.run import State


def written_by_others(state: State, repository: Repository) -> set[str]:
    """Return the files that are exactly as another run in this repository has left them."""
    found: set[str] = set()
    for run in state.database.runs():
        if run.run_id == state.run.run_id or run.repository != state.run.repository:
            continue
        for folder in (
            resources.journal_path(run.state_dir),
            resources.revert_journal_path(run.state_dir),
        ):
            found |= _left_by(repository.root, folder)
    return found


def _left_by(root: str, folder: str) -> set[str]:
    try:
        journal = load_journal(folder)
    except Refused:
        return set()  # damaged: its files count as changed by somebody
    if journal is None or journal.state not in ("applied", "undone"):
        return set()
    side: Side = "after" if journal.state == "applied" else "before"
    return {m.path for m in journal.moves if is_on_side(root, journal, m, side)}
