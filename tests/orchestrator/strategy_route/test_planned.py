"""What a strategy has learned begins the planner's work, and its goals follow it (SD-1, ST-3)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.run.status import watch
from tests.journey import FILES, Journey
from tests.strategies import GATHERED, Choice, goal, plan

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

    Repositories = Callable[..., Repository]

pytestmark = pytest.mark.requirement("SD-1", "ST-3")

QUESTION, ANSWER = "Which f?", "The one in src/a.py."
CRITERIA = "It succeeds when: f(1) is 3"


def clarified(make_repo: Repositories) -> Choice:
    """Return a strategy whose question the user has answered, and that has gathered something."""
    choice = Choice(make_repo(files=FILES))
    choice.start()
    choice.write_answer("gathered.json", {"gathered": [GATHERED], "user_purpose": "a report"})
    choice.planner("strategy", "context", "--file", "answers/gathered.json")
    choice.choose(plan("clarify", clarification_question=QUESTION) | {"goals": []})
    choice.write_answer("clarified.md", ANSWER)
    choice.follow("done")
    return choice


def planned(choice: Choice, *cited: str, **more: object) -> Journey:
    """Choose to plan, and return the run as a host has it who writes no entry of the task."""
    goals = (goal(1, "f adds two"), goal(2, "its caller needs no change"))
    choice.choose(plan("executor", *goals, depth="full", **more))
    journey = Journey(choice.repository)
    journey.state_dir, journey.last = choice.state_dir, choice.last
    journey.answers["context.json"] = {"assumptions": ["g stays"]}
    [milestone] = [e for e in journey.answers["design.json"] if e.get("kind") == "milestone"]
    milestone["fields"]["requirements"] = list(cited)
    return journey


def stored(journey: Journey) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(journey.planner("plan", "show", "--json").text)
    return found


def test_goals_criteria_constraints_and_what_was_gathered_begin_the_context(
    make_repo: Repositories,
) -> None:
    choice = clarified(make_repo)
    journey = planned(choice, "T-1", "T-2", "T-3", constraints={"avoid_sources": ["a blog"]})
    assert journey.point == "planner 2"
    settled = journey.last.data("settled")
    assert f"T-3 {CRITERIA}" in settled
    assert GATHERED["title"] in settled
    assert QUESTION in journey.last.data("answers")
    journey.to("code")
    found = stored(journey)
    assert [(t["id"], t["text"], t["origin"]) for t in found["task_spec"]] == [
        ("T-1", "f adds two", "strategy"),
        ("T-2", "its caller needs no change", "strategy"),
        ("T-3", CRITERIA, "strategy"),
    ]
    assert found["context"]["constraints"] == ["avoid_sources: a blog"]
    assert found["context"]["assumptions"] == ["g stays"]
    known = "\n".join(found["context"]["current_understanding"])
    for text in (GATHERED["content"], "memory/preferences.json", "Change the constant", "a report"):
        assert text in known
    assert ANSWER not in known


def test_a_question_of_the_strategy_and_its_answer_are_the_plans_first(
    make_repo: Repositories,
) -> None:
    journey = planned(clarified(make_repo), "T-1", "T-2", "T-3")
    journey.store_context()
    journey.write_answer("questions.json", journey.answers["questions.json"])
    words = ("--file", "answers/questions.json", "--role", "architect")
    journey.planner("context", "ask", *words)
    first, second = stored(journey)["checkpoints"]
    assert (first["id"], first["question"], first["origin"]) == ("CP-001", QUESTION, "strategy")
    assert (second["id"], second["origin"], second["revision"]) == ("CP-002", "plan", 1)
    assert f"CP-001: {QUESTION} → {ANSWER}" in journey.planner("plan", "show", "--md").text


def test_an_agent_that_designs_sees_all_of_it(make_repo: Repositories) -> None:
    journey = planned(clarified(make_repo), "T-1", "T-2", "T-3")
    journey.last = journey.planner("start", "--review", "full")
    assert journey.store_context().code == 0, journey.last.text
    shown = journey.planner("step", "plan-design").text
    for text in (CRITERIA, "its caller needs no change", QUESTION, ANSWER, GATHERED["content"]):
        assert text in shown


def test_a_design_that_drops_a_goal_is_refused(make_repo: Repositories) -> None:
    journey = planned(clarified(make_repo), "T-1", "T-3")
    journey.write_answers()
    refused = journey.follow(journey.last.next())
    assert "T-2 is cited by no milestone" in refused.text


def test_goals_follow_the_milestones_to_the_proof_and_back(make_repo: Repositories) -> None:
    journey = planned(clarified(make_repo), "T-1", "T-2", "T-3")

    def goals() -> set[str]:
        shown = json.loads(journey.planner("strategy", "show", "--json").text)["goals"]
        return set(shown.values())

    assert goals() == {"pending"}
    journey.to("code")
    assert goals() == {"in_progress"}
    journey.to("committed")
    assert goals() == {"done"}
    document = f"{journey.state_dir}/context.md"
    with open(document, encoding="utf-8") as file:
        assert "| GOAL_1 | f adds two | done |" in file.read()
    journey.planner("undo")
    assert goals() == {"failed"}


def test_a_run_that_leaves_its_strategy_by_a_persons_word_keeps_the_answer_alone(
    make_repo: Repositories,
) -> None:
    choice = clarified(make_repo)
    choice.choose(plan("clarify", clarification_question="And which g?") | {"goals": []})
    last = choice.planner("start", "--depth", "full")
    assert last.data("settled").startswith("gathered, shown by")
    assert ANSWER in last.data("answers")
    assert "And which g?" not in last.text


@pytest.mark.requirement("PC-16")
def test_a_waiting_question_of_the_strategy_is_shown_wherever_one_looks(
    make_repo: Repositories,
) -> None:
    choice = Choice(make_repo(files=FILES))
    choice.start()
    assert "decision" not in choice.planner("status", "--line").text
    choice.choose(plan("clarify", clarification_question=QUESTION) | {"goals": []})
    shown = choice.planner("status")
    assert shown.data("status") == "Asking what is meant – waits for you"
    assert shown.data("open questions") == f"clarify {QUESTION} – in words"
    assert "strategy context --answer" in shown.next("clarify")
    assert choice.planner("status", "--line").text.endswith(" · 1 decision\n")
    told = json.loads(choice.planner("status", "--json").text)
    assert told["waits_for_person"]
    assert told["checkpoints"] == [
        {"id": "clarify", "question": QUESTION, "options": [], "multi": False}
    ]
    watched = next(watch(choice.state_dir, lambda: None))
    assert watched[1]
    assert QUESTION in watched[0]
    choice.write_answer("clarified.md", ANSWER)
    choice.follow("done")
    assert choice.planner("status").data("open questions") == ""


@pytest.mark.requirement("PC-16")
def test_a_question_of_planning_counts_in_the_line_also_while_the_run_is_paused(
    make_repo: Repositories,
) -> None:
    journey = Journey(make_repo(files=FILES)).to("design")
    journey.write_answer("questions.json", journey.answers["questions.json"])
    words = ("--file", "answers/questions.json", "--role", "architect")
    journey.planner("context", "ask", *words)
    assert "1 decision" in journey.planner("status", "--line").text
    journey.planner("pause")
    assert "CP-001 Keep the old name?" in journey.planner("status").data("open questions")
    assert "1 decision" in journey.planner("status", "--line").text
