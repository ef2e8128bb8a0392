"""Every system call that changes something fails in turn, and repeating the command recovers (90).

A few points in the short form, all of them with PLANNER_LONG=1. A fault is KILL, EIO or ENOSPC, in
our own process or in a git that it starts.
"""

from __future__ import annotations

import os
from itertools import product
from typing import TYPE_CHECKING

import pytest

from tests.faults import scene as scenes
from tests.faults import strace

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.faults.scene import Scene
    from tests.faults.strace import Ended

LONG = os.environ.get("PLANNER_LONG") == "1"
KILLED = (-9, 137)

pytestmark = [
    pytest.mark.skipif(strace.PROGRAM is None, reason="strace is not there to make faults with"),
    pytest.mark.slow,
]


@pytest.fixture
def say(capsys: pytest.CaptureFixture[str]) -> Callable[[str], None]:
    """Return a function that prints although pytest captures."""

    def print_now(text: str) -> None:
        with capsys.disabled():
            print(f"\n  {text}", end="", flush=True)

    return print_now


class Trial:
    """One command of one scene, failed at its points; `check` holds what recovery means."""

    def __init__(self, scene: Scene, folder: Path, *words: str) -> None:
        self.scene, self.words = scene, words
        self.tracer = strace.Tracer(folder)
        self.points = self.tracer.points(scene.command(*words))
        self.after = scene.tree()
        self.plan = scene.plan_bytes()
        self.history = scene.history()

    def run(self, wanted: int, check: Callable[[Trial, Ended, int], None]) -> str:
        """Fail at about `wanted` points, or at all; return the figures, raise what was found."""
        every = list(product(self.points, strace.FAULTS))
        # A step that three does not divide takes the faults in turn.
        step = 1 if LONG else max(1, len(every) // wanted) // 3 * 3 + 1
        chosen = every[::step]
        wrong = []
        for number, (point, fault) in enumerate(chosen):
            self.scene.restore()
            ended = self.tracer.fail(point, fault, self.scene.command(*self.words))
            try:
                self._check_answer(ended)
                check(self, ended, number)
                assert self.scene.leftovers() == []
            except AssertionError as error:
                wrong.append(f"{fault} at {tuple(point)}: {str(error)[:600]}\n{ended.text[:600]}")
        assert not wrong, f"{len(wrong)} of {len(chosen)}:\n" + "\n".join(wrong)
        own = sum(point.process == 0 for point in self.points)
        rest = len(self.points) - own
        return f"{' '.join(self.words[:2])}: {own} + {rest} (git) points, {len(chosen)} faults"

    def _check_answer(self, ended: Ended) -> None:
        assert ended.code in {0, 1, *KILLED}, ended.errors[-900:]
        assert "Traceback" not in ended.errors, ended.errors[-900:]
        self.scene.check_state()

    def again(self, *words: str) -> Ended:
        """Run a command that must work now."""
        done = self.scene.run(*(words or self.words))
        assert done.code == 0, done.text + done.errors[-900:]
        return done


def check_batch(trial: Trial, _: Ended, __: int) -> None:
    assert trial.scene.plan_bytes() in {trial.plan, _kept_plan(trial.scene)}
    assert "DL-001" in trial.again().text
    assert trial.scene.plan_bytes() == trial.plan
    assert trial.scene.tree() == trial.scene.before


def _kept_plan(scene: Scene) -> bytes:
    return (scene.kept / scene.state_dir.relative_to(scene.live) / "plan.json").read_bytes()


def check_apply(trial: Trial, ended: Ended, number: int) -> None:
    scene = trial.scene
    if ended.code not in KILLED:
        assert scene.tree() in (scene.before, trial.after), "half applied after a refusal"
    if number % 2:
        trial.again()
        assert (scene.tree(), scene.journal()) == (trial.after, "applied")
    else:
        begun = scene.journal() not in {None, "undone"}
        taken_back = scene.run("undo")
        assert taken_back.code == (0 if begun else taken_back.code), taken_back.text
        assert scene.tree() == scene.before
        assert scene.journal() in {None, "undone"}
    assert scene.repo.git("rev-list", "--count", "HEAD") == "1"


def check_undo(trial: Trial, _: Ended, __: int) -> None:
    trial.again()
    assert (trial.scene.tree(), trial.scene.journal()) == (trial.after, "undone")


def check_commit(trial: Trial, _: Ended, __: int) -> None:
    assert "Proved" in trial.again().text
    assert trial.scene.history() == trial.history
    assert trial.scene.tree() == trial.after


@pytest.mark.requirement("PL-12")
def test_a_batch_is_done_once_whatever_fails_on_the_way(
    tmp_path: Path, say: Callable[[str], None]
) -> None:
    scene = scenes.batch_scene(tmp_path / "scene")
    trial = Trial(scene, tmp_path / "trace", "plan", "batch", "--file", "answers/edits.json")
    say(trial.run(14, check_batch))


@pytest.mark.requirement("PL-31")
def test_an_apply_ends_whole_or_not_at_all_whatever_fails_on_the_way(
    tmp_path: Path, say: Callable[[str], None]
) -> None:
    scene = scenes.apply_scene(tmp_path / "scene")
    say(Trial(scene, tmp_path / "trace", "exec", "apply").run(14, check_apply))


@pytest.mark.requirement("PL-31")
def test_an_undo_ends_whole_whatever_fails_on_the_way(
    tmp_path: Path, say: Callable[[str], None]
) -> None:
    scene = scenes.apply_scene(tmp_path / "scene", "commit")
    say(Trial(scene, tmp_path / "trace", "undo").run(6, check_undo))


@pytest.mark.requirement("PL-29")
def test_a_commit_is_made_once_whatever_fails_on_the_way(
    tmp_path: Path, say: Callable[[str], None]
) -> None:
    scene = scenes.apply_scene(tmp_path / "scene", "commit")
    say(Trial(scene, tmp_path / "trace", "exec", "commit").run(6, check_commit))
