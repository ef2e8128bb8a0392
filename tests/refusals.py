"""pytest plugin: `--refusals` says which places of the product that refuse were reached by tests.

A place is a call of `Refused`. What no test reaches is listed with the reason in refusals.toml; an
unlisted one fails a run of the whole suite, and so does a listed one that was reached.
"""

from __future__ import annotations

import ast
import os
import sys
import tempfile
import tomllib
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from benchmarks.imports import read_modules
from shared.resources import ROOT
from state.errors import Refused
from tests.refusal_notes import note_refusals, wrapper

if TYPE_CHECKING:
    from collections.abc import Iterator

LIST = os.path.join(os.path.dirname(__file__), "refusals.toml")
LEAST_PERCENT = 95
_DEFINITION = os.path.join("state", "errors.py")
_KEY = "refusals"
_SHOWN = os.path.join(ROOT, ".deps")


class Place(NamedTuple):
    """A call of `Refused`: its file, the function around it, its first and its last line."""

    path: str
    function: str
    first: int
    last: int

    @property
    def name(self) -> str:
        """What refusals.toml calls it; several of one function have one name."""
        return f"{self.path}:{self.function}"


def places() -> list[Place]:
    """Return every place of the product that refuses, in the order of the files."""
    return sorted(place for place, _ in calls())


def calls() -> Iterator[tuple[Place, ast.Call]]:
    """Yield every place of the product that refuses, with the call."""
    for module in read_modules().values():
        if module.path != _DEFINITION:
            yield from _calls(module.path, module.tree, "")


def _calls(path: str, node: ast.AST, function: str) -> Iterator[tuple[Place, ast.Call]]:
    for child in ast.iter_child_nodes(node):
        around = function
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            around = child.name
        if isinstance(child, ast.Call) and _is_refusal(child.func):
            yield Place(path, function, child.lineno, child.end_lineno or child.lineno), child
        yield from _calls(path, child, around)


def _is_refusal(called: ast.expr) -> bool:
    if isinstance(called, ast.Attribute) and called.attr == "of":
        called = called.value
    return isinstance(called, ast.Name) and called.id == Refused.__name__


class Reached:
    """Notes from which lines of the product `Refused` was made, here and in launchers of tests."""

    def __init__(self) -> None:
        self.lines: set[tuple[str, int]] = set()
        note_refusals(ROOT, lambda path, line: self.lines.add((path, line)))
        # Below the product's own folder, which a place shows; it hides the machine's /tmp.
        os.makedirs(_SHOWN, exist_ok=True)
        self._folder = tempfile.TemporaryDirectory(prefix="refusals-", dir=_SHOWN)
        self._python, self._notes = wrapper(self._folder.name)
        sys.executable = self._python

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_call(self) -> None:
        """Have launchers without an interpreter of their own take ours; the home is set by now."""
        os.environ.setdefault("PLANNER_PYTHON", self._python)

    def pytest_runtest_teardown(self) -> None:
        """Leave the next test to its fixtures."""
        if os.environ.get("PLANNER_PYTHON") == self._python:
            del os.environ["PLANNER_PYTHON"]

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Hand a worker's notes to the process that reports."""
        with open(self._notes, encoding="utf-8") as file:
            found = (line.strip().rpartition(":") for line in file)
            self.lines |= {(path, int(number)) for path, _, number in found}
        output = getattr(session.config, "workeroutput", None)
        if output is not None:
            output[_KEY] = [list(line) for line in sorted(self.lines)]


class Report:
    """Collects what all processes noted, prints it, and fails a run that is not as listed."""

    def __init__(self, own: Reached, *, whole_suite: bool) -> None:
        self.own, self.whole_suite = own, whole_suite

    def pytest_testnodedown(self, node: Any) -> None:  # noqa: ANN401 – xdist's, without types
        """Take the notes of a worker that has ended."""
        notes = getattr(node, "workeroutput", {}).get(_KEY, [])
        self.own.lines |= {(path, line) for path, line in notes}

    def unreached(self) -> list[Place]:
        """Return the places that no test has reached in these processes."""
        lines = self.own.lines
        return [
            place
            for place in places()
            if not any((place.path, n) in lines for n in range(place.first, place.last + 1))
        ]

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print how many places were reached, and those that were not and are not listed."""
        every, left = places(), self.unreached()
        percent = 100 * (len(every) - len(left)) / len(every)
        terminalreporter.section("refusals")
        terminalreporter.write_line(
            f"{len(every) - len(left)} of {len(every)} places that refuse were reached, "
            f"{percent:.1f} %; {len(left)} not"
        )
        for line in self.wrong():
            terminalreporter.write_line(line)

    def wrong(self) -> list[str]:
        """Return what differs from refusals.toml."""
        with open(LIST, "rb") as file:
            listed = tomllib.load(file)
        left = self.unreached()
        names = {place.name for place in left}
        found = [
            f"not reached, and not in refusals.toml: {place.path}:{place.first} {place.function}"
            for place in left
            if place.name not in listed
        ]
        return [*found, *(f"reached, or gone: {name}" for name in listed if name not in names)]

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Fail a run of the whole suite that leaves too much unreached."""
        share = len(self.unreached()) / len(places())
        if self.whole_suite and 100 * (1 - share) < LEAST_PERCENT:
            session.exitstatus = 1


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--refusals`."""
    parser.addoption("--refusals", action="store_true", help="say which refusals were reached")


def pytest_configure(config: pytest.Config) -> None:
    """Note refusals from here on when asked to."""
    if not config.getoption("--refusals"):
        return
    own = Reached()
    config.pluginmanager.register(own, "refusals")
    # xdist's workers print no summary, but they are asked for one.
    if not hasattr(config, "workerinput"):
        whole = bool(config.getoption("--requirements"))
        config.pluginmanager.register(Report(own, whole_suite=whole), "refusals-report")
