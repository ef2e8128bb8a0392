"""Moments of a planner command, between any two of its file operations and around each git.

A command is killed at one with kill -9, or something else is done then and the command goes on.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import traceback
from typing import TYPE_CHECKING, Any

import pytest

from tests.journey import call

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from tests.conftest import Repository

# What changes files or starts a program; before and after each of these, the command is killed.
OPERATIONS = (
    (os, "rename"), (os, "replace"), (os, "unlink"), (os, "mkdir"), (os, "rmdir"), (os, "symlink"),
    (subprocess, "run"),
)  # fmt: skip
ENDED = 0


class Kept:
    """A repository as it was at one moment, to go back to any number of times."""

    def __init__(self, repository: Repository) -> None:
        self.path = repository.path
        self.copy = repository.path.with_suffix(".kept")
        shutil.rmtree(self.copy, ignore_errors=True)
        shutil.copytree(self.path, self.copy, symlinks=True)

    def restore(self) -> None:
        shutil.rmtree(self.path)
        shutil.copytree(self.copy, self.path, symlinks=True)


def killed_at(number: int, folder: Path, *words: str, codes: Sequence[int] = (ENDED,)) -> bool:
    """Run a command in a process that is killed at its `number`-th moment; False if it ended.

    A command that ends must do so with one of the exit codes `codes`.
    """
    child = os.fork()
    if child == 0:
        try:
            with at_moment(number, lambda: os.kill(os.getpid(), signal.SIGKILL)):
                code = call(folder, *words).code
        except BaseException:  # noqa: BLE001 – told to the parent by the exit code
            traceback.print_exc()
            code = 99
        os._exit(code)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return True
    assert os.waitstatus_to_exitcode(status) in codes, f"moment {number}: {words}"
    return False


@contextlib.contextmanager
def at_moment(number: int, act: Callable[[], object]) -> Iterator[Callable[[], int]]:
    """Have something done at the `number`-th moment of a command; yields how many there were."""
    moments, acting = 0, False

    def moment() -> None:
        nonlocal moments, acting
        if acting:
            return  # it has moments of its own
        moments += 1
        if moments == number:
            acting = True
            act()
            acting = False

    def around(function: Callable[..., Any]) -> Callable[..., Any]:
        def call_it(*args: Any, **values: Any) -> Any:  # noqa: ANN401 – what the function takes
            moment()
            found = function(*args, **values)
            moment()
            return found

        return call_it

    with pytest.MonkeyPatch.context() as patch:
        for module, name in OPERATIONS:
            patch.setattr(module, name, around(getattr(module, name)))
        yield lambda: moments


def kill_everywhere(
    kept: Kept, words: Sequence[str], check: Callable[[int], None], every: int = 1
) -> int:
    """Kill a command at every moment, or each `every`-th, and check each time; return how often."""
    number = times = 1
    while True:
        kept.restore()
        if not killed_at(number, kept.path, *words):
            return times - 1
        check(number)
        number += every
        times += 1
