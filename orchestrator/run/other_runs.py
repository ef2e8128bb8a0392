"""Tell files that another run has written from files that somebody has changed (PL-29)."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from shared import resources
from shared.git.journal import is_on_side, load_journal
from state.errors import AGAIN, Refused
from state.stages import CANCELLED, COMPLETED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shared.git.journal import Side
    from shared.git.repository import Repository
    from shared.run import State
    from state.database import Run


def written_by_others(state: State, repository: Repository) -> set[str]:
    """Return the files that are exactly as another run in this repository has left them."""
    found: set[str] = set()
    for run in _others(state):
        for folder in (
            resources.journal_path(run.state_dir),
            resources.revert_journal_path(run.state_dir),
        ):
            found |= _left_by(repository.root, folder)
    return found


@contextlib.contextmanager
def naming_other_runs(state: State) -> Iterator[None]:
    """Say in a refusal of files which of them another run has applied and not committed yet.

    They are nobody's own work: put aside, they would take that run's apply back.
    """
    try:
        yield
    except Refused as refusal:
        for run in _others(state):
            if run.status in (COMPLETED, CANCELLED):
                continue
            applied = _left_by(state.repository.root, resources.journal_path(run.state_dir))
            for problem in refusal.problems:
                if problem.at in applied:
                    status = resources.command("status", state_dir=run.state_dir)
                    problem.problem = f"run {run.run_id} has applied this, and has not committed it"
                    problem.allowed = "wait until that run is committed or undone, then run the "
                    problem.allowed += f"same command again; how it stands: {status}"
                    problem.retry = AGAIN
        raise


def _others(state: State) -> list[Run]:
    own = state.run
    runs = state.database.runs()
    return [r for r in runs if r.run_id != own.run_id and r.repository == own.repository]


def _left_by(root: str, folder: str) -> set[str]:
    try:
        journal = load_journal(folder)
    except Refused:
        return set()  # damaged: its files count as changed by somebody
    if journal is None or journal.state not in ("applied", "undone"):
        return set()
    side: Side = "after" if journal.state == "applied" else "before"
    return {m.path for m in journal.moves if is_on_side(root, journal, m, side)}
