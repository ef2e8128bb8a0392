"""Make the folders of a repository and its runs; remove what a refused start has made (PP-5)."""

from __future__ import annotations

import contextlib
import fcntl
import os
from typing import TYPE_CHECKING, NamedTuple

from shared import resources
from shared.git.files import remove_tree
from shared.git.worktree import remove_worktree
from shared.run import check_no_links
from state import files
from state.errors import Refused
from state.files import refuse_linked_database, sweep_beside, write_atomic

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shared.git.repository import Repository
    from shared.run import State


def make_planner_folder(root: str) -> str:
    """Make the planner's folder in a repository, hidden from git, and return it.

    Refused before anything is made where a link or a file stands in the place of one of ours.
    """
    planner = os.path.join(root, resources.PLANNER_FOLDER)
    # A repository may hold such links; what they lead to is not ours.
    for path in (planner, *(os.path.join(planner, name) for name in ("answers", "runs"))):
        if os.path.lexists(path) and (os.path.islink(path) or not os.path.isdir(path)):
            text = "is not a folder, but stands where the planner keeps its own"
            allowed = "move it away, then run the same command again"
            raise Refused("refused", path, text, allowed)
    for name in (resources.DATABASE, resources.MEMORY):
        refuse_linked_database(os.path.join(planner, name))
    make_folder(os.path.join(planner, "answers"))
    ignore = os.path.join(planner, ".gitignore")
    sweep_beside(ignore)
    write_atomic(ignore, b"*\n")
    return planner


def make_folder(path: str) -> None:
    """Make one of the planner's folders, with its parent folders."""
    try:
        os.makedirs(path, exist_ok=True)
    except OSError as error:
        raise files.unusable(path, error) from None


@contextlib.contextmanager
def only_here(root: str) -> Iterator[None]:
    """Let one start after the other run in a repository, so that the second finds the first's run.

    Its folder is locked, so nothing is written. Where a file system cannot, starts run at once.
    """
    descriptor = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with contextlib.suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def check_own(folder: str) -> None:
    """Raise Refused for a state directory of a new run that holds links or what is not ours."""
    check_no_links(folder)
    held = set(os.listdir(folder)) if os.path.isdir(folder) else set()
    if held and held.isdisjoint({"answers", "lock", resources.DATABASE}):
        text = f"holds files that are not the planner's, such as {min(held)}"
        raise Refused("refused", folder, text, "name a folder that is new or empty")


class Before(NamedTuple):
    """What was there before a start: the folder to make first, and what the state dir held."""

    missing: str
    held: frozenset[str]


def look(folder: str) -> Before:
    """Return what there is of a state directory before a start makes the rest of it."""
    if os.path.isdir(folder):
        return Before("", frozenset(os.listdir(folder)))
    missing = folder
    while not os.path.lexists(os.path.dirname(missing)):
        missing = os.path.dirname(missing)
    return Before(missing, frozenset())


@contextlib.contextmanager
def taken_back_if_refused(
    repository: Repository, state: State, before: Before | None
) -> Iterator[None]:
    """Remove what a start has made if its preparations are refused; `before` as for _take_back."""
    try:
        yield
    except Refused:
        _take_back(repository, state, before)
        raise


def _take_back(repository: Repository, state: State, before: Before | None) -> None:
    """Remove what a refused start made, or only its preparations if an earlier call made the run.

    A run is prepared before anybody can work in it, so no work is lost. `.planner` itself stays,
    since another run may start in it at the same time.
    """
    folder = state.state_dir
    with contextlib.suppress(OSError, Refused):
        remove_worktree(repository, state.worktree)
    for path in (resources.plan_path(folder), resources.run_config_path(folder)):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
    remove_tree(resources.fingerprint_path(folder))
    if before is None:
        return
    with state.database as database:
        database.remove_run(state.run.run_id)
    if os.path.dirname(state.database.path) == folder:
        state.database.close()
    for name in set(os.listdir(folder)) - before.held:
        remove_tree(os.path.join(folder, name))
    shared = resources.PLANNER_FOLDER in before.missing.split(os.sep)
    if before.missing:
        remove_tree(folder if shared else before.missing)
