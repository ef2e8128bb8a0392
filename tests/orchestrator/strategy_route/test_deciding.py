"""A strategic plan is stored and followed, and the same one again changes nothing (ST-3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.strategy_route.deciding import set_plan
from shared.resources import answer_path, strategy_path
from shared.steps.printing import print_current
from shared.strategy_record import Strategy, read_strategy
from state.errors import Refused
from state.files import write_json
from tests.journey import Answer
from tests.shared.execution.scene import Scene
from tests.strategies import SELF_EXTEND, goal, plan

if TYPE_CHECKING:
    from pathlib import Path

    Json = dict[str, Any]

pytestmark = pytest.mark.requirement("ST-3")

ASKS = plan("clarify", clarification_question="Which f?") | {"goals": []}
MISSES = plan("refresh_context", refresh_context_request=["which f"])
ROUTES: list[tuple[str, str, Json, str]] = [
    ("clarify", "code", ASKS, "clarify"),
    ("refresh", "code", MISSES, "gather"),
    ("answer", "chat", plan("synthesis"), "synthesis"),
    ("goals", "chat", plan("executor", goal(1, "look"), goal(2, "compare", "high", 1)), "execute"),
    ("extend", "code", SELF_EXTEND, "extend"),
]
each_route = pytest.mark.parametrize(
    ("mode", "value", "step"), [row[1:] for row in ROUTES], ids=[row[0] for row in ROUTES]
)


def strategy(folder: Path, mode: str, *, step: int = 2, **facts: Any) -> Scene:  # noqa: ANN401
    """Return a run that weighs whether to plan, without a repository."""
    scene = Scene(folder, [])
    (folder / ".planner" / "runs" / "20260102-abcdef" / "answers").mkdir()
    write_json(strategy_path(scene.state_dir), Strategy("Make f add two", mode, **facts).to_json())
    scene.place(
        workflow="strategy", step=step, status="IDLE", stage="inactive", repository=str(folder)
    )
    return scene


def hand_in(scene: Scene, value: Json) -> str:
    """Store a strategic plan as its command does; return the name of the step it leads to."""
    write_json(answer_path(scene.state_dir, "route.json"), value)
    set_plan(scene.state_dir, "answers/route.json", None)
    return str(Answer(0, print_current(scene.state()), "").block.get("name"))


@each_route
def test_each_route_leads_to_its_step(mode: str, value: Json, step: str, tmp_path: Path) -> None:
    scene = strategy(tmp_path, mode)
    assert hand_in(scene, value) == step
    facts = read_strategy(scene.state_dir)
    assert [one["attempt"] for one in facts.plans] == [1]
    assert facts.plan is not None
    assert facts.plan["route_to"] == value["route_to"]
    assert facts.goals == {one["id"]: "pending" for one in value["goals"]}


@each_route
def test_the_same_plan_again_prints_the_same_step_and_stores_nothing(
    mode: str, value: Json, step: str, tmp_path: Path
) -> None:
    scene = strategy(tmp_path, mode)
    hand_in(scene, value)
    before = print_current(scene.state()), read_strategy(scene.state_dir)
    decided = set_plan(scene.state_dir, "answers/route.json", None)
    assert (decided.started, decided.direct) == (None, False)
    assert decided.state.run.run_id == scene.state().run.run_id
    assert (print_current(decided.state), read_strategy(scene.state_dir)) == before
    assert hand_in(scene, value) == step


def test_another_plan_is_refused_once_one_is_followed(tmp_path: Path) -> None:
    scene = strategy(tmp_path, "code")
    hand_in(scene, ASKS)
    with pytest.raises(Refused) as refused:
        hand_in(scene, {**ASKS, "clarification_question": "Which g?"})
    [problem] = refused.value.problems
    assert problem.problem == "this belongs to strategy; the strategy is at clarify"
    facts = read_strategy(scene.state_dir)
    assert [one["plan"]["clarification_question"] for one in facts.plans] == ["Which f?"]


def test_a_plan_is_refused_once_the_run_has_ended(tmp_path: Path) -> None:
    scene = strategy(tmp_path, "code")
    scene.place(status="CANCELLED")
    with pytest.raises(Refused, match="the run is cancelled"):
        hand_in(scene, ASKS)


def test_every_fault_of_a_plan_is_said_at_once_and_nothing_is_stored(tmp_path: Path) -> None:
    scene = strategy(tmp_path, "code")
    with pytest.raises(Refused) as refused:
        hand_in(scene, {"_type": "PLAN", "route_to": "home", "goals": "none"})
    places = {p.at for p in refused.value.problems}
    assert {"_type", "route_to", "goals"} <= places
    assert read_strategy(scene.state_dir).plans == []
    assert scene.state().run.step == 2
