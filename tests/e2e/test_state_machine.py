"""One state machine over a whole run: whatever comes between, what is the user's is kept."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.e2e.machine import RunMachine
from tests.forms import LONG

EXAMPLES = 150 if LONG else 25
STEPS = 25 if LONG else 15
# Minutes of shrinking are for who looks for the cause.
SHRINK = LONG


@pytest.mark.slow
@pytest.mark.requirement("PL-26", "PL-29", "PL-31", "PL-32")
def test_whatever_comes_between_a_run_keeps_what_is_the_users_and_comes_to_its_end() -> None:
    run_state_machine_as_test(
        RunMachine,
        settings=settings(
            max_examples=EXAMPLES,
            stateful_step_count=STEPS,
            report_multiple_bugs=False,
            phases=[Phase.generate, Phase.shrink] if SHRINK else [Phase.generate],
            suppress_health_check=list(HealthCheck),
        ),
    )
