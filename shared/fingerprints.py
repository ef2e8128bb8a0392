"""The user's tree as it was when planning began: compared at gates, accepted by a person (70).

Hosts call our hooks and go on when those fail, so what changed while nobody may write is noticed
here, before a gate, a freeze or an approval.
"""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING, NamedTuple

from shared import resources
from shared.git import fingerprint
from shared.git.repository import find_repository
from state.errors import Refused
from state.mode import READ_ONLY

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


def take(place: Place) -> None:
    """Take the fingerprint anew."""
    fingerprint.take(find_repository(place.repository), place.folder, place.aside)


def differences(place: Place) -> list[Difference]:
    """Return what is not as it was; a fingerprint must have been taken."""
    return fingerprint.compare(find_repository(place.repository), place.folder, place.aside)


def changed(state: State) -> list[str]:
    """Return the paths of the user's repository that are not as they were when planning began."""
    return [found.path for found in differences(place_of(state))]


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
    written = list(paths)
    for run in state.database.runs("ACTIVE", "PAUSED"):
        if run.repository != state.run.repository or run.stage not in READ_ONLY:
            continue
        place = place_in(run.state_dir, run.repository)
        if fingerprint.is_taken(place.folder):
            repository = find_repository(place.repository)
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
    more = f" and {len(rows) - SHOWN} more" if len(rows) > SHOWN else ""
    return ", ".join(rows[:SHOWN]) + more


def shown(path: str) -> str:
    """Return a path as text: bytes that are no UTF-8 are escaped."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")
