"""What a person sees of a run: the bar, the panel, the screen to watch with its bell (PC-16)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from orchestrator.run.panel import bar, panel, waits_for_person
from orchestrator.run.status import watch
from tests.shared.execution.scene import OPTIONS, Scene, checkpoint, milestone

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.requirement("PC-16")


@pytest.mark.parametrize(
    ("done", "total", "shown"),
    [
        (3, 10, "[████░░░░░░░░░░░] 3/10"), (0, 10, "[░░░░░░░░░░░░░░░] 0/10"),
        (10, 10, "[███████████████] 10/10"), (0, 0, "[░░░░░░░░░░░░░░░] 0/0"),
    ],
)  # fmt: skip
def test_the_bar_fills_as_milestones_are_done(done: int, total: int, shown: str) -> None:
    assert bar(done, total) == shown


def test_what_a_terminal_would_obey_is_shown_as_text(tmp_path: Path) -> None:
    scene = Scene(tmp_path, [milestone(1, "a.py") | {"name": "Part\x1b[2J\nof"}])
    lines = panel(scene.view())
    assert lines[-1] == "  · M-001 Part\\x1b[2J\\nof"


def test_a_run_is_watched_until_it_ends_and_rings_once_when_it_waits(tmp_path: Path) -> None:
    scene = Scene(tmp_path, [milestone(1, "a.py"), milestone(2, "b.py", waits_for=["CP-001"])],
                  [checkpoint(1)])  # fmt: skip
    scene.do("begin")
    steps: list[Callable[[], object]] = [
        lambda: scene.do("start", "M-001"), lambda: scene.do("succeed", "M-001"),
        lambda: None, lambda: scene.do("decide", "CP-001", ["jwt"]),
        lambda: scene.do("start", "M-002"), lambda: scene.do("block", "M-002", "no disk"),
        lambda: scene.move("cancel"),
    ]  # fmt: skip

    def next_step() -> None:
        steps.pop(0)()

    seen = list(watch(scene.state_dir, next_step))
    assert [rings for _, rings in seen] == [False, False, True, False, False, True, False]
    screens = [text for text, _ in seen]
    assert "To type:" in screens[2]
    assert "decide CP-001 jwt" in screens[2]
    assert "M-001 IN_PROGRESS → COMPLETED" in screens[2], "the change is a notice"
    assert "CP-001 asked: Which way, 1?" in screens[0]
    assert "started: Parse dates, 2 milestones" in screens[0]
    assert "ended CANCELLED: 1 of 2 milestones" in screens[-1]
    assert "To type:" not in screens[-1]


def test_a_run_waits_for_its_person_only_when_nothing_else_can_go_on(tmp_path: Path) -> None:
    scene = Scene(tmp_path, [milestone(1, "a.py"), milestone(2, "b.py", waits_for=["CP-001"])],
                  [checkpoint(1)])  # fmt: skip
    scene.do("begin")
    assert not waits_for_person(scene.state(), scene.view())
    scene.do("start", "M-001")
    assert not waits_for_person(scene.state(), scene.view())
    scene.do("succeed", "M-001")
    assert waits_for_person(scene.state(), scene.view())
    scene.do("decide", "CP-001", ["jwt"])
    scene.do("start", "M-002")
    scene.do("ask", "M-002", [{"question": "Which?", "options": OPTIONS}])
    assert waits_for_person(scene.state(), scene.view())
    scene.move("pause")
    assert not waits_for_person(scene.state(), scene.view())


def test_a_run_that_only_a_rate_limit_holds_does_not_wait_for_its_person(tmp_path: Path) -> None:
    scene = Scene(tmp_path, [milestone(1, "a.py"), milestone(2, "b.py")], max_parallel_steps=2)
    scene.do("begin")
    scene.do("start", "M-001")
    scene.do("start", "M-002")
    scene.do("block", "M-002", "no disk")
    scene.do("hold_off", "M-001", 1)
    assert scene.view().runnable() == []
    assert not waits_for_person(scene.state(), scene.view())


def test_a_submitted_plan_waits_for_its_person_also_before_anything_has_begun(
    tmp_path: Path,
) -> None:
    scene = Scene(tmp_path, [milestone(1, "a.py")])
    assert not waits_for_person(scene.state(), scene.view())
    state = scene.state()
    state.database.connection.execute("UPDATE runs SET stage='submitted'")
    state.reload()
    assert waits_for_person(state, scene.view())
    scene.move("cancel")
    assert not waits_for_person(scene.state(), scene.view())
