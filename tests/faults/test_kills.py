"""kill -9 at a random moment: repeating the command, or taking it back, recovers (90)."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from typing import TYPE_CHECKING

import pytest

from tests.faults.scene import apply_scene, batch_scene
from tests.faults.strace import Ended, environment
from tests.faults.trial import Trial, check_apply, check_batch, check_run
from tests.forms import LONG, SEED

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.faults.trial import Check

    Say = Callable[[str], None]

ROUNDS = 40 if LONG else 2
FIRST = SEED % 12  # of the numbers of rounds, by which what is killed and checked goes by turns

pytestmark = pytest.mark.slow


def kill_often(trial: Trial, check: Check) -> str:
    """Kill the command `ROUNDS` times, half of them with the git that it has started."""
    seed = random.randrange(10**9)  # noqa: S311 – it only chooses moments
    chance = random.Random(seed)  # noqa: S311 – the same
    trial.scene.restore()
    started_at = time.monotonic()
    trial.again()
    whole_s = time.monotonic() - started_at
    wrong, hits = [], 0
    for number in range(FIRST, FIRST + ROUNDS):
        trial.scene.restore()
        ended = killed_after(trial, chance.uniform(0.2, 1.1) * whole_s, group=number % 4 < 2)
        hits += ended.code != 0
        if said := trial.problem(check, ended, number):
            wrong.append(f"round {number}: {said}")
    assert not wrong, f"seed {seed}, {len(wrong)} of {ROUNDS}:\n" + "\n".join(wrong)
    return f"{' '.join(trial.words[:2])}: {ROUNDS} kills, {hits} before its end, all recovered"


def killed_after(trial: Trial, delay_s: float, *, group: bool) -> Ended:
    """Start the command and kill it, unless it has ended by then."""
    process = subprocess.Popen(
        trial.scene.command(*trial.words),
        cwd="/",
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        process.wait(delay_s)
    except subprocess.TimeoutExpired:
        (os.killpg if group else os.kill)(process.pid, signal.SIGKILL)
    return Ended(process.wait(), "", "")


@pytest.mark.requirement("PL-12")
def test_a_killed_batch_is_done_once_when_repeated(tmp_path: Path, say: Say) -> None:
    trial = Trial(batch_scene(tmp_path / "scene"), "plan", "batch", "--file", "answers/edits.json")
    say(kill_often(trial, check_batch))


@pytest.mark.requirement("PL-31")
def test_a_killed_apply_is_finished_or_taken_back(tmp_path: Path, say: Say) -> None:
    trial = Trial(apply_scene(tmp_path / "scene"), "exec", "apply")
    say(kill_often(trial, check_apply))


@pytest.mark.requirement("FC-1")
def test_a_killed_execution_is_finished_or_taken_back(tmp_path: Path, say: Say) -> None:
    trial = Trial(apply_scene(tmp_path / "scene"), "exec", "run")
    say(kill_often(trial, check_run))
