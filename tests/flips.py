"""Another program that swaps a folder and a link to an outside folder for as long as it may run."""

from __future__ import annotations

import contextlib
import ctypes
import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from tests.forms import LONG

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

SECONDS, LONGEST_S = 60.0 if LONG else 2.0, 120.0
# It sleeps between two swaps, so that the command gets on and is met at every point.
PROGRAM = """
import ctypes, os, sys, time
exchange = ctypes.CDLL(None).renameat2
names, parent, now = [os.fsencode(name) for name in sys.argv[1:]], os.getppid(), -100
print(exchange(now, names[0], now, names[1], 2), flush=True)
while os.getppid() == parent:
    exchange(now, names[0], now, names[1], 2)
    time.sleep(2e-4)
"""


@contextlib.contextmanager
def flipping(folder: Path, outside: Path, enough: Callable[[], object]) -> Iterator[Iterator[int]]:
    """Swap `folder` and a link to `outside` all the time; give numbers until the time is over.

    What has to happen between two swaps may take longer on a busy machine: until `enough` is true,
    at most `LONGEST_S`.
    """
    if not hasattr(ctypes.CDLL(None), "renameat2"):
        pytest.skip("this system cannot swap two names at once")
    link = outside.with_name("swapped")
    link.symlink_to(outside)
    command = [sys.executable, "-I", "-S", "-c", PROGRAM, str(folder), str(link)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as flipper:
        try:
            assert flipper.stdout
            assert flipper.stdout.readline() == b"0\n"
            yield _numbers(folder, link, outside, enough)
        finally:
            flipper.kill()
    _make_again(folder, link, outside)
    if folder.is_symlink():
        folder.unlink()
        os.rename(link, folder)
    else:
        link.unlink()


def _numbers(
    folder: Path, link: Path, outside: Path, enough: Callable[[], object]
) -> Iterator[int]:
    began, number = time.monotonic(), 0
    while (past := time.monotonic() - began) < SECONDS or (past < LONGEST_S and not enough()):
        yield number
        number += 1
        _make_again(folder, link, outside)


def _make_again(folder: Path, link: Path, outside: Path) -> None:
    """Put the folder back where the command under test has removed the link, as it may."""
    if not os.path.lexists(folder):
        os.rename(link, folder)
        link.symlink_to(outside)
