"""Which step a workflow prints: the due one, a done one, or why there is none (PL-1, PL-13)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from shared.steps.entry_points import find_workflow
from shared.steps.printing import print_current, print_step
from state.errors import Refused
from tests.journey import Answer
from tests.shared.execution.scene import Scene, milestone

if TYPE_CHECKING:
    from pathlib import Path
    from xml.etree import ElementTree as ET

pytestmark = pytest.mark.requirement("PL-1", "PL-13")


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    made = Scene(
        tmp_path, [milestone(1, "a.py")], verify=[], models={}, max_parallel_steps=2
    )  # fmt: skip
    made.place(workflow="planner", step=4, stage="gathering", depth="full")
    return made


def printed(scene: Scene, workflow: str, number: int | None, *, again: bool = False) -> ET.Element:
    text = print_step(find_workflow(workflow), number, scene.state(), again=again)
    return Answer(0, text, "").block


def refused(scene: Scene, workflow: str, number: int | None, *, again: bool = False) -> list[str]:
    with pytest.raises(Refused) as error:
        printed(scene, workflow, number, again=again)
    [problem] = error.value.problems
    return [problem.kind, problem.at, problem.problem, problem.allowed]


def test_a_done_step_says_so_and_leads_to_the_current_one(scene: Scene) -> None:
    block = printed(scene, "planner", 2)
    assert block.findtext("task") == "This step is done; go on."
    assert [(n.get("on"), (n.text or "").split()[1:3]) for n in block.iter("next")] == [
        ("done", ["step", "planner"])
    ]
    assert (block.get("number"), block.get("name")) == ("2", "context-verify")


def test_a_step_that_is_not_due_is_refused_with_the_current_one(scene: Scene) -> None:
    text = "step 6 is not due yet; the run is at step 4 (plan-design-qr)"
    assert refused(scene, "planner", 6) == ["conflict", "planner 6", text, "go on with step 4"]


def test_a_number_that_the_workflow_has_not_is_refused_with_its_steps(scene: Scene) -> None:
    kind, at, text, allowed = refused(scene, "planner", 12)
    assert (kind, at, text) == ("usage", "--step", "planner has no step 12")
    assert allowed.startswith("1 plan-init, 2 context-verify")
    assert allowed.endswith("11 plan-docs-qr-gate")


def test_the_executor_waits_for_the_plan_and_a_plan_for_the_strategy(scene: Scene) -> None:
    text = "this step is due once the plan is frozen (submitted)"
    assert refused(scene, "executor", 1)[1:3] == ["executor 1", text]
    scene.place(workflow="strategy", step=2, status="IDLE")
    text = "this step is due once the strategy asks for a plan"
    assert refused(scene, "planner", 3)[1:3] == ["planner 3", text]


@pytest.mark.parametrize("number", [1, 4, 6, None])
def test_a_paused_run_says_so_at_each_step_from_where_it_is(
    scene: Scene, number: int | None
) -> None:
    scene.move("pause")
    block = printed(scene, "planner", number)
    assert "paused" in (block.findtext("task") or "").lower()
    assert [n.get("on") for n in block.iter("next")] == ["resume"]
    assert (block.findtext("next") or "").split()[1] == "resume"


def test_a_run_that_has_ended_says_so_at_each_step(scene: Scene) -> None:
    scene.move("cancel")
    for number in (1, 4, 11, None):
        block = printed(scene, "planner", number)
        assert block.findtext("task") == "The run is cancelled. Nothing is left to do."
        assert not [*block.iter("next")]


def test_an_agents_workflow_is_refused_where_another_step_is_due(scene: Scene) -> None:
    kind, at, text, allowed = refused(scene, "plan-code", 1)
    assert (kind, at) == ("conflict", "plan-code")
    assert text == "plan-code has nothing to do now; the run is at planner step 4 (plan-design-qr)"
    assert allowed == "stop here, or go on with the current step"
    scene.place(step=3)
    assert printed(scene, "plan-design", None).get("workflow") == "plan-design"
    scene.move("pause")
    assert refused(scene, "plan-design", 1)[0] == "conflict"


def test_a_done_step_is_shown_again_with_its_commands_as_data(scene: Scene) -> None:
    first = printed(scene, "planner", 1, again=True)
    assert first.get("again") == "true"
    assert (first.findtext("task") or "").startswith("This step is done. It is only shown again")
    [asked] = [d.text or "" for d in first.iter("data") if d.get("name") == "what it asked for"]
    assert asked.startswith('<next on="done">')
    assert asked.count("<next") == 1
    [current] = [n.text or "" for n in first.iter("next")]
    assert current.split()[1:3] == ["step", "planner"]
    second = printed(scene, "planner", 2, again=True)
    words = [d.text or "" for d in second.iter("data") if d.get("name") == "request"]
    assert words == ["Parse dates"]


@pytest.mark.parametrize(
    ("workflow", "row", "said"),
    [
        ("planner 5", {"step": 6}, "the questions of plan-design are gone, since its review has"),
        ("strategy 2", {}, "this run has left strategy out"),
        ("requirements 1", {}, "this run has left requirements out"),
        ("planner 4", {"step": 6}, "the questions of plan-design are gone, since its review has"),
    ],
)
def test_what_cannot_be_shown_again_is_refused_with_its_reason(
    scene: Scene, workflow: str, row: dict[str, object], said: str
) -> None:
    name, _, number = workflow.partition(" ")
    if row:
        scene.place(**row)
    state = scene.state()
    with state.database as database:
        database.set_phase(state.run, "plan-design", "COMPLETE", 1)
    kind, at, text, allowed = refused(scene, name, int(number), again=True)
    assert (kind, at) == ("conflict", workflow)
    assert text.startswith(f"the step cannot be printed again: {said}")
    assert "planner audit" in allowed.replace("bin/", "").replace("'", "")


def test_a_phase_that_a_run_left_out_is_not_shown_again(scene: Scene) -> None:
    scene.place(workflow="executor", step=1, stage="submitted")
    text = refused(scene, "planner", 9, again=True)[2]
    assert text == "the step cannot be printed again: this run has left plan-docs out"


def test_the_current_step_is_the_runs_whatever_workflow_asks(scene: Scene) -> None:
    scene.place(step=1)
    current = Answer(0, print_current(scene.state()), "").block
    assert (current.get("workflow"), current.get("number")) == ("planner", "1")
