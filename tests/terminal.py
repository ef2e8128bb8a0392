"""A real terminal for commands: what a person sees there, and in which form pipes get the same."""

from __future__ import annotations

import contextlib
import fcntl
import io
import os
import pty
import struct
import subprocess
import termios
import threading
from typing import TYPE_CHECKING

from cli.main import main
from tests.journey import Answer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

WIDTH = 100


@contextlib.contextmanager
def terminal(width: int = WIDTH, keys: str = "") -> Iterator[tuple[int, list[bytes]]]:
    """Give the end of a terminal that a program writes to; what it has written is read at the end.

    A thread reads meanwhile, since a terminal holds only so much. `keys` are typed before.
    """
    ours, theirs = pty.openpty()
    os.write(ours, keys.encode())
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, width, 0, 0))
    seen: list[bytes] = []

    def read() -> None:
        with contextlib.suppress(OSError):  # Linux says so where the other end is closed
            while data := os.read(ours, 1 << 16):
                seen.append(data)

    reader = threading.Thread(target=read)
    reader.start()
    try:
        yield theirs, seen
    finally:
        os.close(theirs)
        reader.join()
        os.close(ours)


def shown(seen: list[bytes]) -> str:
    """Return what a terminal was given, without the carriage returns that it adds."""
    return b"".join(seen).decode().replace("\r\n", "\n")


def typed(cwd: Path | str, *argv: str, width: int = WIDTH) -> Answer:
    """Run a command in this process, with its standard output in a terminal."""
    errors = io.StringIO()
    with (
        terminal(width) as (theirs, seen),
        open(os.dup(theirs), "w", encoding="utf-8") as stream,
        contextlib.chdir(cwd),
        contextlib.redirect_stdout(stream),
        contextlib.redirect_stderr(errors),
    ):
        code = main(argv)
    return Answer(code, shown(seen), errors.getvalue())


def started(
    cwd: Path | str, *words: str, width: int = WIDTH, keys: str = "", **variables: str
) -> Answer:
    """Start a program in a terminal of its own, with further variables in its environment."""
    env = {**os.environ, "TERM": "xterm", **variables}
    with terminal(width, keys) as (theirs, seen):
        ran = subprocess.run(
            words, cwd=cwd, env=env, stdin=theirs, stdout=theirs, stderr=theirs, check=False
        )
    return Answer(ran.returncode, shown(seen))
