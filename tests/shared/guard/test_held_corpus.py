"""Runs the corpus for real, in a throwaway place, with the runner as the only protection.

All of the commands in the long form, one of twenty-four in the short one.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import pytest

from shared import sandbox
from tests.forms import LONG, part
from tests.shared.guard import scene, throwaway
from tests.shared.guard.corpus.corpus import must_be_denied, must_pass

if TYPE_CHECKING:
    from collections.abc import Sequence

EVERY = 24
ENDS_S = 60.0  # far above what a benign command takes, on a busy machine too
KINDS = sorted({command.kind for command in must_be_denied()})
# Their output changes with time: clocks, memory, processes, inodes.
MOMENTARY = frozenset(
    ("date", "df", "du", "free", "ps", "stat", "uptime", "var", "-ls", "--json", "--stats")
)


@functools.cache
def lacking() -> str:
    return throwaway.missing()


@pytest.fixture(scope="session")
def places(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return the templates of the home: one for attacks, one for what assistants do."""
    if not sandbox.is_available():
        pytest.skip("this kernel has no Landlock")
    if lacking():
        pytest.skip(f"no throwaway place can be made here, it lacks {lacking()}")
    found = {}
    for name in ("attacked", "explored"):
        home = tmp_path_factory.mktemp(name)
        scene.build(home, bait=name == "attacked")
        found[name] = str(home)
    return found


def runnable(kind: str = "") -> list[str]:
    """Return the commands of a class that must be denied and can be run (without NUL)."""
    commands = (c for c in must_be_denied() if c.may_run and kind in ("", c.kind))
    return [c.text for c in commands if "\0" not in c.text]


# A throwaway place costs more than the few commands of a kind that the short form runs.
RUNNABLE = [kind for kind in KINDS if runnable(kind)]
SHARES = [[kind] for kind in RUNNABLE] if LONG else [RUNNABLE]


@pytest.mark.slow
@pytest.mark.requirement("PM-5")
@pytest.mark.parametrize("kinds", SHARES, ids=lambda kinds: kinds[0] if LONG else "all")
def test_with_the_runner_as_the_only_protection_no_command_changes_a_file(
    places: dict[str, str], kinds: Sequence[str]
) -> None:
    commands = [text for kind in kinds for text in part(runnable(kind), EVERY)]
    outcomes = throwaway.run(commands, places["attacked"], held=True)
    assert {o.text: o.changed for o in outcomes if o.changed} == {}


@pytest.mark.long
@pytest.mark.slow
def test_without_the_runner_the_same_commands_do_change_files(places: dict[str, str]) -> None:
    """Without this, the test above would prove nothing."""
    outcomes = throwaway.run(runnable()[::10], places["attacked"])
    assert len([o for o in outcomes if o.changed]) > len(outcomes) / 4


def said(outcome: throwaway.Outcome) -> tuple[object, ...]:
    """Return a command, its exit code and what it printed; ripgrep's threads print in any order."""
    return (*outcome[:2], sorted(outcome.stdout.splitlines()), outcome.stderr)


@pytest.mark.slow
@pytest.mark.requirement("PM-5")
def test_what_a_benign_command_prints_is_the_same_under_the_runner(
    places: dict[str, str],
) -> None:
    steady = [c.text for c in must_pass() if MOMENTARY.isdisjoint(c.text.split())]
    assert len(steady) > 0.9 * len(must_pass())
    commands = part(steady, EVERY)
    free = throwaway.run(commands, places["explored"], limit_s=ENDS_S)
    held = throwaway.run(commands, places["explored"], held=True, limit_s=ENDS_S)
    pairs = [pair for pair in zip(free, held, strict=True) if "not found" not in pair[0].stderr]
    # Two missing programs of a pipeline complain in either order.
    assert [pair for pair in pairs if said(pair[0]) != said(pair[1])] == []
    assert [o for o in held if o.changed] == []
