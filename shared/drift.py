"""Compare the user's tree with its fingerprint from when planning started.

Hosts go on when our hooks fail, so changes made while planning is read-only are noticed here:
before a gate, a freeze or an approval. Only a person may accept them.
"""

from __future__ import annotations

import contextlib
import os
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from shared import resources
from shared.builders import first_of
from shared.git import fingerprint
from shared.git.repository import repository_at
from state.errors import Refused
from state.stages import READ_ONLY

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from shared.git.fingerprint import Difference
    from shared.run import State

SHOWN = 20


class WatchedTree(NamedTuple):
    """A repository's tree, the folder with its fingerprint, and the folders that are ignored."""

    repository: str
    folder: str
    aside: tuple[str, ...] = ()


def tree_of(state: State) -> WatchedTree:
    """Return the user's tree that a run is planned on."""
    return tree_in(state.state_dir, state.run.repository)


def tree_in(state_dir: str, repository: str) -> WatchedTree:
    """Return a repository's tree with the fingerprint that a state directory keeps."""
    inside = os.path.relpath(os.path.realpath(state_dir), os.path.realpath(repository))
    aside = () if inside.startswith(os.pardir) else (inside,)
    return WatchedTree(repository, resources.fingerprint_path(state_dir), aside)


def tree_of_light(planner: str, agent: str) -> WatchedTree:
    """Return the user's tree for an assistant that plans without a run.

    `planner` is our folder in its repository.
    """
    name = sha256(agent.encode("utf-8", "surrogateescape")).hexdigest()[:16]
    return WatchedTree(os.path.dirname(planner), os.path.join(planner, "light", name))


def is_watched(tree: WatchedTree) -> bool:
    """Return whether the folder is a git repository: only there changes can be noticed."""
    return os.path.lexists(os.path.join(tree.repository, ".git"))


def take(tree: WatchedTree) -> None:
    """Record the tree as it is now in a new fingerprint, which replaces the old one."""
    fingerprint.take(repository_at(tree.repository), tree.folder, tree.aside)


def differences(tree: WatchedTree) -> list[Difference]:
    """Return how the tree differs from its fingerprint, which must exist."""
    return fingerprint.compare(repository_at(tree.repository), tree.folder, tree.aside)


def check(tree: WatchedTree, way_out: str) -> None:
    """Refuse to go on if the tree differs from its fingerprint; a person may run `way_out`."""
    text = problem_of(tree)
    if text:
        allowed = f"restore the files; or a person looks at the changes and accepts them: {way_out}"
        raise Refused("refused", tree.repository, text, allowed)


def problem_of(tree: WatchedTree) -> str:
    """Return in words how the tree differs from its fingerprint, '' if it does not."""
    if not fingerprint.is_taken(tree.folder):
        return "there is no record of your tree from when planning started"
    found = differences(tree)
    return f"changed since planning started: {describe(found)}" if found else ""


def check_run(state: State) -> None:
    """Refuse to go on with a run if the user's tree differs from its fingerprint."""
    check(tree_of(state), state.command("mode", "rebase"))


def absorb(state: State, paths: Iterable[str]) -> None:
    """Add what this run itself wrote to the fingerprints of all plans in the making."""
    written, database = list(paths), state.database
    trees = [
        tree_in(run.state_dir, run.repository)
        for run in database.runs("ACTIVE", "PAUSED")
        if run.repository == state.run.repository and run.stage in READ_ONLY
    ]
    trees += [
        tree_of_light(os.path.dirname(database.path), row.agent_name)
        for row in database.planning_live()
        if row.run_id is None and row.phase in READ_ONLY
    ]
    for tree in trees:
        if fingerprint.is_taken(tree.folder):
            repository = repository_at(tree.repository)
            fingerprint.absorb(repository, tree.folder, written, tree.aside)


@contextlib.contextmanager
def own_writes(tree: WatchedTree) -> Iterator[None]:
    """Accept all changes made inside the `with` block, unless the tree had changed before it."""
    settled = not problem_of(tree)
    yield
    if settled:
        take(tree)


def describe(found: Iterable[Difference]) -> str:
    """Return paths with how they changed; a long list is cut, bytes that are not text escaped."""
    rows = [f"{shown(one.path)} ({one.how})" for one in found]
    return ", ".join(first_of(rows, SHOWN))


def shown(path: str) -> str:
    """Return a path as text: bytes that are not UTF-8 are escaped."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")
