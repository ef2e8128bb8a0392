"""The locks on the scratch worktree: while a verification runs, nothing else may change it.

Nor may a command of the assistant while something of ours works there.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from typing import TYPE_CHECKING

from developer.verify.canary import restore_files
from developer.verify.job import TEMPORARY_FOLDER, read_note, verify_file
from shared.git.files import remove_tree
from shared.git.repository import repository_at
from shared.git.scratch import clear
from shared.git.worktree import remove_worktree
from shared.place.turns import Alone
from shared.resources import CANARY, command
from state.errors import Refused
from state.files import unusable

if TYPE_CHECKING:
    from collections.abc import Iterator

# Tells a worker which of its descriptors is the lock that was taken for it.
VARIABLE = "PLANNER_VERIFY_LOCK"
TAKE_S, _POLL_S = 2.0, 0.01


@contextlib.contextmanager
def vacancy(state_dir: str) -> Iterator[int | None]:
    """Hold the worktree's lock, yield its file descriptor; yield None if a verification holds it.

    The kernel frees the lock when the last process with the descriptor has ended.
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
    """Restore broken files, then keep verifications from starting while the worktree is in use.

    Gives the paths at which a command had written over a broken file. Refused (`locked`) while a
    verification runs: the worktree then may hold broken files; and while a command of the
    assistant runs that may write there. Until the end of the block none begins.
    """
    with Alone(state_dir), vacancy(state_dir) as held:
        if held is None:
            raise Refused(
                "locked",
                "worktree",
                "`plan verify` is using the worktree, and breaks files there on purpose",
                "wait until `plan verify` has ended",
                command("plan", "verify", state_dir=state_dir),
            )
        yield recover(state_dir)


def recover(state_dir: str) -> list[str]:
    """Clean up after a killed verification; return broken files that commands had overwritten."""
    displaced = restore_files(verify_file(state_dir, CANARY))
    clear(os.path.join(state_dir, "verify"))
    remove_tree(verify_file(state_dir, TEMPORARY_FOLDER))
    base = verify_file(state_dir, "base")
    if os.path.lexists(base):
        repository = read_note(verify_file(state_dir, "job.json")).get("repository")
        if repository:
            remove_worktree(repository_at(repository), base)
        else:  # set aside as damaged; git forgets a worktree that is gone
            remove_tree(base)
    return displaced


def adopt_lock(state_dir: str) -> int | None:
    """Return the worktree lock's file descriptor, inherited or new; None if another has it.

    A new one is waited for a moment: who has started this process looks whether it is free.
    """
    given = os.environ.pop(VARIABLE, "")
    descriptor = _open(state_dir)
    if given.isdigit() and _same_file(int(given), descriptor):
        os.close(descriptor)
        os.set_inheritable(int(given), False)  # noqa: FBT003 – it takes no keyword
        return int(given)
    deadline = time.monotonic() + TAKE_S
    while time.monotonic() < deadline:
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return descriptor
        time.sleep(_POLL_S)
    os.close(descriptor)
    return None


def _open(state_dir: str) -> int:
    path = verify_file(state_dir, "lock")
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        raise unusable(path, error) from None


def _same_file(given: int, ours: int) -> bool:
    try:
        return os.path.samestat(os.fstat(given), os.fstat(ours))
    except OSError:
        return False
