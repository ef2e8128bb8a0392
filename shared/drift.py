"""Find changes in the user's files since planning started, by a fingerprint taken then.

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
from shared.requirements_record import lane_of
from state.errors import Refused
from state.stages import ACTIVE, PAUSED, READ_ONLY

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from shared.git.fingerprint import Difference
    from shared.git.repository import Repository
    from shared.run import State

SHOWN = 20


class WatchedTree(NamedTuple):
    """A repository whose files are compared with a fingerprint."""

    repository: str
    # The folder with the fingerprint.
    folder: str
    # Folders that are not compared.
    aside: tuple[str, ...] = ()
    # What `repository_at` says.
    opened: dict[str, Repository] | None = None


def tree_of(state: State) -> WatchedTree:
    """Return the run's repository as a WatchedTree, to be compared with its fingerprint."""
    return tree_in(state.state_dir, state.run.repository)._replace(opened=state.opened)


def tree_in(state_dir: str, repository: str) -> WatchedTree:
    """Return `repository` as a WatchedTree whose fingerprint lies in the state directory.

    Not compared are the state directory and the planning folder of the requirements lane.
    """
    ours = [state_dir, *filter(None, [lane_of(state_dir).get("planning")])]
    inside = [os.path.relpath(os.path.realpath(p), os.path.realpath(repository)) for p in ours]
    aside = tuple(path for path in inside if not path.startswith(os.pardir))
    return WatchedTree(repository, resources.fingerprint_path(state_dir), aside)


def tree_of_light(planner: str, agent: str) -> WatchedTree:
    """Return the user's repository as a WatchedTree for an assistant that plans without a run.

    `planner` is our folder in its repository.
    """
    name = sha256(agent.encode("utf-8", "surrogateescape")).hexdigest()[:16]
    return WatchedTree(os.path.dirname(planner), os.path.join(planner, "light", name))


def is_watched(tree: WatchedTree) -> bool:
    """Return whether the tree is a git repository; changes are noticed only in one."""
    return os.path.lexists(os.path.join(tree.repository, ".git"))


def take(tree: WatchedTree) -> None:
    """Write a fingerprint of the repository's files as they are now, replacing the old one."""
    fingerprint.take(repository_at(tree.repository, tree.opened), tree.folder, tree.aside)


def differences(tree: WatchedTree) -> list[Difference] | None:
    """Return the paths that changed since the repository's fingerprint; None if it has none."""
    repository = repository_at(tree.repository, tree.opened)
    return fingerprint.compare(repository, tree.folder, tree.aside)


def check(tree: WatchedTree, way_out: str) -> None:
    """Raise Refused if files changed since the fingerprint; a person may run `way_out`."""
    text = problem_of(tree)
    if text:
        allowed = "restore the files; or a person looks at the changes and accepts them"
        raise Refused("refused", tree.repository, text, allowed, way_out)


def problem_of(tree: WatchedTree) -> str:
    """Return in words which files changed since the fingerprint was taken, '' if none did."""
    found = differences(tree)
    if found is None:
        return "there is no record of your tree from when planning started"
    return f"changed since planning started: {describe(found)}" if found else ""


def check_run(state: State) -> None:
    """Raise Refused if the user's files changed since the run's fingerprint was taken."""
    _ = state.plan_path  # refused while there is none to protect
    planning = state.run.stage in READ_ONLY
    check(tree_of(state), state.command(*(("mode", "rebase") if planning else ("plan", "revise"))))


def absorb(state: State, paths: Iterable[str]) -> None:
    """Update the fingerprints of all plans in the making for files that the run itself wrote."""
    written, database = list(paths), state.database
    trees = [
        tree_in(run.state_dir, run.repository)
        for run in database.runs(ACTIVE, PAUSED)
        if run.repository == state.run.repository and run.stage in READ_ONLY
    ]
    trees += [
        tree_of_light(os.path.dirname(database.path), row.agent_name)
        for row in database.planning_live()
        if row.run_id is None and row.phase in READ_ONLY
    ]
    for tree in trees:
        if fingerprint.is_taken(tree.folder):
            repository = repository_at(tree.repository, state.opened)
            fingerprint.absorb(repository, tree.folder, written, tree.aside)


@contextlib.contextmanager
def own_writes(tree: WatchedTree) -> Iterator[None]:
    """Renew the fingerprint after the `with` block, unless files had changed before the block."""
    settled = not problem_of(tree)
    yield
    if settled:
        take(tree)


def describe(found: Iterable[Difference]) -> str:
    """Return the changed paths, each with its kind of change, as text; a long list is cut."""
    rows = [f"{path_text(one.path)} ({one.how})" for one in found]
    return ", ".join(first_of(rows, SHOWN))


def path_text(path: str) -> str:
    """Return a path as text: bytes that are not UTF-8 are escaped."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")
