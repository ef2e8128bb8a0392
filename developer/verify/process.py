"""Runs one project command in its own process session; ends every process that it started."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING

from shared.git.command import project_environment
from shared.git.settle import Ran
from shared.sandbox import adopt_orphans, is_available, wrap

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

TAIL_CHARS = 3_000
GRACE_S = 5.0
POLL_S = 0.1
OUT_OF_TIME = 124
HOOK_LIMIT_S = 900.0
HOOK_OUTPUT_MAX_BYTES = 64_000
HOOK_LIMITS = (
    "formatters and hooks of a capture may write only in the worktree, in a private TMPDIR and "
    "where `[verify] write` of planner.toml says, so name there what else they need, for example "
    '"~/.cache/pre-commit"'
)

# Waits for the end of its input, which comes when the planner's process has ended in any way.
_WATCH = 'read -r _; kill -s KILL -- "-$1"'


class Stopped(Exception):  # noqa: N818 – a person asked for this
    """Raised when a verification is cancelled, after every process it had started has ended."""


@dataclass(frozen=True)
class Ended:
    """How a project command ended: its exit `code` (124 after a timeout), duration and log."""

    command: str
    code: int
    seconds: float
    log: str
    out_of_time: bool = False

    @property
    def passed(self) -> bool:
        """Whether the command ended with exit code 0."""
        return self.code == 0

    def tail(self) -> str:
        """Return the last 3,000 characters of the command's output, with a note after a timeout."""
        text = read_tail(self.log)
        if self.out_of_time:
            text += f"\n[ended by the time limit after {self.seconds:.0f} s]"
        return text[-TAIL_CHARS:]


@dataclass(frozen=True)
class Runner:
    """Runs project commands in `folder`, each with a time limit, and until `stopped()` is true.

    `temporary` is the private TMPDIR: made for each command, removed after it. If `writable` names
    paths, writes elsewhere are denied if the kernel can do that. The default for `stopped` says
    never: `bool()` is False.
    """

    folder: str
    temporary: str
    time_limit_s: float
    stopped: Callable[[], bool] = bool
    writable: tuple[str, ...] = ()

    def run(self, command: str, log: str) -> Ended:
        """Run `command` with `sh -c`, its output in the file `log`; raise Stopped if cancelled."""
        started_at = time.monotonic()
        words = ["sh", "-c", command]
        words = wrap(self.writable, words) if self.writable else words
        with _private_folder(self.temporary), open(log, "wb") as output:
            env = environment(self.folder, self.temporary)
            code = _run(words, self.folder, env, output, self._goes_on(started_at))
        seconds = time.monotonic() - started_at
        return Ended(command, OUT_OF_TIME if code is None else code, seconds, log, code is None)

    def _goes_on(self, started_at: float) -> Callable[[], bool]:
        def goes_on() -> bool:
            if self.stopped():
                raise Stopped
            return time.monotonic() - started_at < self.time_limit_s

        return goes_on


@dataclass(frozen=True)
class Confined:
    """Runs formatters and hooks, which no person has confirmed, with limits on where they write.

    They may write only in the folder they run in, in a private one and below `writable`, if the
    kernel can limit writes; if it can but fails to, they do not run.
    """

    writable: tuple[str, ...] = ()
    time_limit_s: float = HOOK_LIMIT_S

    def __call__(self, argv: Sequence[str], cwd: str, env: Mapping[str, str], private: str) -> Ran:
        """Run the command `argv` in `cwd`, then end every process that it started."""
        temporary = os.path.join(private, "tmp")
        deadline = time.monotonic() + self.time_limit_s
        words = wrap((cwd, private, *self.writable), list(argv), strict=True)
        # A file, not a pipe: a process left running would keep a pipe open for ever.
        with _private_folder(temporary), tempfile.TemporaryFile() as output, _no_orphans():
            surroundings = {**env, **_temporary(temporary)}
            code = _run(words, cwd, surroundings, output, lambda: time.monotonic() < deadline)
            output.seek(max(0, output.seek(0, os.SEEK_END) - HOOK_OUTPUT_MAX_BYTES))
            said = output.read().decode("utf-8", "replace")
        if code is None:
            said += f"\n[ended by the time limit after {self.time_limit_s:.0f} s]"
        limits = HOOK_LIMITS if is_available() else ""
        return Ran(OUT_OF_TIME if code is None else code, said, limits)


