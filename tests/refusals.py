"""pytest plugin: `--refusals` counts the places of the product that refuse and that tests reach.

A place is a call of `Refused`. What no test reaches is listed with the reason in refusals.toml; an
unlisted one fails a run of the whole suite, and so does a listed one that was reached. What needs a
program or a right that not every machine has is listed with the words of the skipped test. The long
form keeps what it has reached in refusals_reached.json; in the short form, a place that stands
there is named and no failure.
"""

from __future__ import annotations

import ast
import functools
import json
import os
import sys
import tempfile
import tomllib
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from benchmarks.imports import own_modules
from shared.resources import ROOT
from state.errors import Refused
from tests.forms import LONG
from tests.refusal_notes import note_refusals, wrapper

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

LIST = os.path.join(os.path.dirname(__file__), "refusals.toml")
REACHED = os.path.join(os.path.dirname(__file__), "refusals_reached.json")
LEAST_PERCENT = 95  # in the long form
_DEFINITION = os.path.join("state", "errors.py")
_KEY = "refusals"
# Below the product's own folder, which a place shows; it hides the machine's /tmp.
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


@functools.cache
def places() -> tuple[Place, ...]:
    """Return every place of the product that refuses, in the order of the files."""
    return tuple(sorted(place for place, _ in calls()))


@functools.cache
def calls() -> tuple[tuple[Place, ast.Call], ...]:
    """Return every place of the product that refuses, with the call."""
    modules = (module for module in own_modules().values() if module.path != _DEFINITION)
    return tuple(found for module in modules for found in _calls(module.path, module.tree, ""))


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

    def __init__(self, beside: str) -> None:
        """Keep notes of other processes in a folder in `beside`."""
        self.lines: set[tuple[str, int]] = set()
        note_refusals(ROOT, lambda path, line: self.lines.add((path, line)))
        os.makedirs(beside, exist_ok=True)
        self.folder = tempfile.TemporaryDirectory(prefix="refusals-", dir=beside)
        self._python, self._notes = wrapper(self.folder.name)
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
    """Collects what all processes noted, prints it, and fails a whole run that is not as listed."""

    def __init__(self, own: Reached, *, whole_suite: bool) -> None:
        self.own, self.whole_suite = own, whole_suite
        self.skipped: set[str] = set()
        self.in_long_form: set[str] = set()
        if not LONG:
            with open(REACHED, encoding="utf-8") as file:
                self.in_long_form.update(json.load(file))

    def pytest_configure_node(self, node: Any) -> None:  # noqa: ANN401 – as below
        """Have a worker's folder in ours, so that it goes with ours even where the worker dies."""
        node.workerinput[_KEY] = self.own.folder.name

    def pytest_testnodedown(self, node: Any) -> None:  # noqa: ANN401 – xdist's, without types
        """Take the notes of a worker that has ended."""
        notes = getattr(node, "workeroutput", {}).get(_KEY, [])
        self.own.lines |= {(path, line) for path, line in notes}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note why a test was skipped."""
        if report.skipped and isinstance(report.longrepr, tuple):
            self.skipped.add(report.longrepr[2])

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Fail a run of the whole suite that is not as refusals.toml says."""
        if not self.whole_suite or session.exitstatus:
            return
        if self.wrong():
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
        elif LONG:
            left = {place.name for place in unreached(self.own.lines)}
            names = sorted({place.name for place in places()} - left)
            with open(REACHED, "w", encoding="utf-8") as file:
                file.write(json.dumps(names, indent=1) + "\n")

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print how many places were reached, and after a whole run what is not as listed."""
        every, left = places(), unreached(self.own.lines)
        percent = 100 * (len(every) - len(left)) / len(every)
        terminalreporter.section("refusals")
        terminalreporter.write_line(
            f"{len(every) - len(left)} of {len(every)} places that refuse were reached, "
            f"{percent:.1f} %"
        )
        if not self.whole_suite:
            return
        for place in left:
            if place.name in self.in_long_form:
                terminalreporter.write_line(f"the long form alone reaches {place.name}")
        for line in self.wrong():
            terminalreporter.write_line(line)

    def wrong(self) -> list[str]:
        """Return what of a whole run is not as it must be."""
        with open(LIST, "rb") as file:
            listed = tomllib.load(file)
        left, every = unreached(self.own.lines), places()
        missed = [place for place in left if place.name not in self.in_long_form]
        found = not_as_listed(listed, missed, self.skipped)
        if LONG and 100 * len(left) > (100 - LEAST_PERCENT) * len(every):
            found.append(f"fewer than {LEAST_PERCENT} % of the places that refuse were reached")
        return found


def unreached(lines: Collection[tuple[str, int]]) -> list[Place]:
    """Return the places of which no line is among those that refused."""
    return [
        place
        for place in places()
        if not any((place.path, n) in lines for n in range(place.first, place.last + 1))
    ]


def not_as_listed(
    listed: Mapping[str, str | Mapping[str, str]],
    left: Iterable[Place],
    skipped: Collection[str],
) -> list[str]:
    """Return what differs between the list and the places that are left unreached.

    An entry is the reason why no test reaches a place; or, in a table, words of the reason for
    which its test may be skipped: then the place may be unreached where such a test was.
    """
    missed = {place.name: place for place in left}
    found: list[str] = []
    for name, place in missed.items():
        entry = listed.get(name)
        at = f"{place.path}:{place.first} {place.function}"
        if entry is None:
            found.append(f"not reached, and not in refusals.toml: {at}")
        elif not isinstance(entry, str) and not any(entry["skipped"] in why for why in skipped):
            found.append(f"not reached, though no test was skipped for {entry['skipped']!r}: {at}")
    known = {place.name for place in places()}
    for name, entry in listed.items():
        if name not in known:
            found.append(f"in refusals.toml, and gone: {name}")
        elif isinstance(entry, str) and name not in missed:
            found.append(f"in refusals.toml, and reached: {name}")
    return found


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--refusals`."""
    parser.addoption("--refusals", action="store_true", help="say which refusals were reached")


def pytest_configure(config: pytest.Config) -> None:
    """Note refusals from here on when asked to."""
    if not config.getoption("--refusals"):
        return
    own = Reached(getattr(config, "workerinput", {}).get(_KEY, _SHOWN))
    config.pluginmanager.register(own, "refusals")
    config.add_cleanup(own.folder.cleanup)
    # xdist's workers print no summary, but they are asked for one.
    if not hasattr(config, "workerinput"):
        whole = bool(config.getoption("--requirements")) and is_whole(config)
        config.pluginmanager.register(Report(own, whole_suite=whole), "refusals-report")


def is_whole(config: pytest.Config) -> bool:
    """Return whether all tests run: none are named, and none are left out by a choice of words."""
    chosen = config.option.keyword or config.option.markexpr or config.option.deselect
    return config.args_source is not pytest.Config.ArgsSource.ARGS and not chosen
