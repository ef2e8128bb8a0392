"""Runs one project command in its own process session; ends every process that it started."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING

from shared.git.command import project_environment
from shared.guard.lexer import read_roughly
from shared.sandbox import wrap

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

TAIL_CHARS = 3_000
GRACE_S = 5.0
POLL_S = 0.1
OUT_OF_TIME = 124

# What clients set so that a model can read what their commands print. It changes what programs
# print and how tests end; whoever wants one for a command names it there.
FOR_MODELS = (
    "CLICOLOR", "CLICOLOR_FORCE", "COLUMNS", "FORCE_COLOR", "GH_PAGER", "LESS", "LINES", "MANPAGER",
    "NO_COLOR", "PAGER", "PIP_PROGRESS_BAR", "PYTHONUNBUFFERED", "PY_COLORS", "TQDM_DISABLE",
)  # fmt: skip
# How far tests have come, as pytest and unittest print it; the summary says how they ended.
_PROGRESS = re.compile(
    r"^(?:\S+\.py )?[.sxXFE]*\.[.sxXFE]*(?: +\[ *\d+%\])?(?:\n|\Z)", re.MULTILINE
)

# Waits for the end of its input, which comes when the planner's process has ended in any way.
_WATCH = 'read -r _; kill -s KILL -- "-$1"'
# Not every `sh` can do it. Any shell gives 0 for `false | true` else.
_WITH_PIPES = (
    'for shell in sh bash; do "$shell" -o pipefail -c : 2>/dev/null '
    '&& exec "$shell" -o pipefail -c "$0"; done; exec sh -c "$0"'
)


class Stopped(Exception):  # noqa: N818 – a person asked for this
    """Raised when a verification is cancelled, after every process it had started has ended."""


@dataclass(frozen=True)
class Ended:
    """How a project command ended."""

    command: str
    # The exit code, 124 after a timeout.
    code: int
    seconds: float
    log: str
    out_of_time: bool = False
    # Files of the repository that it, or a command before it, wrote in vain.
    lost: tuple[str, ...] = ()

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
    """Runs project commands in one folder, each with a time limit."""

    folder: str
    # The private TMPDIR: made for each command, removed after it.
    temporary: str
    time_limit_s: float
    # Commands run until it returns true. The default says never: `bool()` is False.
    stopped: Callable[[], bool] = bool
    # If it names paths, writes elsewhere are denied if the kernel can do that.
    writable: tuple[str, ...] = ()

    def run(self, command: str, log: str) -> Ended:
        """Run `command` with `sh -c`, its output in the file `log`; raise Stopped if cancelled."""
        started_at = time.monotonic()
        words = ["sh", "-c", command]
        words = wrap(self.writable, words) if self.writable else words
        with private_folder(self.temporary), open(log, "wb") as output:
            env = environment(self.folder, self.temporary)
            code = run_group(words, self.folder, env, output, self._goes_on(started_at))
        seconds = time.monotonic() - started_at
        return Ended(command, OUT_OF_TIME if code is None else code, seconds, log, code is None)

    def _goes_on(self, started_at: float) -> Callable[[], bool]:
        def goes_on() -> bool:
            if self.stopped():
                raise Stopped
            return time.monotonic() - started_at < self.time_limit_s

        return goes_on


def run_group(
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


def failing_pipes(command: str) -> str:
    """Return a shell text that runs `command` so that a pipeline fails with any command in it."""
    return shlex.join(["exec", "sh", "-c", _WITH_PIPES, command])


def hides_failure(command: str, *, pipes: bool) -> bool:
    """Return whether a shell command may succeed though a part of it fails: `a; b`, `a || b`.

    With `pipes` also `a | b`. What stands in quotes is no part.
    """
    text = command.rstrip("; \n\t")
    if text.lstrip().startswith("set -e"):
        return False
    joiners = {one.joiner for one in read_roughly(text, {})} - {"", "&&"}
    return text.endswith("&") or bool(joiners - (set() if pipes else {"|"}))


def log_name(number: int, stage: str, command: str) -> str:
    """Return the name of the file for a command's output."""
    words = re.sub(r"[^A-Za-z0-9]+", "-", command).strip("-")[:40] or "command"
    return f"{number}-{stage}-{words}.log"


def temporary_variables(folder: str) -> dict[str, str]:
    """Return the environment variables that name the folder for temporary files."""
    return {"TMPDIR": folder, "TMP": folder, "TEMP": folder}


def environment(folder: str, temporary: str) -> dict[str, str]:
    """Return the environment variables for a project command that runs in `folder`.

    They are those of the user's own shell: what a client sets for its model is left out.
    """
    given = {k: v for k, v in project_environment(folder).items() if k not in FOR_MODELS}
    return given | temporary_variables(temporary) | {"PWD": folder}


def read_tail(log: str) -> str:
    """Return the end of a log file as text without terminal colours; invalid bytes become `�`."""
    with open(log, "rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - 6 * TAIL_CHARS))
        text = file.read().decode("utf-8", "replace")
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)
    return plain.replace("\r\n", "\n").strip()[-TAIL_CHARS:]


def without_progress(text: str) -> str:
    """Return an output without the lines that only show how far tests have come."""
    return _PROGRESS.sub("", text).strip("\n")


@contextlib.contextmanager
def private_folder(path: str) -> Iterator[None]:
    """Make an empty folder for the `with` block, which only this user can enter."""
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
