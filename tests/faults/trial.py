"""Makes a command of a scene fail and checks that it recovers."""

from __future__ import annotations

import json
import os
import random
import re
from stat import S_ISDIR
from typing import TYPE_CHECKING

from tests.faults import strace
from tests.faults.scene import without_times
from tests.forms import LONG, SEED, some

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from tests.faults.scene import Scene
    from tests.faults.strace import Ended, Point

    Check = Callable[["Trial", Ended, int], None]

KILLED = (-9, 137)
OF_GIT = 0.25  # of the points in git, how many get an error in the long form
MOST_LOCKS = 3  # of one git: it may hold those of HEAD, of the branch and of all packed refs


def chosen(points: Sequence[Point], wanted: int) -> list[tuple[Point, str]]:
    """Return what to make fail, and how: `wanted` points or a few more, the faults in turn.

    In the long form each point is killed, and one of the errors is drawn for each of our own and
    for each fourth of git's: a git that fails is told by its exit code, wherever that was.
    """
    if not LONG:
        turn = enumerate(some(points, wanted), SEED)
        return [(point, strace.FAULTS[number % len(strace.FAULTS)]) for number, point in turn]
    chance, (kill, *errors) = random.Random(SEED), strace.FAULTS  # noqa: S311 – it only chooses
    failing = [p for p in points if not p.process or chance.random() < OF_GIT]
    return [(point, kill) for point in points] + [(p, chance.choice(errors)) for p in failing]


class Trial:
    """One command of one scene; what it leaves when nothing fails is found out first."""

    def __init__(self, scene: Scene, *words: str) -> None:
        self.scene, self.words = scene, words
        self.again()
        self.after = scene.tree()
        self.plan = scene.plan_bytes()
        self.history = scene.history()

    def fail_everywhere(self, folder: Path, wanted: int, check: Check) -> str:
        """Fail at `wanted` points, or at all; return the figures, raise what was found."""
        tracer = strace.Tracer(folder)
        self.scene.restore()
        points = tracer.points(self.scene.command(*self.words))
        faults, wrong = chosen(points, wanted), []
        for number, (point, fault) in enumerate(faults, SEED % 6):  # what is checked goes by turns
            self.scene.restore()
            ended = tracer.fail(point, fault, self.scene.command(*self.words))
            if said := self.problem(check, ended, number):
                wrong.append(f"{fault} at {tuple(point)}: {said}")
        assert not wrong, f"{len(wrong)} of {len(faults)}:\n" + "\n".join(wrong)
        own = sum(point.process == 0 for point in points)
        name, gits = " ".join(self.words[:2]), len(points) - own
        return f"{name}: {own} points, {gits} in git; {len(faults)} faults, all recovered"

    def problem(self, check: Check, ended: Ended, number: int) -> str:
        """Return what is wrong after a fault and its recovery, or ''."""
        try:
            self._check_answer(ended)
            check(self, ended, number)
            assert self.scene.leftovers() == []
        except AssertionError as error:
            return f"{str(error)[:600]}\n{ended.text[:600]}"
        return ""

    def _check_answer(self, ended: Ended) -> None:
        assert ended.code in {0, 1, *KILLED}, ended.errors[-900:]
        assert "Traceback" not in ended.errors, ended.errors[-900:]
        self.scene.check_state()

    def again(self, *words: str) -> Ended:
        """Run a command that must work now, or once the locks of a killed git are removed."""
        done = self.scene.run(*(words or self.words))
        for _ in range(MOST_LOCKS):
            left = re.search(r'kind="locked" at="([^"]+/\.git/[^"]+\.lock)"', done.text)
            if left is None:
                break
            os.unlink(left[1])
            done = self.scene.run(*(words or self.words))
        assert done.code == 0, done.text + done.errors[-900:]
        return done


def check_batch(trial: Trial, _: Ended, __: int) -> None:
    assert trial.scene.plan_bytes() in {trial.plan, _kept_plan(trial.scene)}
    assert "DL-001" in trial.again().text
    assert trial.scene.plan_bytes() == trial.plan
    assert trial.scene.tree() == trial.scene.before


def _kept_plan(scene: Scene) -> bytes:
    kept = scene.kept / scene.state_dir.relative_to(scene.live) / "plan.json"
    return without_times(kept.read_bytes())


def check_apply(trial: Trial, ended: Ended, number: int) -> None:
    scene = trial.scene
    if ended.code not in KILLED:
        assert scene.tree() in (scene.before, trial.after), "half applied after a refusal"
    if number % 2:
        trial.again()
        assert (scene.tree(), scene.journal()) == (trial.after, "applied")
    else:
        started = scene.journal() not in {None, "undone"}
        taken_back = scene.run("undo")
        assert taken_back.code == (0 if started else taken_back.code), taken_back.text
        assert scene.tree() == scene.before
        assert scene.journal() in {None, "undone"}
    assert scene.repo.git("rev-list", "--count", "HEAD") == "1"


def check_undo(trial: Trial, _: Ended, __: int) -> None:
    trial.again()
    # A folder that the system would not remove stays: it is empty, and git does not know it.
    tree = {path: entry for path, entry in trial.scene.tree().items() if not S_ISDIR(entry[0])}
    assert (tree, trial.scene.journal()) == (trial.after, "undone")


def check_commit(trial: Trial, _: Ended, __: int) -> None:
    assert "Proved" in trial.again().text
    assert trial.scene.history() == trial.history
    assert trial.scene.tree() == trial.after
    check_ref(trial)


def check_run(trial: Trial, _: Ended, number: int) -> None:
    """Finish it with the same command, or with its parts, or take back what is not committed."""
    scene = trial.scene
    committed = scene.repo.git("rev-list", "--count", "HEAD") == "2"
    if number % 3 == 1:
        trial.again("exec", "apply")
        assert "Proved" in trial.again("exec", "commit").text
    elif number % 3 == 2 and not committed and scene.journal() not in {None, "undone"}:
        trial.again("undo")
        assert scene.tree() == scene.before
    assert "Proved" in trial.again().text
    assert scene.history() == trial.history
    assert scene.tree() == trial.after
    check_ref(trial)


def check_ref(trial: Trial) -> None:
    """Check that one ref is there, with the plan and the approval of the commit."""
    git = trial.scene.repo.git
    shape = ("for-each-ref", "--format=%(refname)", "refs/planner", "refs/planner-drafts")
    [kept] = git(*shape).split()
    assert json.loads(git("show", f"{kept}:approval.json"))["commit"] == git("rev-parse", "HEAD")
