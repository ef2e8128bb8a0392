"""One thing at a time: a command whose writes last, or what acts where it may write (PP-10).

A command could put a link where a file tool or we are about to write. So one file of the state
directory is a lock: each running command holds the part with its number and says there what it is,
and who needs a folder to stay as it is holds all of them. A file tool is no process of ours that
could hold anything: the hook that lets it pass leaves a lease, and no command begins until that is
given back or over. The leases stand in part 0, which is held to change them.
"""

from __future__ import annotations

import fcntl
import os
import struct
import sys
import time

from shared.mode.lineage import identity_of, stat_of
from shared.resources import command, turns_path
from state.errors import Refused
from state.files import unusable

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

_PART = 4096
_MOST = 64  # commands at a time
_SHOWN = 200  # characters of a command or path
_PAUSE_S = 0.01
# How long a command waits, and a file tool; a lease of a client that tells when its tool has ended,
# and of another.
WAIT_S, _TOOL_WAIT_S = 10.0, 0.5
TOLD_S, UNTOLD_S = 600.0, 10.0
# Where there is no place nothing runs in it, and these locks may be missing.
IS_HERE = hasattr(fcntl, "F_OFD_SETLK")
_FORM = "hhqqi0q"  # struct flock, whose locks belong to the open file and not to the process
_TO_THE_END = 0  # as a number of parts


class Running:
    """A command that runs, as it stands in its part of the lock."""

    __slots__ = ("lead", "number", "pid", "text")

    def __init__(self, number: int, part: bytes) -> None:
        pid, lead, text, *_ = (*part.rstrip(b"\0").split(b"\n", 2), b"", b"", b"")
        # 0 is who holds the parts of all commands.
        self.number = number
        # Of `planner ro`, and the identity of the first process in the place.
        self.pid = int(pid) if pid.isdigit() else 0
        self.lead = lead.decode()
        self.text = text.decode("utf-8", "replace")

    @property
    def is_ending(self) -> bool:
        """Return whether it still has processes though nothing holds its part any more."""
        pid, _, began = self.lead.partition(":")
        found = stat_of(int(pid)) if pid.isdigit() else None
        return found is not None and found[2] == began

    def refusal(self) -> Refused:
        """Return why nothing else can be done in the worktree, and how it can."""
        if not self.number:
            text = "a planner command is working in the worktree"
            return Refused("locked", "worktree", text, "wait until it has ended, then try again")
        text = f"command {self.number} is still running, and what it writes lasts: `{self.text}`"
        end = command("ro", "--end", str(self.number))
        return Refused("locked", "worktree", text, f"wait until it has ended, or end it: {end}")


class Turn:
    """The part of the lock that a command of the place holds while it runs, for a `with`.

    Entering waits while a file tool may be writing, or somebody holds all parts; Refused
    (`locked`) where that takes too long. Without a state directory nothing lasts, so there is
    nothing to wait for.
    """

    def __init__(self, state_dir: str | None, text: str, wait_s: float = WAIT_S) -> None:
        self._path = turns_path(state_dir) if state_dir and os.path.isdir(state_dir) else ""
        self._text = _one_line(text)
        self._wait_s = wait_s
        self._lock = -1
        self._pid = os.getpid()
        self.number = 0

    def __enter__(self) -> Self:
        """Wait for the turn and write down what runs."""
        if not self._path:
            return self
        self._lock = _open(self._path)
        try:
            _wait(self._take, self._wait_s)
        except BaseException:
            os.close(self._lock)
            raise
        self._write(self._lock, "")
        return self

    def __exit__(self, *ended: object) -> None:
        if self._path:
            os.pwrite(self._lock, b"\0" * _PART, self.number * _PART)
            os.close(self._lock)

    def begin(self, lead: int) -> None:
        """Note the first process of the place: what runs has ended when that has.

        Ours may be killed before it. The caller is another process and has not our open files.
        """
        found = stat_of(lead)
        if self._path and found is not None:
            lock = _open(self._path)
            self._write(lock, identity_of(lead, found[2]))
            os.close(lock)

    def _write(self, lock: int, lead: str) -> None:
        part = f"{self._pid}\n{lead}\n{self._text}".encode("utf-8", "replace")
        os.pwrite(lock, part.ljust(_PART, b"\0"), self.number * _PART)

    def _take(self) -> Refused | None:
        """Take the lowest free number; return why that cannot be now, else None."""
        # Without the lock first: taking it for a moment would be in a hook's way.
        tool = _tool_at_work(self._lock)
        if tool is not None:
            return tool
        for number in range(1, _MOST + 1):
            if not _try(self._lock, number, 1):
                if _holder(self._lock, number, 1) == 0:
                    return Running(0, b"").refusal()
                continue
            if _read(self._lock, number).is_ending:
                _free(self._lock)
                continue
            tool = _tool_at_work(self._lock)
            if tool is None:
                self.number = number
                return None
            _free(self._lock)
            return tool
        text = f"{_MOST} commands are running"
        return Refused("locked", "ro", text, "wait until one of them has ended")


