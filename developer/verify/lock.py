"""Who may touch the scratch worktree: one verification at a time, and nobody else meanwhile."""

from __future__ import annotations

import contextlib
import fcntl
import os
from typing import TYPE_CHECKING

from developer.verify.canary import is_broken, mend_files
from developer.verify.job import place, read_note
from shared.git.repository import repository_at
from shared.git.worktree import remove_worktree
from shared.resources import command
from state.errors import Refused
from state.files import unusable

if TYPE_CHECKING:
    from collections.abc import Iterator

# Tells a worker which of its descriptors is the lock that its starter took for it.
VARIABLE = "PLANNER_VERIFY_LOCK"


@contextlib.contextmanager
def vacancy(state_dir: str) -> Iterator[int | None]:
    """Hold the lock as a descriptor, or give None at once while a worker holds it.

    The kernel frees it when the last process that has the descriptor is gone.
    """
    descriptor = _open(state_dir)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield None
        else:
            yield descriptor
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def undisturbed(state_dir: str) -> Iterator[list[str]]:
    """Keep verify from starting while the worktree is read or changed, all files mended first.

    Gives the paths at which a command had written over a broken file. Refused (`locked`) while a
    verification runs: the worktree then may hold broken files.
    """
    with vacancy(state_dir) as held:
        if held is None:
            raise Refused(
                "locked",
                "worktree",
                "verify runs on it in the background, with broken files part of the time",
                "wait until it has ended",
                command("plan", "verify", state_dir=state_dir),
            )
        yield recover(state_dir)


def recover(state_dir: str) -> list[str]:
    """Undo what a killed verification left; the caller holds the lock. Returns as `undisturbed`."""
    displaced = mend_files(place(state_dir, "canary"))
    base = place(state_dir, "base")
    if os.path.lexists(base):
        job = read_note(place(state_dir, "job.json"))
        remove_worktree(repository_at(job["repository"]), base)
    return displaced


def restore_canary(state_dir: str) -> list[str]:
    """Mend what a killed verification left broken; returns as `undisturbed` gives.

    Does nothing where nothing is broken. Refused (`locked`) while a living one needs it so.
    """
    if not is_broken(os.path.join(state_dir, "verify", "canary")):
        return []
    with undisturbed(state_dir) as displaced:
        return displaced


def adopt_lock(state_dir: str) -> int | None:
    """Return the lock as a worker gets it: from its starter or by itself; None if it is taken."""
    given = os.environ.pop(VARIABLE, "")
    descriptor = _open(state_dir)
    if given.isdigit() and _same_file(int(given), descriptor):
        os.close(descriptor)
        os.set_inheritable(int(given), False)  # noqa: FBT003 – it takes no keyword
        return int(given)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    return descriptor


def _open(state_dir: str) -> int:
    path = place(state_dir, "lock")
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        raise unusable(path, error) from None


def _same_file(given: int, ours: int) -> bool:
    try:
        return os.path.samestat(os.fstat(given), os.fstat(ours))
    except OSError:
        return False
