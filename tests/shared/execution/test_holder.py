"""Only one instance executes a run; another takes over when that one is dead (PC-10)."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from shared.execution import holder
from shared.resources import ROOT
from tests.journey import FILES, Journey, call
from tests.shared.execution.scene import Scene, milestone
from tests.state.plans import refusal

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.conftest import Repository

pytestmark = pytest.mark.requirement("PC-10")

HOLD = """
import sys
sys.path.insert(0, sys.argv[1])
from shared.execution.holder import hold
from shared.run import open_state
hold(open_state(sys.argv[2], "/"))
"""


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    """Return a run with two milestones, nothing in progress."""
    made = Scene(tmp_path, [milestone(1, "a.py"), milestone(2, "b.py")], max_parallel_steps=2)
    made.do("begin")
    return made


def hold_from(scene: Scene, instance: str, *, lives: bool) -> None:
    """Hold the run from an instance whose client has ended, or is the process that runs us."""
    python = [sys.executable, "-c", HOLD, ROOT, scene.state_dir]
    words = (
        python if lives else ["sh", "-c", f'{holder.VARIABLE}={instance} "$@"; true', "sh", *python]
    )
    environment = dict(os.environ) | ({holder.VARIABLE: instance} if lives else {})
    subprocess.run(words, check=True, env=environment)


def test_another_instance_is_told_who_holds_the_run(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    hold_from(scene, "one", lives=True)
    monkeypatch.setenv(holder.VARIABLE, "two")
    (problem,) = refusal(holder.hold, scene.state())
    assert problem.kind == "locked"
    assert f"another instance executes this run: one (process {os.getpid()} on" in problem.problem
    monkeypatch.setenv(holder.VARIABLE, "one")
    holder.hold(scene.state())


def test_a_living_holder_is_not_taken_over_from(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    hold_from(scene, "one", lives=True)
    scene.do("start", "M-001")
    monkeypatch.setenv(holder.VARIABLE, "two")
    answer = call(os.sep, "resume", "--take-over", "--state-dir", scene.state_dir)
    assert (answer.code, answer.problems[0][0]) == (1, "locked")
    assert scene.statuses()["M-001"] == "IN_PROGRESS"


def test_a_dead_holder_is_taken_over_from_by_the_printed_command(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    hold_from(scene, "one", lives=False)
    scene.do("start", "M-001", "agent-1")
    scene.do("start", "M-002", "agent-2")
    scene.do("succeed", "M-002")
    monkeypatch.setenv(holder.VARIABLE, "two")
    (problem,) = refusal(holder.hold, scene.state())
    assert problem.retry == "planner resume --take-over"
    for _ in range(2):
        assert call(os.sep, "resume", "--take-over", "--state-dir", scene.state_dir).code == 0
        assert scene.statuses() == {"M-001": "PENDING", "M-002": "COMPLETED"}
    state = scene.state()
    assert [r["action"] for r in state.database.audit_rows(state.run)].count("take over") == 1
    holder.hold(state)


@pytest.mark.parametrize(("at", "lives"), [("2000-01-01T00:00:00Z", False), ("2999-01-01", True)])
def test_a_holder_that_cannot_be_seen_lives_while_its_commands_come(
    scene: Scene, at: str, *, lives: bool
) -> None:
    state = scene.state()
    with state.database as database:
        database.set_holder(state.run, "one", "another machine", 7, "1")
    state.database.connection.execute("UPDATE holders SET at=?", (at,))
    found = state.database.holder(state.run)
    assert found is not None
    assert holder.is_alive(found) == lives


def test_a_process_that_has_ended_and_was_not_waited_for_does_not_live(scene: Scene) -> None:
    child = subprocess.Popen(["cat"], stdin=subprocess.PIPE)
    began = holder._started(child.pid)
    state = scene.state()
    with state.database as database:
        database.set_holder(state.run, "one", os.uname().nodename, child.pid, began)
    found = state.database.holder(state.run)
    assert found is not None
    assert holder.is_alive(found)
    assert child.stdin is not None
    child.stdin.close()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert not holder.is_alive(found)
    child.wait()


def test_anybody_may_pause_decide_and_look_while_another_executes(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    hold_from(scene, "one", lives=True)
    scene.do("start", "M-001")
    scene.do("block", "M-001", "no disk")
    monkeypatch.setenv(holder.VARIABLE, "two")
    for argv in (("status",), ("retry", "M-001"), ("pause",), ("resume",), ("cancel",)):
        assert call(os.sep, *argv, "--state-dir", scene.state_dir).code == 0, argv
    state = scene.state()
    assert state.database.holder(state.run) is None, "nobody holds a run that has ended"


def test_what_is_refused_does_not_make_its_instance_the_holder(
    make_repo: Callable[..., Repository], monkeypatch: pytest.MonkeyPatch
) -> None:
    journey = Journey(make_repo("project", FILES)).to("approved")
    journey.repository.write("src/a.py", "mine\n")
    monkeypatch.setenv(holder.VARIABLE, "one")
    assert journey.planner("exec", "apply").code == 1
    journey.repository.git("checkout", "--", "src/a.py")
    monkeypatch.setenv(holder.VARIABLE, "two")
    assert journey.planner("exec", "apply").code == 0
    journey.repository.write("src/a.py", "mine\n")
    assert journey.planner("exec", "commit").code == 1
    monkeypatch.setenv(holder.VARIABLE, "one")
    assert "another instance executes this run: two" in journey.planner("exec", "commit").text
