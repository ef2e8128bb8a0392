"""What a person sees of a run: the bar, the panel, the screen to watch with its bell (PC-16)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from orchestrator.run.panel import (
    bar,
    in_words,
    panel,
    questions,
    ticker,
    to_type,
    waits_for_person,
    where,
)
from orchestrator.run.status import watch
from shared.execution.costs import WARNING
from shared.execution.progress import View
from tests.journey import words_of
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


@pytest.mark.parametrize(
    ("workflow", "step", "does"),
    [
        ("planner", 2, "Understanding the task"), ("planner", 3, "Designing"),
        ("planner", 5, "Reviewing the design"), ("planner", 6, "Writing the code"),
        ("planner", 7, "Reviewing the code"), ("planner", 8, "Reviewing the code"),
        ("planner", 9, "Writing the documentation"),
        ("planner", 11, "Reviewing the documentation"),
        ("executor", 1, "Submitted for approval"), ("executor", 2, "Approved, to be carried out"),
        ("executor", 3, "Writing the code"), ("executor", 6, "Writing the documentation"),
        ("executor", 9, "Applied, to be committed"), ("strategy", 2, "Deciding whether to plan"),
        ("strategy", 1, "Gathering what the decision needs"),
        ("strategy", 3, "Asking what is meant"), ("strategy", 4, "Finding out"),
        ("strategy", 5, "Writing the answer"), ("strategy", 6, "Judging the answer"),
        ("strategy", 7, "Making a workflow"), ("requirements", 4, "Working on the requirements"),
    ],
)  # fmt: skip
def test_a_run_says_in_words_what_is_done_and_who_has_to_go_on(
    workflow: str, step: int, does: str, tmp_path: Path
) -> None:
    scene = Scene(tmp_path, [milestone(1, "a.py")])
    state = scene.place(workflow=workflow, step=step, stage="gathering", depth="full")
    view = View(state) if workflow in ("planner", "executor") else None
    assert where(state) == does
    counted = r", step \d+ of \d+" if view else ""
    assert re.fullmatch(f"{does}{counted} – waits for the assistant", in_words(state, view))
    assert ticker(state, view).startswith(f"Parse dates · {does}")
    state = scene.place(stage="submitted")
    assert where(state) == "waits for your approval"
    assert in_words(state, view).endswith(" – waits for you")
    state = scene.place(status="PAUSED")
    assert re.fullmatch(f"{does}{counted} – paused", in_words(state, view))
    assert where(state) == "paused"
    state = scene.place(status="CANCELLED")
    assert in_words(state, view) == "Cancelled"
    assert where(state) == "cancelled"


def test_the_line_of_a_run_under_way_counts_what_holds_it(tmp_path: Path) -> None:
    scene = Scene(
        tmp_path,
        [milestone(1, "a.py"), milestone(2, "b.py", waits_for=["CP-001"]), milestone(3, "c.py")],
        [checkpoint(1)],
    )
    scene.place(request="Parse dates " + "very " * 20)
    scene.do("begin")
    scene.do("start", "M-001")
    state = scene.state()
    goal = "Parse dates very very very very very ve…"
    assert ticker(state, View(state)).split(" · ")[0] == goal
    assert ticker(state, View(state)).split(" · ")[2:] == ["0/3", "1 decision", "1 agent"]
    scene.do("block", "M-001", "no disk")
    assert ticker(scene.state(), scene.view()).split(" · ")[2:] == [
        "0/3", "1 decision", "⚠ 1 blocked"
    ]  # fmt: skip
    assert questions(scene.state(), scene.view()) == [
        "CP-001 Login: Which way, 1? – one of jwt (Tokens), session (Sessions)"
    ]
    shown = dict(to_type(scene.state(), scene.view()))
    assert [*shown] == ["CP-001 jwt", "CP-001 session", "M-001 retry"]
    assert words_of(shown["M-001 retry"])[:2] == ["retry", "M-001"]
    assert words_of(shown["CP-001 session"])[:3] == ["decide", "CP-001", "session"]


@pytest.mark.requirement("PC-16")
def test_the_line_warns_of_the_assistants_context_at_every_step(tmp_path: Path) -> None:
    scene = Scene(tmp_path, [milestone(1, "a.py")])
    warned = {"step_id": "", "resource": "context", "used": 90, "limit": 100, "percent": 90,
              "notes": "Compact it."}  # fmt: skip
    for workflow, step in (("planner", 3), ("planner", 6), ("strategy", 1), ("executor", 3)):
        state = scene.place(workflow=workflow, step=step, stage="gathering", status="ACTIVE")
        with state.database as database:
            database.event(state.run, WARNING, warned)
        view = None if workflow == "strategy" else View(state)
        assert ticker(state, view).endswith(" · ⚠ the assistant used 90 % of its context")
    ended = scene.place(status="CANCELLED")
    assert "⚠" not in ticker(ended, View(ended)), "nobody can compact it any more"


@pytest.mark.requirement("PC-5")
def test_the_panel_names_who_carries_out_a_milestone_where_the_plan_says_so(
    tmp_path: Path,
) -> None:
    rows = [
        milestone(1, "a.py", owner="frontend team"),
        milestone(2, "b.py", owner="frontend team", delegated_to="docs-bot"),
        milestone(3, "c.py"),
    ]
    view = Scene(tmp_path, rows).view()
    shown = {line.split()[1]: line for line in panel(view) if " M-" in line}
    assert shown["M-001"].endswith(" · by frontend team")
    assert shown["M-002"].endswith(" · by docs-bot")
    assert " · by " not in shown["M-003"]
