"""Moments of a planner command, between any two of its file operations and around each git.

A command is killed at one with kill -9, or something else is done then and the command goes on.
"""

from __future__ import annotations

import bisect
import contextlib
import itertools
import os
import pickle
import shutil
import signal
import subprocess
import traceback
from typing import TYPE_CHECKING, Any, TypeVar

import pytest

from tests.forms import some
from tests.journey import call

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path
    from types import ModuleType

    from tests.conftest import Repository

# What changes files or starts a program; before and after each of these, the command is killed.
OPERATIONS = (
    (os, "rename"), (os, "replace"), (os, "unlink"), (os, "mkdir"), (os, "rmdir"), (os, "symlink"),
    (subprocess, "run"),
)  # fmt: skip
ENDED = 0

T = TypeVar("T")


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

    def run() -> int:
        with at_moment(number, lambda: os.kill(os.getpid(), signal.SIGKILL)):
            return call(folder, *words).code

    status = _status_of(run)
    if os.WIFSIGNALED(status):
        return True
    assert os.waitstatus_to_exitcode(status) in codes, f"moment {number}: {words}"
    return False


def killed_after(number: int, module: ModuleType, name: str, run: Callable[[], object]) -> bool:
    """Do something in a process that is killed after its `number`-th call of a module's function.

    False if it came to its end.
    """

    def killing() -> int:
        real, calls = getattr(module, name), itertools.count(1)

        def call_it(*args: Any, **values: Any) -> Any:  # noqa: ANN401 – what the function takes
            found = real(*args, **values)
            if next(calls) == number:
                os.kill(os.getpid(), signal.SIGKILL)
            return found

        pytest.MonkeyPatch().setattr(module, name, call_it)
        run()
        return ENDED

    status = _status_of(killing)
    assert os.WIFSIGNALED(status) or os.waitstatus_to_exitcode(status) == ENDED
    return os.WIFSIGNALED(status)


def moments_of(folder: Path, *words: str, codes: Sequence[int] = (ENDED,)) -> range:
    """Run a command to its end, and return the numbers of its moments.

    It runs in a process of its own too, because what a run leaves in memory spares the next one
    some of them.
    """
    reading, writing = os.pipe()

    def run() -> int:
        with at_moment(0, lambda: None) as count:
            code = call(folder, *words).code
        os.write(writing, str(count()).encode())
        return code

    status = _status_of(run)
    os.close(writing)
    with open(reading, encoding="ascii") as file:
        told = file.read()
    assert os.waitstatus_to_exitcode(status) in codes, words
    return range(1, int(told) + 1)


def first_moment(
    kept: Kept, words: Sequence[str], moments: Sequence[int], happened: Callable[[], bool]
) -> int:
    """Kill a command at the first of its moments at which something has happened; return which.

    What has happened by one moment has happened by all later ones.
    """

    def happened_by(moment: int) -> bool:
        kept.restore()
        assert killed_at(moment, kept.path, *words), f"it ended before moment {moment}"
        return happened()

    moment = moments[bisect.bisect_left(moments, True, key=happened_by)]  # noqa: FBT003 – sought
    assert happened_by(moment), "at no moment"
    return moment


def all_at_once(deeds: Sequence[Callable[[], T]]) -> list[T]:
    """Do several things at once, each in a process of its own; return what each returns."""

    def begun(deed: Callable[[], T]) -> tuple[int, int]:
        reading, writing = os.pipe()

        def run() -> int:
            with open(writing, "wb") as file:
                pickle.dump(deed(), file)
            return ENDED

        child = _forked(run)
        os.close(writing)
        return child, reading

    found: list[T] = []
    for child, reading in [begun(deed) for deed in deeds]:
        with open(reading, "rb") as file:
            told = file.read()
        assert os.waitpid(child, 0)[1] == ENDED
        found.append(pickle.loads(told))  # noqa: S301 – our own process's
    return found


def _status_of(run: Callable[[], int]) -> int:
    """Run a function in a child, which ends with the code that it returns; return the status."""
    return os.waitpid(_forked(run), 0)[1]


def _forked(run: Callable[[], int]) -> int:
    child = os.fork()
    if child == 0:
        try:
            code = run()
        except BaseException:  # noqa: BLE001 – told to the parent by the exit code
            traceback.print_exc()
            code = 99
        os._exit(code)
    return child


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
    kept: Kept, words: Sequence[str], check: Callable[[int], None], wanted: int
) -> int:
    """Kill a command at every moment, in the short form at `wanted` or a few more; check each time.

    Returns how often.
    """
    kept.restore()
    times = 0
    for number in some(moments_of(kept.path, *words), wanted):
        kept.restore()
        if not killed_at(number, kept.path, *words):
            break  # the checks have left things in memory that spare it the last moments
        check(number)
        times += 1
    assert times, words
    return times