class Alone:
    """The parts of all commands, for a `with`: none runs or begins whose writes last.

    Refused (`locked`), with the number of a command, where one still runs after `wait_s`.
    """

    def __init__(self, state_dir: str, wait_s: float = WAIT_S) -> None:
        self._path = turns_path(state_dir)
        self._wait_s = wait_s
        self._lock = -1

    def __enter__(self) -> Self:
        """Wait until nothing runs."""
        if not IS_HERE:
            return self
        self._lock = _open(self._path)
        try:
            _wait(lambda: _take_from(self._lock, 1), self._wait_s)
        except BaseException:
            os.close(self._lock)
            raise
        return self

    def __exit__(self, *ended: object) -> None:
        if IS_HERE:
            os.close(self._lock)


def wait_for_file_tools(state_dir: str) -> None:
    """Wait until no file tool is writing that was let pass before the caller was alone."""
    if not IS_HERE:
        return
    lock = _open(turns_path(state_dir))
    try:
        _wait(lambda: _tool_at_work(lock), WAIT_S)
    finally:
        os.close(lock)


def lend(
    state_dir: str, owner: str, path: str, lasts_s: float, check: Callable[[], object]
) -> None:
    """Keep commands from beginning while a file tool writes `path`; Refused while one runs.

    `check` looks whether it may be written, once nothing can change any more where it leads; what
    it raises leaves no lease. `owner` names the agent that calls the tool. Of one whose client
    tells when a tool has ended it is the only lease: it makes one such call at a time.
    """
    if not IS_HERE or not os.path.isdir(state_dir):
        return  # no command runs whose writes last
    lock = _open(turns_path(state_dir))
    try:
        _wait(lambda: _take_from(lock, 0), _TOOL_WAIT_S)
        check()
        now = time.monotonic()
        leases = [one for one in _leases(lock) if lasts_s < TOLD_S or one[1] != owner]
        _write_leases(lock, [*leases, (now + lasts_s, owner, _one_line(path))])
    finally:
        os.close(lock)


def give_back(state_dir: str, owner: str) -> None:
    """End the lease of an agent whose file tool has ended."""
    path = turns_path(state_dir)
    if not os.path.exists(path):
        return
    lock = _open(path)
    try:
        if any(one[1] == owner for one in _leases(lock)):
            busy = Running(0, b"").refusal()
            _wait(lambda: None if _try(lock, 0, 1) else busy, _TOOL_WAIT_S)
            _write_leases(lock, [one for one in _leases(lock) if one[1] != owner])
    finally:
        os.close(lock)


def running(state_dir: str) -> list[Running]:
    """Return the commands that run now and whose writes last, by their numbers."""
    path = turns_path(state_dir)
    if not IS_HERE or not os.path.exists(path):
        return []
    lock = _open(path)
    held = [n for n in range(1, _MOST + 1) if _holder(lock, n, 1) == n]
    found = [_read(lock, number) for number in held]
    os.close(lock)
    return found


def _open(path: str) -> int:
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        raise unusable(path, error) from None


