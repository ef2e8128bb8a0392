"""kill -9 of each command of whole runs, while the user works on: nothing is lost or stuck (90).

About two hundred kills: each single moment of a command is tried by other tests, here is seen what
several of them leave together. In the short form tests/e2e/test_state_machine.py does that.
"""

from __future__ import annotations

import contextlib
import random
from typing import TYPE_CHECKING

import pytest

from tests.e2e.test_disturbances import DISTURBANCES, MARK, MARKED, assert_kept
from tests.forms import SEED
from tests.journey import FILES, Journey, words_of
from tests.kills import killed_at
from tests.ways_out import ENDED, Walk

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

RUNS = 100  # about two kills a run come before the end of their command
MOST_COMMANDS = 25
LATEST_MOMENT = 90
REFUSED = 1
# After these the run is gone, or is to be ended by hand: tests/e2e/test_disturbances.py has them.
HARMLESS = [name for name in DISTURBANCES if name not in {"clean", "second run"}]


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.requirement("PL-12", "PL-31")
@pytest.mark.parametrize("number", range(RUNS))
def test_a_run_whose_commands_are_killed_while_the_user_works_comes_to_its_end(
    make_repo: Callable[..., Repository], number: int, record_property: Callable[[str, int], None]
) -> None:
    chance = random.Random(f"{SEED} {number}")  # noqa: S311 – it only chooses moments
    journey = Journey(make_repo("project", FILES)).to("context")
    walk, kills, disturbed = Walk(journey), 0, False
    for _ in range(MOST_COMMANDS):
        if walk.status()["status"] in ENDED:
            break
        if not disturbed and chance.random() < 0.2:
            how = chance.choice(HARMLESS)
            DISTURBANCES[how](journey)
            disturbed = True
        kills += killed(journey, chance.randint(1, LATEST_MOMENT))
        walk.go_on()
        walk.one_block()
    else:
        walk.to_the_end()
    record_property("kills", kills)
    if disturbed and how in MARKED:
        assert_kept(journey, MARK)


def killed(journey: Journey, moment: int) -> bool:
    """Do what the block asks, and kill the command that it names at some moment."""
    command = journey.last.person()
    if "approve" not in command:
        command = journey.last.next()
        with contextlib.suppress(FileNotFoundError):
            journey.do_the_work()
    folder = journey.repository.path
    return killed_at(moment, folder, *words_of(command), codes=(0, REFUSED))
