"""kill -9, EIO and ENOSPC while agents write: repeated, nothing is lost and nothing done twice."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.faults import strace
from tests.faults.trial import Trial
from tests.faults.waves import progress, waves_scene
from tests.forms import part

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.faults.strace import Ended

    Say = Callable[[str], None]

FAULTS = 2

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(strace.PROGRAM is None, reason="strace is not there to make faults with"),
]


@pytest.mark.requirement("PL-27")
@pytest.mark.parametrize("point", part(["exec apply", "exec done", "exec next"], 3, outer=True))
def test_a_wave_that_is_killed_anywhere_ends_the_same_when_repeated(
    tmp_path: Path, say: Say, point: str
) -> None:
    scene, words = waves_scene(tmp_path / "scene", point)
    trial = Trial(scene, *words)
    wanted = progress(scene)

    def check(trial: Trial, ended: Ended, __: int) -> None:
        assert trial.scene.tree() == trial.scene.before, "the user's tree is not touched"
        if ended.code:
            trial.again()
        assert progress(trial.scene) == wanted
        assert trial.scene.tree() == trial.scene.before
        again = progress(trial.scene)
        trial.scene.run(*words)
        assert progress(trial.scene) == again, "repeated, it changes nothing"

    say(trial.fail_everywhere(tmp_path / "trace", FAULTS, check))
