"""pytest plugin: reports which requirement has passing tests and which has none.

With `--requirements` (a run of the whole suite) a built requirement without a passing test fails
the run; in the short form, one whose tests are all of the long form is named. A test that names an
unknown id fails, always. Works in one process and under xdist: the ids travel with each test's
report, and those of tests that are left out with the worker's last words.
"""

from __future__ import annotations

import os
import tomllib
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

LIST = os.path.join(os.path.dirname(__file__), "requirements.toml")
MARK = "requirement"
LONG_MARK = "long"
_KEY = "requirements of the long form"


class Requirement(NamedTuple):
    """One line of requirements.toml."""

    title: str
    built: bool


def load_requirements(path: str = LIST) -> dict[str, Requirement]:
    """Return the requirements by id, in the file's order; ValueError for an unknown status."""
    with open(path, "rb") as file:
        entries = tomllib.load(file)
    for name, entry in entries.items():
        if entry["status"] not in {"built", "planned"}:
            raise ValueError(f"{name}: status is {entry['status']!r}, not built or planned")
    return {
        name: Requirement(entry["title"], entry["status"] == "built")
        for name, entry in entries.items()
    }


def requirements_of(item: pytest.Item) -> list[str]:
    """Return the ids that a test is marked with, those of its class and module included."""
    return [str(name) for mark in item.iter_markers(MARK) for name in mark.args]


class RequirementReport:
    """Counts passing tests per requirement and fails the run if a built one has none."""

    def __init__(self, requirements: dict[str, Requirement], *, whole_suite: bool) -> None:
        self.requirements = requirements
        self.whole_suite = whole_suite
        self.passed: Counter[str] = Counter()
        self.left_out: set[str] = set()

    def pytest_deselected(self, items: Sequence[pytest.Item]) -> None:
        """Note the ids of the tests that only the long form runs."""
        for item in items:
            if item.get_closest_marker(LONG_MARK):
                self.left_out.update(requirements_of(item))

    def pytest_testnodedown(self, node: Any) -> None:  # noqa: ANN401 – xdist's, without types
        """Take what a worker has noted."""
        self.left_out.update(getattr(node, "workeroutput", {}).get(_KEY, []))

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Fail a test that is marked with an id which is not in the list."""
        unknown = [name for name in requirements_of(item) if name not in self.requirements]
        if unknown:
            pytest.fail(f"not in tests/requirements.toml: {', '.join(unknown)}", pytrace=False)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Add a test's ids to its report, which also reaches the controlling process."""
        report = yield
        report.user_properties += [(MARK, name) for name in requirements_of(item)]
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count a test that passed for each id that it is marked with."""
        if report.when == "call" and report.passed:
            self.passed.update(str(name) for key, name in report.user_properties if key == MARK)

    def missing(self) -> list[str]:
        """Return the ids marked as built that no form of the suite shows."""
        return [name for name in self._without_test() if name not in self.left_out]

    def _without_test(self) -> list[str]:
        return [
            name for name, one in self.requirements.items() if one.built and not self.passed[name]
        ]

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Fail a run of the whole suite if a built requirement has no passing test."""
        if hasattr(session.config, "workeroutput"):
            session.config.workeroutput[_KEY] = sorted(self.left_out)
        elif self.whole_suite and not session.exitstatus and self.missing():
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the table after a whole-suite run."""
        if not self.whole_suite:
            return
        terminalreporter.section("requirements")
        for line in self.lines():
            terminalreporter.line(line)

    def lines(self) -> list[str]:
        """Return the table: a line per built requirement; those of the long form; those planned."""
        width = max(map(len, self.requirements))
        table = [
            f"{name:<{width}}  {self._shown(name):>7}  {one.title}"
            for name, one in self.requirements.items()
            if one.built
        ]
        long = [name for name in self._without_test() if name in self.left_out]
        planned = [name for name, one in self.requirements.items() if not one.built]
        return [*table, f"long form alone: {compact(long)}", f"planned: {compact(planned)}"]

    def _shown(self, name: str) -> str:
        without = "long" if name in self.left_out else "NO TEST"
        return str(self.passed[name] or without)


def compact(names: list[str]) -> str:
    """Return ids with consecutive ones as a range: `PL-1, PL-3…PL-5`."""
    runs: list[list[str]] = []
    for name in names:
        prefix, _, number = name.partition("-")
        if runs and runs[-1][-1] == f"{prefix}-{int(number) - 1}":
            runs[-1].append(name)
        else:
            runs.append([name])
    return ", ".join(run[0] if len(run) == 1 else f"{run[0]}…{run[-1]}" for run in runs) or "none"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--requirements`."""
    parser.addoption(
        "--requirements",
        action="store_true",
        help="print the report by requirement; fail when a built one has no passing test",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Check ids in every run; report and judge only a run of the whole suite."""
    whole_suite = bool(config.getoption("--requirements"))
    report = RequirementReport(load_requirements(), whole_suite=whole_suite)
    config.pluginmanager.register(report, "requirement-report")