def _wait(attempt: Callable[[], Refused | None], wait_s: float) -> None:
    """Try until it succeeds; raise what it returned last when the time is over."""
    began, told = time.monotonic(), False
    while (refusal := attempt()) is not None:
        waited = time.monotonic() - began
        if waited >= wait_s:
            raise refusal
        if waited >= 1 and not told:
            told = True
            sys.stderr.write(f"planner: waiting: {refusal.problems[0].problem}\n")
        time.sleep(_PAUSE_S)


def _take_from(lock: int, first: int) -> Refused | None:
    """Take this part and all after it; return what runs if that cannot be now, else None."""
    if not _try(lock, first, _TO_THE_END):
        return _read(lock, _holder(lock, first, _TO_THE_END)).refusal()
    # One whose `planner ro` was killed is ended by the kernel, a moment later.
    for number in range(1, os.fstat(lock).st_size // _PART):
        found = _read(lock, number)
        if found.is_ending:
            _free(lock)
            return found.refusal()
    return None


def _try(lock: int, first: int, parts: int) -> bool:
    """Take these parts if nobody else holds one of them; return whether that worked."""
    try:
        fcntl.fcntl(lock, fcntl.F_OFD_SETLK, _flock(fcntl.F_WRLCK, first, parts))
    except (BlockingIOError, PermissionError):
        return False
    return True


def _free(lock: int) -> None:
    fcntl.fcntl(lock, fcntl.F_OFD_SETLK, _flock(fcntl.F_UNLCK, 0, _TO_THE_END))


def _holder(lock: int, first: int, parts: int) -> int:
    """Return the number of a command that holds one of these parts, 0 where there is none."""
    asked = _flock(fcntl.F_WRLCK, first, parts)
    kind, _, start, length, *_ = struct.unpack(_FORM, fcntl.fcntl(lock, fcntl.F_OFD_GETLK, asked))
    # Who is alone holds its parts up to the end, so that there is no length.
    return int(start) // _PART if kind != fcntl.F_UNLCK and length else 0


def _flock(kind: int, first: int, parts: int) -> bytes:
    return struct.pack(_FORM, kind, os.SEEK_SET, first * _PART, parts * _PART, 0)


def _read(lock: int, number: int) -> Running:
    return Running(number, os.pread(lock, _PART, number * _PART) if number else b"")


def _leases(lock: int) -> list[tuple[float, str, str]]:
    """Return until when each lease lasts, whose it is and what is written.

    One that is being written at this moment counts as one without an owner.
    """
    rows = os.pread(lock, _PART, 0).rstrip(b"\0").decode("utf-8", "replace").splitlines()
    now = time.monotonic()
    try:
        fields = [row.split(" ", 2) for row in rows]
        found = [(float(until), owner, path) for until, owner, path in fields]
    except ValueError:
        found = [(now + 1, "", "a file")]
    # One that lasts longer than any, by more than rounding, is of before the machine was started.
    return [one for one in found if 0 < one[0] - now < TOLD_S + 1]


def _write_leases(lock: int, leases: list[tuple[float, str, str]]) -> None:
    part = "".join(f"{until:.2f} {owner} {path}\n" for until, owner, path in leases).encode()
    if len(part) > _PART:
        text = "very many files are being written at once"
        raise Refused("locked", "worktree", text, "write them one after another")
    os.pwrite(lock, part.ljust(_PART, b"\0"), 0)


def _tool_at_work(lock: int) -> Refused | None:
    """Return why a command must wait for a file tool, None if none is writing."""
    leases = _leases(lock)
    if not leases:
        return None
    left_s = max(lease[0] for lease in leases) - time.monotonic()
    text = f"a file tool may be writing {leases[-1][2]}, for {left_s:.0f} s more at most"
    return Refused("locked", "worktree", text, "send the command again when it has written")


def _one_line(text: str) -> str:
    """Return the beginning of a text as one line that shows what it holds."""
    shown = " ".join(text[:_SHOWN].split())
    shown = shown if shown.isprintable() else ascii(shown)[1:-1]
    return shown[:_SHOWN] + ("…" if len(text) > _SHOWN else "")
