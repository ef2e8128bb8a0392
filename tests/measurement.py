"""pytest plugin: `--measure` reports branch coverage of the whole run, xdist's workers included.

Not `coverage run`: the workers do the work, and they are started without site-packages, where
coverage's own way into subprocesses lives. The summary stays pytest's last line.
"""

from __future__ import annotations

import contextlib
import io
import os

import coverage
import pytest
from coverage.exceptions import CoverageException

CONFIG = os.path.join(os.path.dirname(os.path.dirname(__file__)), "pyproject.toml")


class Measurement:
    """Measures this process; the controlling one also combines and reports."""

    def __init__(self) -> None:
        self.coverage = coverage.Coverage(config_file=CONFIG)
        self.coverage.start()

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self) -> None:
        """Save what this process saw, before a worker is ended."""
        self.coverage.stop()
        # A report that cannot be made is no failed test.
        with contextlib.suppress(CoverageException):
            self.coverage.save()

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the combined report."""
        everything = coverage.Coverage(config_file=CONFIG)
        text = io.StringIO()
        try:
            everything.combine()
            everything.report(file=text)
        except CoverageException as error:
            text.write(f"not measured: {error}\n")
        terminalreporter.section("branch coverage")
        terminalreporter.write(text.getvalue())


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--measure`."""
    parser.addoption("--measure", action="store_true", help="report branch coverage")


def pytest_configure(config: pytest.Config) -> None:
    """Measure from here on when asked to."""
    if config.getoption("--measure"):
        config.pluginmanager.register(Measurement(), "measurement")
