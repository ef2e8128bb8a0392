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


class Place(NamedTuple):
    """Where a fingerprint lies: its repository and folder, and our own folders inside that tree."""

    repository: str
    folder: str
    aside: tuple[str, ...] = ()


def place_of(state: State) -> Place:
    """Return where the fingerprint of a run lies."""
    return place_in(state.state_dir, state.run.repository)


def place_in(state_dir: str, repository: str) -> Place:
    """Return where the fingerprint lies that a state directory keeps."""
    inside = os.path.relpath(os.path.realpath(state_dir), os.path.realpath(repository))
    aside = () if inside.startswith(os.pardir) else (inside,)
    return Place(repository, resources.fingerprint_path(state_dir), aside)


def place_of_light(planner: str, agent: str) -> Place:
    """Return where the fingerprint lies of an agent that plans without a run.

    `planner` is our folder in its repository.
    """
    name = sha256(agent.encode("utf-8", "surrogateescape")).hexdigest()[:16]
    return Place(os.path.dirname(planner), os.path.join(planner, "light", name))


def is_watched(place: Place) -> bool:
    """Return whether the folder is a git repository; no other folder can be compared."""
    return os.path.lexists(os.path.join(place.repository, ".git"))


def take(place: Place) -> None:
    """Take a new fingerprint in place of the old one."""
    fingerprint.take(repository_at(place.repository), place.folder, place.aside)


def differences(place: Place) -> list[Difference]:
    """Return how the tree differs from its fingerprint, which must exist."""
    return fingerprint.compare(repository_at(place.repository), place.folder, place.aside)


def check(place: Place, way_out: str) -> None:
    """Refuse to go on if the tree differs from its fingerprint; a person may run `way_out`."""
    text = problem_of(place)
    if text:
        allowed = (
            f"the tree as it was; or a person looks at the changes and accepts them: {way_out}"
        )
        raise Refused("refused", place.repository, text, allowed)


def problem_of(place: Place) -> str:
    """Return in words how the tree differs from its fingerprint, '' if it does not."""
    if not fingerprint.is_taken(place.folder):
        return "there is no record of your tree from when planning started"
    found = differences(place)
    return f"changed since planning started: {describe(found)}" if found else ""


def check_run(state: State) -> None:
    """Refuse to go on with a run if the user's tree differs from its fingerprint."""
    check(place_of(state), state.command("mode", "rebase"))


def absorb(state: State, paths: Iterable[str]) -> None:
    """Accept what this run has written itself in the fingerprints of all plans in the making."""
    written, database = list(paths), state.database
    places = [
        place_in(run.state_dir, run.repository)
        for run in database.runs("ACTIVE", "PAUSED")
        if run.repository == state.run.repository and run.stage in READ_ONLY
    ]
    places += [
        place_of_light(os.path.dirname(database.path), row.agent_name)
        for row in database.planning_live()
        if row.run_id is None and row.phase in READ_ONLY
    ]
    for place in places:
        if fingerprint.is_taken(place.folder):
            repository = repository_at(place.repository)
            fingerprint.absorb(repository, place.folder, written, place.aside)


@contextlib.contextmanager
def own_writes(place: Place) -> Iterator[None]:
    """Accept what is written inside the block, unless something had changed before."""
    settled = not problem_of(place)
    yield
    if settled:
        take(place)


def describe(found: Iterable[Difference]) -> str:
    """Return paths with how they changed; a long list is cut, bytes that are not text escaped."""
    rows = [f"{shown(one.path)} ({one.how})" for one in found]
    return ", ".join(first_of(rows, SHOWN))


def shown(path: str) -> str:
    """Return a path as text: bytes that are not UTF-8 are escaped."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")
