"""The numbered sections of context.md from facts made by hand (ST-1, ST-4, ST-7)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from shared.strategy_record import Strategy, read_strategy
from shared.strategy_text import (
    in_order,
    pairs,
    plain,
    render_block,
    render_document,
    render_order,
    render_plan,
    render_section,
)
from state.errors import Refused
from state.files import write_json

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Golden

    Json = dict[str, Any]

pytestmark = pytest.mark.requirement("ST-1", "ST-4")


def goal(name: str, *needs: str) -> Json:
    return {"id": name, "description": f"do {name}", "priority": "high", "depends_on": [*needs]}


PLAN: Json = {
    "route_to": "executor", "depth": "full", "reason": "one  place", "goals": [
        goal("G2", "G1"), goal("G1"), goal("G3", "G1", "G2"), goal("G4"),
    ],
    "approach": "Change it\n# not a heading", "success_criteria": "f(1) is 3",
    "constraints": {"avoid": ["a", "b"], "limits": {"most": 3}}, "context_summary": "known",
}  # fmt: skip
AGAIN: Json = {
    "route_to": "executor", "goals": [goal("G1")], "is_retry": True, "attempt": 2,
    "previous_failure": {"reason": "no  source", "instruction": "look elsewhere"},
    "clarification_question": "Which?", "refresh_context_request": ["prices", "dates"],
    "self_extension": {"action": "CREATE_TOOL", "command": "make"},
}  # fmt: skip
BLOCK: Json = {
    "title": "Known\nfacts", "source_type": "research_cache", "node_ids": ["n:1"],
    "provenance": ["a.md", "b.md"], "confidence_avg": 0.8, "content": "```\n# x",
}  # fmt: skip
FACTS = Strategy(
    query="Make f add two\n## 9. Forged", mode="code", purpose="a\nrelease",
    requirements={"needs_web": True, "freshness_days": 3, "region": "EU"},
    status="fail", why="too short", gathered=[BLOCK, {**BLOCK, "source_type": "a b",
                                                      "provenance": ["b.md"]}],
    plans=[{"attempt": 1, "plan": PLAN}], goals={"G1": "done", "G2": "failed", "G3": "pending",
                                                 "G4": "in_progress"},
    progress=[
        {"attempt": 1, "goal": "G1", "status": "done", "command": "look | here", "result": "found",
         "claims": [{"claim": "x | y", "source": "a"}]},
        {"attempt": 1, "goal": "G2", "status": "failed"},
        {"attempt": 2, "goal": "G2", "status": "done"},
    ],
    answers=[{"text": "One."}, {"text": "Two."}],
    verdicts=[
        {"attempt": 1, "verdict": "RETRY", "reason": "no source", "issues": ["a", "b"],
         "instruction": "again", "replan": "local"},
        {"attempt": 2, "verdict": "APPROVE"},
    ],
)  # fmt: skip


def test_the_document_has_all_that_is_remembered(golden: Golden) -> None:
    golden("strategy/by-hand.md", render_document(FACTS))


def test_a_second_attempt_marks_what_belongs_to_the_first(golden: Golden) -> None:
    facts = Strategy.from_json({**FACTS.to_json(), "attempt": 2})
    again = {**facts.to_json(), "plans": [{"attempt": 2, "plan": AGAIN}]}
    texts = [render_section(facts, n) for n in (3, 4, 6)]
    golden("strategy/by-hand-again.md", "\n".join([*texts, render_plan(AGAIN)]))
    assert "(Previous" not in render_document(Strategy.from_json(again))


def test_what_has_nothing_yet_says_so_in_each_section(golden: Golden) -> None:
    golden("strategy/by-hand-empty.md", render_document(Strategy("Why?", "chat")))


def test_goals_are_worked_on_after_those_that_they_depend_on() -> None:
    assert [g["id"] for g in in_order(PLAN["goals"])] == ["G1", "G2", "G3", "G4"]
    assert render_order(PLAN["goals"]).splitlines() == [
        "### Execution Order",
        "1. G1 must complete first (needed by G2, G3)",
        "2. G2 uses G1 results: do G2",
        "3. G3 uses G1 and G2 results: do G3",
        "4. G4 depends on no other goal",
    ]


@pytest.mark.parametrize(
    ("goals", "requirements", "due"),
    [
        ({}, {}, ["G1", "G4"]), ({"G1": "done"}, {}, ["G2", "G4"]),
        ({"G1": "failed"}, {}, ["G2", "G4"]), ({"G1": "in_progress"}, {}, ["G1", "G4"]),
        ({"G1": "done", "G2": "failed", "G4": "done"}, {}, ["G3"]),
        ({}, {"needs_web": "yes"}, ["G1"]), ({}, {"needs_web": "false"}, ["G1", "G4"]),
        ({}, {"needs_web": "none"}, ["G1", "G4"]), ({}, {"freshness_days": 3}, ["G1"]),
        ({}, {"needs_current_prices": True}, ["G1"]), ({}, {"region": "EU"}, ["G1", "G4"]),
    ],
)  # fmt: skip
def test_due_are_the_goals_that_wait_for_none_one_at_a_time_where_the_web_is_used(
    goals: dict[str, str], requirements: Json, due: list[str]
) -> None:
    facts = Strategy("q", "code", plans=[{"attempt": 1, "plan": PLAN}], goals=goals)
    facts.requirements = requirements
    assert [g["id"] for g in facts.due()] == due
    assert Strategy("q", "code").due() == []


def test_text_from_outside_begins_no_section_and_leaves_no_fence() -> None:
    assert plain(" # a\n## b\n  ```c\nd # e\n") == "\\# a\n\\## b\n  \\```c\nd # e"
    assert "### Known facts" in render_block(BLOCK)
    assert pairs({"a": ["x", "y"], "b": [1], "c": "t\nu", "d": None}) == [
        "a: x, y", "b: [1]", "c: t u", "d: null"
    ]  # fmt: skip


@pytest.mark.parametrize(
    "damage",
    [
        {"query": 1}, {"mode": None}, {"plans": {}}, {"goals": []}, {"attempt": "1"},
        {"verdicts": None}, {"gathered": "x"}, {"progress": 1}, {"requirements": []},
    ],
    ids=lambda damage: next(iter(damage)),
)  # fmt: skip
def test_a_record_that_is_damaged_is_refused_with_the_command_that_repairs_it(
    damage: Json, tmp_path: Path
) -> None:
    path = tmp_path / "strategy.json"
    write_json(str(path), FACTS.to_json())
    assert read_strategy(str(tmp_path)) == FACTS
    write_json(str(path), FACTS.to_json() | damage)
    with pytest.raises(Refused) as refused:
        read_strategy(str(tmp_path))
    [problem] = refused.value.problems
    assert (problem.at, problem.kind) == (str(path), "invalid")
    assert problem.problem == "what the choice of a strategy remembers is damaged or gone"
    assert " repair " in problem.retry
