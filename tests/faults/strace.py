"""One fault at one system call: which calls a command makes, and the same command with one failed.

A point is the n-th call of one name in one process: our own, or one of the git processes that it
starts, told apart by the order in which they start.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

PROGRAM = shutil.which("strace")
FAULTS = ("KILL", "EIO", "ENOSPC")
CALLS = (
    "openat", "write", "pwrite64", "fsync", "fdatasync", "rename", "renameat", "renameat2",
    "unlink", "unlinkat", "rmdir", "mkdir", "mkdirat", "symlink", "symlinkat", "link", "linkat",
    "ftruncate", "truncate", "fchmod", "fchmodat", "chmod",
)  # fmt: skip

_LINE = re.compile(r"(?:\d+ +)?(\w+)\((.*)")
_PIPE = re.compile(r"\d+<pipe:")
_SHIM = """\
#!/bin/sh
number=$(($(cat "$FAULT_FOLDER/count" 2>/dev/null || echo 0) + 1))
echo $number > "$FAULT_FOLDER/count"
if [ "$FAULT_AT" = each ]; then
  exec strace -qq -y -o "$FAULT_FOLDER/git.$number" -e signal=none -e "trace=$FAULT_CALLS" \\
    {git} "$@"
elif [ "$FAULT_AT" = $number ]; then
  exec strace -qq -o /dev/null -e signal=none -e "trace=$FAULT_CALL" -e "inject=$FAULT_INJECT" \\
    {git} "$@"
fi
exec {git} "$@"
"""


class Point(NamedTuple):
    """The `number`-th call of `call` in a process: 0 is our own, then each git in its order."""

    process: int
    call: str
    number: int

    def inject(self, fault: str) -> str:
        """Return what strace is told."""
        how = "signal=KILL" if fault == "KILL" else f"error={fault}"
        return f"{self.call}:{how}:when={self.number}"


class Ended(NamedTuple):
    """How a command ended; `code` is negative for a signal."""

    code: int
    text: str
    errors: str


class Tracer:
    """Runs commands under strace; `folder` keeps what it writes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.bin = folder / "bin"
        self.bin.mkdir(parents=True)
        shim = self.bin / "git"
        shim.write_text(_SHIM.format(git=shutil.which("git")))
        shim.chmod(0o755)

    def points(self, command: Sequence[str]) -> list[Point]:
        """Run the command whole and return every point at which it changes something."""
        log = self.folder / "own"
        words = ["-qq", "-y", "-o", str(log), "-e", "signal=none"]
        words += ["-e", f"trace={','.join(CALLS)}"]
        done = self._run([*words, *command], FAULT_AT="each", FAULT_CALLS=",".join(CALLS))
        assert done.code == 0, done.text + done.errors
        count = self.folder / "count"
        gits = range(1, 1 + int(count.read_text() if count.exists() else "0"))
        found = _points(0, log.read_text(errors="replace"))
        for number in gits:
            text = (self.folder / f"git.{number}").read_text(errors="replace")
            found += _points(number, text)
        return found

    def fail(self, point: Point, fault: str, command: Sequence[str]) -> Ended:
        """Run the command with one fault."""
        inject = point.inject(fault)
        if point.process:
            values = {"FAULT_CALL": point.call, "FAULT_INJECT": inject}
            return self._run(command, traced=False, FAULT_AT=str(point.process), **values)
        words = ["-qq", "-o", os.devnull, "-e", "signal=none", "-e", f"trace={point.call}"]
        return self._run([*words, "-e", f"inject={inject}", *command])

    def _run(self, command: Sequence[str], *, traced: bool = True, **values: str) -> Ended:
        (self.folder / "count").unlink(missing_ok=True)
        path = f"{self.bin}{os.pathsep}{os.environ['PATH']}"
        surroundings = environment(PATH=path, FAULT_FOLDER=str(self.folder), **values)
        return run([PROGRAM or "strace", *command] if traced else command, surroundings)


def environment(**values: str) -> dict[str, str]:
    """Return the environment in which the planner is run."""
    return {**os.environ, "PLANNER_PYTHON": sys.executable, **values}


def run(command: Sequence[str], env: Mapping[str, str] | None = None) -> Ended:
    """Run a command to its end, from the root folder."""
    done = subprocess.run(
        command,
        cwd="/",
        env=env or environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        errors="replace",
    )
    return Ended(done.returncode, done.stdout, done.stderr)


def _points(process: int, log: str) -> list[Point]:
    """Return the points in a trace: opening a file counts where it makes or empties one.

    What is written to another process counts where it is our answer, which may be lost.
    """
    seen: dict[str, int] = {}
    found = []
    for line in log.splitlines():
        match = _LINE.match(line)
        if match is None:
            continue
        call, rest = match.groups()
        seen[call] = seen.get(call, 0) + 1
        opened = call == "openat" and "O_CREAT" not in rest and "O_TRUNC" not in rest
        said = _PIPE.match(rest) and (process or not rest.startswith("1<"))
        if not opened and not said:
            found.append(Point(process, call, seen[call]))
    return found
