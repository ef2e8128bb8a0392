"""Runs one command of the project in a session of its own and ends all that it started."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shared.git.command import project_environment
from shared.sandbox import wrap

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

TAIL_CHARS = 3_000
GRACE_S = 5.0
POLL_S = 0.1
OUT_OF_TIME = 124

# Waits for the end of its input, which comes when the planner's process is gone however it went.
_WATCH = 'read -r _; kill -s KILL -- "-$1"'


class Stopped(Exception):  # noqa: N818 – a person asked for it
    """The work was cancelled; every process that it had started has ended."""


@dataclass(frozen=True)
class Ended:
    """How a command ended; `code` is 124 when the time limit ended it."""

    command: str
    code: int
    seconds: float
    log: str
    out_of_time: bool = False

    @property
    def passed(self) -> bool:
        """Whether it counts as a success."""
        return self.code == 0

    def tail(self) -> str:
        """Return the last 3,000 characters of the output, and the time limit when that ended it."""
        text = read_tail(self.log)
        if self.out_of_time:
            text += f"\n[ended by the time limit after {self.seconds:.0f} s]"
        return text[-TAIL_CHARS:]


@dataclass(frozen=True)
class Runner:
    """Where commands run and under what limits; `stopped` is asked again and again.

    `temporary` is the private TMPDIR: made for each command, removed after it. Where `writable`
    names paths, writes elsewhere are denied if the kernel can do that. By default nobody stops
    it: `bool()` is False.
    """

    folder: str
    temporary: str
    time_limit_s: float
    stopped: Callable[[], bool] = bool
    writable: tuple[str, ...] = ()

    def run(self, command: str, log: str) -> Ended:
        """Run `command` by `sh -c`, its output in the file `log`; raises Stopped."""
        begun = time.monotonic()
        words = ["sh", "-c", command]
        with _private_folder(self.temporary), open(log, "wb") as output:
            process = subprocess.Popen(
                wrap(self.writable, words) if self.writable else words,
                cwd=self.folder,
                env=environment(self.folder, self.temporary),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            try:
                with _ends_with_us(process):
                    in_time = self._wait(process, begun)
            finally:
                if process.returncode is None:
                    _end_group(process)
        seconds = time.monotonic() - begun
        code = process.returncode if in_time else OUT_OF_TIME
        return Ended(command, code, seconds, log, out_of_time=not in_time)

    def _wait(self, process: subprocess.Popen[bytes], begun: float) -> bool:
        """Return whether the process ended within its time; its group is gone in any case."""
        try:
            while time.monotonic() - begun < self.time_limit_s:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(POLL_S)
                    return True
                if self.stopped():
                    raise Stopped
            return False
        finally:
            _end_group(process)


def environment(folder: str, temporary: str) -> dict[str, str]:
    """Return the user's environment for a command that runs in `folder`."""
    kept = project_environment(folder)
    return kept | {"TMPDIR": temporary, "TMP": temporary, "TEMP": temporary, "PWD": folder}


def read_tail(log: str) -> str:
    """Return the end of a log as text without terminal colours; bytes that are none are `�`."""
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
    """Have the process's group killed when our own process goes away without doing so."""
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
            # Ended before its input is, else it would kill a group that may be somebody else's.
            watch.kill()
            watch.wait()


def _end_group(process: subprocess.Popen[bytes]) -> None:
    """End the process and all that it left behind: asked first, killed after the grace."""
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
