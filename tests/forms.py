"""pytest plugin: which form of the suite runs, the short one or, with PLANNER_LONG=1, all of it.

A test marked `long` runs in the long form alone. A loop over many alike cases – the moments of a
kill, the faults of a system call – takes all of them there and a part in the short form: which part
follows from the commit, so that later commits show what this one leaves out.
"""

from __future__ import annotations

import os
import shlex
import subprocess
from typing import TYPE_CHECKING, TypeVar

import pytest
from hypothesis import HealthCheck, settings

from shared.resources import ROOT

if TYPE_CHECKING:
    from collections.abc import Sequence

MARK = "long"
LONG = os.environ.get("PLANNER_LONG") == "1"

T = TypeVar("T")
_LEFT_OUT = pytest.StashKey[int]()


def _seed() -> int:
    """Return the number that this run draws by: PLANNER_SEED, else one of the commit's own."""
    if given := os.environ.get("PLANNER_SEED"):
        return int(given)
    command = ["git", "-C", ROOT, "rev-parse", "--short=7", "HEAD"]
    commit = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    return int(commit or "0", 16)


SEED = _seed()
OUTER = 4099  # leaves of a commit's number what says nothing about its small remainders


# A busy machine is no finding. Without a database a run of a commit draws what the last one drew.
settings.register_profile(
    "tests", deadline=None, database=None, derandomize=False,
    suppress_health_check=[HealthCheck.too_slow],
)  # fmt: skip
settings.load_profile("tests")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Let Hypothesis draw by the commit too, unless `--hypothesis-seed` is given."""
    if config.getoption("hypothesis_seed", None) is None:
        config.option.hypothesis_seed = str(SEED)


def part(cases: Sequence[T], every: int, *, outer: bool = False) -> Sequence[T]:
    """Return all cases in the long form, in the short one each `every`-th; never none of some.

    `outer` is for cases that take a part of something in turn: drawn by the same number, a case
    would come to the same part of it whenever it is its turn.
    """
    if LONG:
        return cases
    every = min(every, len(cases)) or 1
    return cases[(SEED // OUTER if outer else SEED) % every :: every]


def some(cases: Sequence[T], wanted: int) -> Sequence[T]:
    """Return all cases in the long form, in the short one at least `wanted` of them, spread out."""
    return part(cases, len(cases) // wanted)


def examples(wanted: int) -> int:
    """Return how many examples Hypothesis draws: all in the long form, a third in the short one."""
    return wanted if LONG else -(-wanted // 3)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave the tests of the long form out of the short one."""
    if LONG:
        return
    left = [item for item in items if item.get_closest_marker(MARK)]
    if left:
        config.stash[_LEFT_OUT] = len(left)
        config.hook.pytest_deselected(items=left)
        items[:] = [item for item in items if not item.get_closest_marker(MARK)]


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Say which command runs what was left out; it may have been all that was asked for."""
    if left := config.stash.get(_LEFT_OUT, 0):
        named = config.args_source is pytest.Config.ArgsSource.ARGS
        command = shlex.join(["bin/test", "--long", *(config.args if named else ())])
        terminalreporter.line(f"{left} left out, of the long form alone: {command} runs them")
