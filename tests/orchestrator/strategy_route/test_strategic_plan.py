"""What is wrong with a strategic plan, each fault with its place, and what is filled in (ST-4)."""

from __future__ import annotations

from typing import Any

import pytest

from orchestrator.strategy_route.strategic_plan import check_plan
from shared.strategy_record import Strategy
from tests.state.plans import refusal
from tests.strategies import SELF_EXTEND, goal, plan

Json = dict[str, Any]

pytestmark = pytest.mark.requirement("ST-4")

CODE, CHAT = Strategy("q", "code"), Strategy("q", "chat")
AGAIN = Strategy(
    "q", "code", attempt=2,
    verdicts=[{"attempt": 1, "verdict": "RETRY", "reason": "r", "instruction": "i"}],
)  # fmt: skip
GOALS = plan("executor", goal(1, "look"), goal(2, "compare", None, 1))


def faults(value: object, facts: Strategy = CODE) -> list[tuple[str, str]]:
    return [(p.at, p.problem) for p in refusal(check_plan, value, facts)]


def with_goals(*goals: Json) -> Json:
    return {**GOALS, "goals": [*goals]}


@pytest.mark.parametrize(
    ("value", "at", "said"),
    [
        (with_goals(), "goals", "there is no goal"),
        (with_goals(goal(1, "look with WebFetch")), "goals[0].description", "names a tool"),
        (with_goals(goal(1, "a"), goal(1, "b")), "goals[1].id", "goals[0] has this id as well"),
        (with_goals(goal(1, "a", None, 9)), "goals[0].depends_on", "there is no goal GOAL_9"),
        (with_goals(goal(1, "a", None, 2), goal(2, "b", None, 1)), "goals[0].depends_on",
         "GOAL_1 depends on itself in a circle"),
        (with_goals(goal(1, "a", None, 1)), "goals[0].depends_on",
         "GOAL_1 depends on itself in a circle"),
        ({**GOALS, "is_retry": True}, "is_retry", "this is attempt 1"),
        ({**GOALS, "attempt": 2}, "attempt", "this is attempt 1"),
        ({**GOALS, "attempt": True}, "attempt", "this is attempt 1"),
        ({**GOALS, "previous_failure": {"reason": "r"}}, "previous_failure",
         "this is attempt 1: nothing has failed yet"),
        ({**GOALS, "self_extension": {}}, "self_extension", "not one of self-extension"),
        (plan("synthesis", depth="full"), "depth", "the route synthesis has no depth"),
        (plan("refresh_context", refresh_context_request=[]), "refresh_context_request",
         "this is empty"),
        ({**SELF_EXTEND, "depth": "full"}, "depth", "nothing is planned here"),
        ({**SELF_EXTEND, "route_to": "synthesis"}, "route_to", "has to be carried out"),
        ({**GOALS, "depth": "deep"}, "depth", ""),
        ({**GOALS, "approach": " "}, "approach", ""),
        ({**GOALS, "more": 1}, "more", ""),
        ({**GOALS, "goals": [goal(n, "a") for n in range(200)]}, "goals", ""),
        ({**GOALS, "approach": "a" * 100_000}, "plan", "characters"),
    ],
)  # fmt: skip
def test_each_fault_is_told_at_its_place(value: Json, at: str, said: str) -> None:
    found = faults(value)
    assert [text for place, text in found if place == at and said in text], found


def test_a_circle_names_every_goal_on_it_and_no_other() -> None:
    value = with_goals(
        goal(1, "a", None, 3), goal(2, "b", None, 1), goal(3, "c", None, 2), goal(4, "d", None, 1)
    )
    assert [at for at, text in faults(value) if "circle" in text] == [
        "goals[0].depends_on", "goals[1].depends_on", "goals[2].depends_on"
    ]  # fmt: skip


def test_a_chat_changes_no_code_and_makes_no_workflow() -> None:
    assert ("depth", "a chat changes no code") in faults({**GOALS, "depth": "full"}, CHAT)
    assert ("plan_type", "a chat makes no workflow") in faults(SELF_EXTEND, CHAT)


@pytest.mark.parametrize("value", [None, [], "plan", 1])
def test_what_is_no_object_is_no_plan(value: object) -> None:
    assert faults(value)


def test_what_is_missing_is_named_by_its_route() -> None:
    for route, needed in (("clarify", "clarification_question"),
                          ("refresh_context", "refresh_context_request")):  # fmt: skip
        assert needed in {at for at, _ in faults({**plan(route), "goals": []})}
    bare = {name: one for name, one in GOALS.items() if name in ("_type", "route_to", "goals")}
    assert {at for at, _ in faults(bare)} == {"success_criteria", "approach", "reason"}
    without = {name: one for name, one in SELF_EXTEND.items() if name != "self_extension"}
    assert "self_extension" in {at for at, _ in faults(without)}


def test_defaults_are_filled_in_and_dependencies_become_lists() -> None:
    found = check_plan(GOALS, CODE)
    assert found["depth"] == "full"
    assert [g["depends_on"] for g in found["goals"]] == [[], ["GOAL_1"]]
    assert [g["priority"] for g in found["goals"]] == ["high", "medium"]
    assert "depth" not in check_plan(GOALS, CHAT)
    assert "depth" not in check_plan(plan("synthesis"), CODE)
    assert "depth" not in check_plan(SELF_EXTEND, CODE)
    twice = with_goals(goal(1, " a "), {**goal(2, "b"), "depends_on": ["GOAL_1", " GOAL_1 "]})
    assert [g["depends_on"] for g in check_plan(twice, CODE)["goals"]] == [[], ["GOAL_1"]]
    assert check_plan(twice, CODE)["goals"][0]["description"] == "a"


def test_a_retry_knows_its_number_and_what_failed() -> None:
    found = check_plan(GOALS, AGAIN)
    assert (found["is_retry"], found["attempt"]) == (True, 2)
    assert found["previous_failure"] == {"reason": "r", "instruction": "i"}
    own = check_plan({**GOALS, "previous_failure": {"reason": "mine"}}, AGAIN)
    assert own["previous_failure"] == {"reason": "mine", "instruction": "i"}
    assert faults({**GOALS, "is_retry": False, "attempt": 1}, AGAIN) == [
        ("is_retry", "this is attempt 2"), ("attempt", "this is attempt 2")
    ]  # fmt: skip


def test_a_goal_may_name_what_is_the_users_own() -> None:
    value = with_goals(goal(1, "look with WebFetch"))
    assert check_plan(value, CODE, lambda _: True)["goals"][0]["id"] == "GOAL_1"
