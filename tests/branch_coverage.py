"""pytest plugin: `--measure` reports branch coverage of the whole run, xdist's workers included.

Not `coverage run`: the workers do the work, and they are started without site-packages, where
coverage's own way into subprocesses lives. The summary stays pytest's last line.
"""

from __future__ import annotations

import io
import os

import coverage
import pytest

CONFIG = os.path.join(os.path.dirname(os.path.dirname(__file__)), "pyproject.toml")


class Measurement:
    """Measures this process."""

    def __init__(self) -> None:
        self.coverage = coverage.Coverage(config_file=CONFIG)
        self.coverage.start()

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self) -> None:
        """Save what this process saw, before a worker is ended."""
        self.coverage.stop()
        self.coverage.save()


class Report:
    """Combines what all processes saw; combining removes their files, so one alone may do it."""

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the combined report."""
        everything = coverage.Coverage(config_file=CONFIG)
        everything.combine()
        text = io.StringIO()
        everything.report(file=text)
        terminalreporter.section("branch coverage")
        terminalreporter.write(text.getvalue())


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--measure`."""
    parser.addoption("--measure", action="store_true", help="report branch coverage")


def pytest_configure(config: pytest.Config) -> None:
    """Measure from here on when asked to."""
    if not config.getoption("--measure"):
        return
    config.pluginmanager.register(Measurement(), "measurement")
    # xdist's workers print no summary, but they are asked for one.
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Report(), "measurement-report")
