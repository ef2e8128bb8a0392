"""Run a command for a limited time, and end with it all that it has started.

It stays in our session and process group: a signing program may ask on the terminal.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import tempfile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

OUT_OF_TIME = 124
_GRACE_S = 5.0


def run_for(
    limit_s: float, command: Sequence[str], folder: str, env: Mapping[str, str], stdin: bytes
) -> subprocess.CompletedProcess[bytes]:
    """Run a command; after the limit its exit code is OUT_OF_TIME, and its processes are ended."""
    # Files, not pipes: a process that is left running would keep a pipe open.
    with (
        tempfile.TemporaryFile() as given,
        tempfile.TemporaryFile() as out,
        tempfile.TemporaryFile() as err,
    ):
        given.write(stdin)
        given.seek(0)
        child = subprocess.Popen(
            command, cwd=folder, env=dict(env), stdin=given, stdout=out, stderr=err
        )
        try:
            code = child.wait(limit_s)
        except subprocess.TimeoutExpired:
            _end(child)
            code = OUT_OF_TIME
        out.seek(0)
        err.seek(0)
        return subprocess.CompletedProcess(command, code, out.read(), err.read())


def _end(child: subprocess.Popen[bytes]) -> None:
    """End a process and its descendants; all are stopped first, so that none starts another.

    The process itself may first remove its lock files, as git does when it is terminated.
    """
    found, waiting = {child.pid}, [child.pid]
    while waiting:
        _send(signal.SIGSTOP, waiting)
        parents = _parents()
        waiting = [pid for pid, parent in parents.items() if parent in found and pid not in found]
        found.update(waiting)
    _send(signal.SIGKILL, found - {child.pid})
    _send(signal.SIGTERM, [child.pid])
    _send(signal.SIGCONT, [child.pid])
    try:
        child.wait(_GRACE_S)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()


def _send(number: signal.Signals, pids: Iterable[int]) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


def _parents() -> dict[int, int]:
    """Return the parent of each process of the system."""
    words = ["ps", "-A", "-o", "pid=", "-o", "ppid="]
    with contextlib.suppress(OSError):
        done = subprocess.run(words, capture_output=True, check=False)
        rows = [row.split() for row in done.stdout.decode().splitlines()]
        return {int(pid): int(parent) for pid, parent in rows}
    return {}
