"""Finds the test files of a Python project that no configuration names, and what runs them (VR-1).

They may lie anywhere: `tests/`, beside the code as `pkg/test_x.py`, in `pkg/tests/`, or `tests.py`.
"""

from __future__ import annotations

import os
import re
import shlex
from fnmatch import fnmatch
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, NamedTuple

from developer.candidates.found import Candidate, line_of
from shared.place.enter import CannotEnter, run
from shared.place.level import forget, level
from shared.place.planning import planning_place
from shared.place.values import Limits

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from developer.candidates.found import Project

# What pytest collects by itself, and what we give it by name; unittest is told a pattern.
_FOR_PYTEST = ("test_*.py", "*_test.py")
_NAMES = (*_FOR_PYTEST, "tests.py")
_DISCOVERED = "test*.py"
_OF_PYTEST = r"^(?:(?:import|from) pytest\b|(?:async )?def test_|class Test\w*:)"
_CLASS_OF_UNITTEST = r"^class \w+\(.*TestCase\b"
_OF_UNITTEST = r"^(?:import|from) unittest\b"
_LOADS = r"^def load_tests\("
_NOT_THE_PROJECTS = {"node_modules", "site-packages", "build", "dist", "vendor", "third_party"}
_MOST_FOLDERS, _MOST_FILES, _MOST_NAMED, _MOST_STARTS = 1_000, 60, 10, 3
_ASK_S = 20.0
# Looked up without the folder in which it runs: a module of the project could have this name.
_ASK = "import sys, importlib.util as u; sys.path[:1] = []; print(*filter(u.find_spec, {!r}))"


class PythonTest(NamedTuple):
    """A test file with the line that shows whether its tests are unittest's classes or pytest's."""

    path: str
    line: int
    is_unittest: bool
    # True where it, or the package around it, tells unittest what else to load.
    loads: bool

    @property
    def evidence(self) -> str:
        """The file and the line."""
        return f"{self.path}:{self.line}"


def python_test_files(project: Project) -> list[PythonTest]:
    """Return the project's test files, those in `tests` and `test` first, then the upper ones."""
    found = []
    for path in sorted(_paths(project), key=_likeliest)[:_MOST_FILES]:
        text = project.read(path)
        package = project.read(os.path.join(os.path.dirname(path), "__init__.py"))
        loads = any(re.search(_LOADS, one, re.MULTILINE) for one in (text, package))
        for sign in (_OF_PYTEST, _CLASS_OF_UNITTEST, _OF_UNITTEST):
            if re.search(sign, text, re.MULTILINE):
                found.append(PythonTest(path, line_of(text, sign), sign != _OF_PYTEST, loads))
                break
    return found


def _likeliest(path: str) -> tuple[bool, int, str]:
    return path.split("/", maxsplit=1)[0] not in ("tests", "test"), path.count("/"), path


def _paths(project: Project) -> Iterator[str]:
    """Yield the paths of files with the name of a test, without environments and the like."""
    for number, (folder, folders, names) in enumerate(os.walk(project.files)):
        if number == _MOST_FOLDERS:
            return
        inner = os.path.relpath(folder, project.files)
        folders[:] = sorted(
            name
            for name in folders
            if not name.startswith((".", "_"))
            and name not in _NOT_THE_PROJECTS
            and not os.path.exists(os.path.join(folder, name, "pyvenv.cfg"))
        )
        for name in names:
            if any(fnmatch(name, pattern) for pattern in _NAMES):
                yield os.path.normpath(os.path.join(inner, name))


def by_pytest(python: str, files: Sequence[PythonTest]) -> str:
    """Return the command by which pytest finds the tests: without arguments, or by their names."""
    names = [file.path for file in files]
    usual = any(fnmatch(os.path.basename(name), one) for name in names for one in _FOR_PYTEST)
    named = [] if usual or len(names) > _MOST_NAMED else map(shlex.quote, names)
    return " ".join([python, "-m pytest -q", *named])


def by_unittest(project: Project, python: str, files: Sequence[PythonTest]) -> Iterator[Candidate]:
    """Yield the commands by which unittest finds the tests of these files, which are its own.

    It begins where the tests' packages begin: it enters no folder that is not a package.
    """
    ways: dict[str, str] = {}
    for file in files:
        start = _start(project, file.path)
        words = ["-s", shlex.quote(start)] if start else []
        words += [] if fnmatch(os.path.basename(file.path), _DISCOVERED) else ["-p '*_test.py'"]
        line = " ".join([python, "-m unittest discover", *words])
        ways.setdefault(_with_sources(project, python, start, line), file.evidence)
    for command, evidence in [*ways.items()][:_MOST_STARTS]:
        yield Candidate(command, evidence)


def _start(project: Project, path: str) -> str:
    """Return the folder above a test file's outermost package, '' for the project's root."""
    folder = os.path.dirname(path)
    while folder and project.has(f"{folder}/__init__.py"):
        folder = os.path.dirname(folder)
    return folder


def _with_sources(project: Project, python: str, start: str, line: str) -> str:
    """Return a command line that finds the code below src/ where no environment has it."""
    found = "src" not in start.split("/") and python == "python3" and project.has("src")
    return f"PYTHONPATH=src {line}" if found else line


def packages(project: Project, python: str, names: Sequence[str]) -> set[str] | None:
    """Return which of these packages an interpreter has, asked in the place; None if it cannot be.

    Its folders do not tell: what is called `python3` may be a script that chooses one.
    """
    if not level(project.root).holds:
        return None
    place = planning_place(project.root, project.root)
    place.limits = Limits(seconds=_ASK_S)
    words = ["sh", "-c", f"{python} -c {shlex.quote(_ASK.format([*names]))} 2> /dev/null"]
    with TemporaryFile() as output:
        try:
            code = run(place, words, output=output.fileno()).code
        except CannotEnter as error:
            forget(place, str(error))
            return None
        output.seek(0)
        return set(output.read().decode("utf-8", "replace").split()) if code == 0 else None