def _run(
    words: Sequence[str],
    folder: str,
    env: Mapping[str, str],
    output: IO[bytes],
    goes_on: Callable[[], bool],
) -> int | None:
    """Run a command, end its process group; return its code, None if `goes_on` turned false."""
    process = subprocess.Popen(
        words,
        cwd=folder,
        env=dict(env),
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        with _ends_with_us(process):
            while goes_on():
                with contextlib.suppress(subprocess.TimeoutExpired):
                    return process.wait(POLL_S)
    finally:
        _end_group(process)
    return None


def _temporary(folder: str) -> dict[str, str]:
    return {"TMPDIR": folder, "TMP": folder, "TEMP": folder}


def environment(folder: str, temporary: str) -> dict[str, str]:
    """Return the environment variables for a project command that runs in `folder`."""
    return project_environment(folder) | _temporary(temporary) | {"PWD": folder}


def read_tail(log: str) -> str:
    """Return the end of a log file as text without terminal colours; invalid bytes become `�`."""
    with open(log, "rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - 6 * TAIL_CHARS))
        text = file.read().decode("utf-8", "replace")
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)
    return plain.replace("\r\n", "\n").strip()[-TAIL_CHARS:]


@contextlib.contextmanager
def _private_folder(path: str) -> Iterator[None]:
    shutil.rmtree(path, ignore_errors=True)
    os.makedirs(path, mode=0o700)
    try:
        yield
    finally:
        shutil.rmtree(path, ignore_errors=True)


@contextlib.contextmanager
def _ends_with_us(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """Make sure that `process` and its process group are killed if this process dies first."""
    watch = subprocess.Popen(
        ["sh", "-c", _WATCH, "sh", str(process.pid)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    with watch:
        try:
            yield
        finally:
            # Killed before its input ends, else it could kill a group that is another's by now.
            watch.kill()
            watch.wait()


@contextlib.contextmanager
def _no_orphans() -> Iterator[None]:
    """On Linux, end processes that were started in the `with` block and left their group."""
    before = _children()
    adopt_orphans(True)  # noqa: FBT003 – it can only be on or off
    try:
        yield
    finally:
        # Repeated: a process becomes our child only once its parent has ended.
        while left := _children() - before:
            for pid in left:
                try:
                    os.kill(pid, signal.SIGKILL)
                    os.waitpid(pid, 0)
                except (ProcessLookupError, ChildProcessError):
                    continue
                except PermissionError:
                    before.add(pid)  # it runs as another user, such as after sudo
        adopt_orphans(False)  # noqa: FBT003


def _children() -> set[int]:
    found = set()
    for name in os.listdir("/proc") if sys.platform.startswith("linux") else []:
        with contextlib.suppress(OSError):
            if name.isdigit() and _parent(name) == os.getpid():
                found.add(int(name))
    return found


def _parent(pid: str) -> int:
    with open(f"/proc/{pid}/stat", "rb") as file:
        # The name of the program stands in brackets and may hold anything.
        return int(file.read().rpartition(b")")[2].split()[1])


def _end_group(process: subprocess.Popen[bytes]) -> None:
    """End a process and its process group: ask first, kill after GRACE_S seconds."""
    if process.poll() is None:
        _signal_group(process.pid, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(GRACE_S)
    _signal_group(process.pid, signal.SIGKILL)
    process.wait()


def _signal_group(group: int, number: int) -> None:
    # A group of zombies answers PermissionError on macOS.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)
