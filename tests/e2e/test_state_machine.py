"""One state machine over a whole run: whatever comes between, what is the user's is kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.e2e.machine import RunMachine
from tests.e2e.talking import EveryMachine, TalkingMachine
from tests.forms import LONG

if TYPE_CHECKING:
    from hypothesis.stateful import RuleBasedStateMachine

STEPS = 25 if LONG else 15
# Minutes of shrinking are for who looks for the cause.
SHRINK = LONG


def run_machine(machine: type[RuleBasedStateMachine], examples: int) -> None:
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=examples,
            stateful_step_count=STEPS,
            report_multiple_bugs=False,
            phases=[Phase.generate, Phase.shrink] if SHRINK else [Phase.generate],
            suppress_health_check=list(HealthCheck),
        ),
    )


@pytest.mark.slow
@pytest.mark.requirement("PL-26", "PL-29", "PL-31", "PL-32")
def test_whatever_comes_between_a_run_keeps_what_is_the_users_and_comes_to_its_end() -> None:
    run_machine(RunMachine, 150 if LONG else 11)


@pytest.mark.slow
@pytest.mark.requirement("SD-1", "SD-2", "SD-3", "SD-7")
def test_whatever_is_said_between_is_frozen_once_with_what_became_of_it() -> None:
    run_machine(TalkingMachine, 100 if LONG else 7)


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.requirement("SD-1", "SD-2", "SD-3", "SD-7")
def test_what_is_said_is_frozen_whatever_else_comes_between() -> None:
    run_machine(EveryMachine, 100)
