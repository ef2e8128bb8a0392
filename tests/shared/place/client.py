"""The client that sends a command to its shell: pipes, an own terminal, a time limit."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.shared.place.scene import Scene

LIMIT = 40.0  # seconds for one attack
GRACE = 3.0  # seconds in which what was started must have ended after the command
EARLY = 1.5  # seconds after which a client that loses patience ends the call


def run(
    command: list[str], scene: Scene, before: Callable[[], None], *, end: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run a command as a client would: output through pipes, an own terminal, a time limit."""
    process = subprocess.Popen(
        command,
        cwd=scene.repo,
        env=scene.environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        pass_fds=scene.open,
        preexec_fn=before,  # noqa: PLW1509 - the listeners' thread holds no lock of ours
    )
    got: list[bytearray] = [bytearray(), bytearray()]
    assert process.stdout is not None
    assert process.stderr is not None
    readers = [
        threading.Thread(target=_read, args=(stream, into), daemon=True)
        for stream, into in zip((process.stdout, process.stderr), got, strict=True)
    ]
    for reader in readers:
        reader.start()
    try:
        process.wait(EARLY if end else LIMIT)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.Signals[f"SIG{end or 'KILL'}"])
    _wait_for_end(process)
    for reader in readers:
        reader.join(GRACE)
    out, error = (part.decode(errors="replace") for part in got)
    return subprocess.CompletedProcess(command, process.returncode, out, error)


def _wait_for_end(process: subprocess.Popen[bytes]) -> None:
    try:
        process.wait(5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _read(stream: IO[bytes], into: bytearray) -> None:
    with contextlib.suppress(OSError, ValueError), stream:
        while part := os.read(stream.fileno(), 65536):
            if len(into) < 1 << 22:
                into += part
