"""The user's tree as it was when planning began: compared at gates, accepted by a person (70).

Hosts call our hooks and go on when those fail, so what changed while nobody may write is noticed
here, before a gate, a freeze or an approval.
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
    """A fingerprint: of which repository, in which folder, what of ours lies in the tree."""

    repository: str
    folder: str
    aside: tuple[str, ...] = ()


def place_of(state: State) -> Place:
    """Return the place of a run's fingerprint."""
    return place_in(state.state_dir, state.run.repository)


def place_in(state_dir: str, repository: str) -> Place:
    """Return the place of the fingerprint that is kept in a state directory."""
    inside = os.path.relpath(os.path.realpath(state_dir), os.path.realpath(repository))
    aside = () if inside.startswith(os.pardir) else (inside,)
    return Place(repository, resources.fingerprint_path(state_dir), aside)


def place_of_light(planner: str, agent: str) -> Place:
    """Return the place for an agent that plans without a run; `planner` is our folder there."""
    name = sha256(agent.encode("utf-8", "surrogateescape")).hexdigest()[:16]
    return Place(os.path.dirname(planner), os.path.join(planner, "light", name))


def is_watched(place: Place) -> bool:
    """Return whether the folder is a repository of git: elsewhere nothing can be compared."""
    return os.path.lexists(os.path.join(place.repository, ".git"))


def take(place: Place) -> None:
    """Take the fingerprint anew."""
    fingerprint.take(repository_at(place.repository), place.folder, place.aside)


def differences(place: Place) -> list[Difference]:
    """Return what is not as it was; a fingerprint must have been taken."""
    return fingerprint.compare(repository_at(place.repository), place.folder, place.aside)


def check(place: Place, way_out: str) -> None:
    """Refuse to go on where the tree is not as it was; `way_out` is what a person may run."""
    text = problem_of(place)
    if text:
        allowed = f"the tree as it was; or a person, who has looked at it, accepts it: {way_out}"
        raise Refused("refused", place.repository, text, allowed)


def problem_of(place: Place) -> str:
    """Return in words what is not as it was, empty where nothing is."""
    if not fingerprint.is_taken(place.folder):
        return "nothing says what your tree was when planning began"
    found = differences(place)
    return f"changed since planning began: {describe(found)}" if found else ""


def check_run(state: State) -> None:
    """Refuse to go on with a run while its user's tree is not as it was."""
    check(place_of(state), state.command("mode", "rebase"))


def absorb(state: State, paths: Iterable[str]) -> None:
    """Let what this run has written itself pass in every plan of the repository being made."""
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
    """Let pass what is written inside, unless something had changed before."""
    settled = not problem_of(place)
    yield
    if settled:
        take(place)


def describe(found: Iterable[Difference]) -> str:
    """Return paths and what became of them; many are cut, bytes that are no text are escaped."""
    rows = [f"{shown(one.path)} ({one.how})" for one in found]
    return ", ".join(first_of(rows, SHOWN))


def shown(path: str) -> str:
    """Return a path as text: bytes that are no UTF-8 are escaped."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")
