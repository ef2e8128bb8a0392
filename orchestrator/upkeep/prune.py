"""Shrink ended runs to plan, audit and proof; remove what nothing needs any more."""

from __future__ import annotations

import contextlib
import os
import time
from typing import TYPE_CHECKING, NamedTuple

from orchestrator.run.age import ended_at
from orchestrator.run.cleanup import tidy
from shared import resources
from shared.git.files import remove_tree
from shared.git.journal import journal_state
from shared.git.orphans import forget_worktrees, is_kept, orphaned_worktrees
from shared.git.repository import repository_at
from shared.paths import followed
from shared.requirements_record import WORKFLOW as REQUIREMENTS
from shared.run import State
from state.clock import moment
from state.errors import Refused
from state.files import SQLITE_TAILS
from state.stages import CANCELLED, COMPLETED

if TYPE_CHECKING:
    from state.database import Database, Run

# All that shows what was decided and done; `validate` and `undo` need nothing else.
_KEPT = (
    "plan.json", "plan.md", "approval.json", "config.json", "requirements.json", "lock",
    *(f"{name}{tail}" for name in (resources.DATABASE, resources.MEMORY) for tail in SQLITE_TAILS),
)  # fmt: skip


class Pruned(NamedTuple):
    """What was removed of a run, or would be: file names in its folder, bytes, what was left."""

    run: str
    removed: tuple[str, ...]
    size: int
    left: str = ""


def prune(database: Database, age_s: int, *, dry_run: bool) -> list[Pruned]:
    """Shrink the runs that ended longer than `age_s` ago; return what went of each.

    A plan, its approval and what only a run's folder holds of the user's bytes stay.
    """
    found = []
    for run in ended_runs(database, age_s):
        state = State(run.state_dir, database, run)
        if dry_run:
            found.append(_look(state))
            continue
        with state.lock("prune"):
            found.append(_shrink(state))
    return [one for one in found if one.removed or one.left]


def ended_runs(database: Database, age_s: int) -> list[Run]:
    """Return the runs that ended longer than `age_s` ago and whose folder is still there."""
    until = moment(time.time() - age_s)
    runs = [r for r in database.runs(COMPLETED, CANCELLED) if r.workflow != REQUIREMENTS]
    return [
        run
        for run in runs
        if os.path.isdir(run.state_dir)
        and followed(run.state_dir) == run.state_dir
        and ended_at(database, run) <= until
    ]


def _look(state: State) -> Pruned:
    """Return what a prune removes of a run's folder, and why it leaves what undo needs."""
    folder, left = state.state_dir, []
    keep = {*_KEPT}
    for path in (resources.journal_path(folder), resources.revert_journal_path(folder)):
        if reason := _needed(state, path):
            keep.add(os.path.basename(path))
            left.append(reason)
    names = sorted(name for name in os.listdir(folder) if name not in keep)
    size = sum(_size(os.path.join(folder, name)) for name in names)
    return Pruned(state.run.run_id, tuple(names), size, "; ".join(left))


def _needed(state: State, journal: str) -> str:
    """Return why an undo needs a journal, the only copy of the bytes before; "" if none does."""
    name = os.path.basename(journal)
    try:
        found = journal_state(journal)
    except Refused:
        return f"{name}: its journal is damaged, and it holds old bytes"
    if found in (None, "undone"):
        return ""
    if found != "applied":
        return f"{name}: it was interrupted"
    commit = state.run.commit_id
    with contextlib.suppress(Refused):
        if commit and is_kept(state.repository, commit):
            return ""
    return f"{name}: what was applied is in no commit of a branch, and undo needs it"


def _shrink(state: State) -> Pruned:
    state.reload()
    if state.run.status not in (COMPLETED, CANCELLED):
        return Pruned(state.run.run_id, (), 0, "it is under way again")
    found = _look(state)
    tidy(state)
    for name in found.removed:
        with contextlib.suppress(OSError):
            remove_tree(os.path.join(state.state_dir, name))
    gone = [n for n in found.removed if not os.path.lexists(os.path.join(state.state_dir, n))]
    return found._replace(removed=tuple(gone))


def prune_worktrees(database: Database | None, root: str, *, dry_run: bool) -> list[str]:
    """Drop git's records of worktrees of ended runs whose folder is gone; return their paths.

    Without a database, as after `git clean -ffdx`, no run is under way.
    """
    repository = repository_at(root)
    runs = database.runs() if database else []
    live = [r.state_dir for r in runs if r.status not in (COMPLETED, CANCELLED)]
    ours = os.path.join(repository.root, resources.PLANNER_FOLDER)
    ended = [r.state_dir for r in runs if r.status in (COMPLETED, CANCELLED)]
    found = orphaned_worktrees(repository, (ours, *ended), live)
    if not dry_run:
        forget_worktrees(found)
    return sorted(found)


def _size(path: str) -> int:
    """Return the bytes of a file or of all files below a folder."""
    total = 0
    for folder, _folders, files in os.walk(path):
        for name in files:
            with contextlib.suppress(OSError):
                total += os.lstat(os.path.join(folder, name)).st_size
    with contextlib.suppress(OSError):
        total += os.lstat(path).st_size if not os.path.isdir(path) else 0
    return total


def taken(database: Database, age_s: int) -> tuple[int, int]:
    """Return how many ended runs a prune would shrink, and by how many bytes."""
    found = [_look(State(r.state_dir, database, r)) for r in ended_runs(database, age_s)]
    sizes = [one.size for one in found if one.removed]
    return len(sizes), sum(sizes)
