"""Every system call that changes something fails in turn, and repeating the command recovers (90).

A few points in the short form, all of them in the long one. A fault is KILL, EIO or ENOSPC, in our
own process or in a git that it starts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.faults import strace
from tests.faults.scene import apply_scene, batch_scene
from tests.faults.trial import (
    Trial,
    check_apply,
    check_batch,
    check_commit,
    check_run,
    check_undo,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Say = Callable[[str], None]

pytestmark = [
    pytest.mark.skipif(strace.PROGRAM is None, reason="strace is not there to make faults with"),
    pytest.mark.slow,
]


@pytest.mark.requirement("PL-12")
def test_a_batch_is_done_once_whatever_fails_on_the_way(tmp_path: Path, say: Say) -> None:
    trial = Trial(batch_scene(tmp_path / "scene"), "plan", "batch", "--file", "answers/edits.json")
    say(trial.fail_everywhere(tmp_path / "trace", 2, check_batch))


@pytest.mark.requirement("PL-31")
def test_an_apply_ends_whole_or_not_at_all_whatever_fails_on_the_way(
    tmp_path: Path, say: Say
) -> None:
    trial = Trial(apply_scene(tmp_path / "scene"), "exec", "apply")
    say(trial.fail_everywhere(tmp_path / "trace", 2, check_apply))


@pytest.mark.requirement("PL-31")
def test_an_undo_ends_whole_whatever_fails_on_the_way(tmp_path: Path, say: Say) -> None:
    trial = Trial(apply_scene(tmp_path / "scene", "applied"), "undo")
    say(trial.fail_everywhere(tmp_path / "trace", 1, check_undo))


@pytest.mark.requirement("PL-29")
def test_a_commit_is_made_once_whatever_fails_on_the_way(tmp_path: Path, say: Say) -> None:
    trial = Trial(apply_scene(tmp_path / "scene", "applied"), "exec", "commit")
    say(trial.fail_everywhere(tmp_path / "trace", 1, check_commit))


@pytest.mark.requirement("FC-1")
def test_a_plan_is_carried_out_once_whatever_fails_on_the_way(tmp_path: Path, say: Say) -> None:
    trial = Trial(apply_scene(tmp_path / "scene"), "exec", "run")
    say(trial.fail_everywhere(tmp_path / "trace", 2, check_run))
