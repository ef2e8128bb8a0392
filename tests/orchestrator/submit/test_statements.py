"""All that a person has said of a run is one list, each with what has become of it (SD-1)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.submit.outcomes import statements
from state.models import TaskItem
from tests.journey import FILES, Journey, words_of
from tests.orchestrator.execute.waves import milestone_agent, writing
from tests.orchestrator.plan.test_context import ask, question
from tests.orchestrator.strategy_route.test_planned import ANSWER, CRITERIA, clarified, planned
from tests.state.plans import empty_plan

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

    Repositories = Callable[..., Repository]

pytestmark = pytest.mark.requirement("SD-1")


def said(journey: Journey) -> list[tuple[Any, ...]]:
    rows = json.loads(journey.planner("plan", "show", "said", "--json").text)
    return [(row["id"], row["origin"], row["revision"], row["outcome"]) for row in rows]


def test_task_questions_and_remarks_are_listed_with_origin_revision_and_outcome(
    make_repo: Repositories,
) -> None:
    journey = planned(clarified(make_repo), "T-1", "T-2", "T-3")
    journey.answers["context.json"] = {"task_spec": ["say so in README", "out of scope: g"]}
    [milestone] = [e for e in journey.answers["design.json"] if e.get("kind") == "milestone"]
    milestone["fields"]["requirements"] += ["T-4"]
    journey.to("submitted")
    with open(f"{journey.state_dir}/plan.json", encoding="utf-8") as file:
        assert json.load(file)["checkpoints"][0]["answer"] == ANSWER
    journey.write_answer("remarks.md", "Say why in a comment.")
    journey.follow(journey.last.next("remarks"))
    journey.write_answer("questions.json", journey.answers["questions.json"])
    journey.planner("context", "ask", "--file", "answers/questions.json", "--role", "architect")
    assert said(journey) == [
        ("T-1", "strategy", 1, "done: M-001"),
        ("T-2", "strategy", 1, "done: M-001"),
        ("T-3", "strategy", 1, "done: M-001"),
        ("T-4", "request", 1, "done: M-001"),
        ("T-5", "request", 1, "out of scope"),
        ("CP-001", "strategy", 1, ANSWER),
        ("CP-002", "question", 2, "not answered"),
        ("RM-001", "remark", 1, "done: M-001"),
    ]
    shown = journey.planner("plan", "show", "said").data("said").splitlines()
    assert shown[2] == f"T-3, strategy, revision 1: {CRITERIA} → done: M-001"
    whole = journey.planner("plan", "show", "--md").text
    assert f"- T-3, strategy: {CRITERIA} → done: M-001" in whole
    assert "- T-4: say so in README → done: M-001" in whole
    assert "- RM-001, on revision 1: Say why in a comment. → done: M-001" in whole


@pytest.mark.requirement("SD-3")
def test_what_a_remark_overrules_is_not_said_to_be_done(make_repo: Repositories) -> None:
    """The plan would else say that it does what the user no longer wants."""
    journey = Journey(make_repo(files=FILES)).to("submitted")
    journey.write_answer("remarks.md", "f adds three, not two.")
    journey.follow(journey.last.next("remarks"))
    edit = {"op": "set", "id": "RM-001", "version": 1}
    unknown = {**edit, "fields": {"overrules": ["T-9"]}}
    journey.write_answer("design-2-1.json", [unknown])
    refused = journey.follow(journey.last.next("done"))
    assert "there is no earlier statement T-9" in refused.text
    milestone = {"op": "set", "id": "M-001", "version": 2, "fields": {"requirements": ["RM-001"]}}
    overruled = {**edit, "fields": {"overrules": ["T-1"]}}
    journey.write_answer("design-2-1.json", [overruled, milestone])
    journey.last = journey.planner("step", "planner")
    assert journey.follow(journey.last.next("done")).code == 0
    outcomes = {row[0]: row[3] for row in said(journey)}
    assert outcomes["T-1"] == "overruled by RM-001"
    assert outcomes["RM-001"] == "done: M-001"


@pytest.mark.requirement("SD-3")
def test_what_a_remark_brings_back_into_scope_is_nowhere_said_to_be_out_of_it(
    make_repo: Repositories,
) -> None:
    journey = Journey(make_repo(files=FILES)).to("submitted")
    assert "out of scope: g" in journey.last.text
    journey.write_answer("remarks.md", "Do add g.")
    journey.follow(journey.last.next("remarks"))
    [left] = [row[0] for row in said(journey) if row[3] == "out of scope"]
    edit = {"op": "set", "id": "RM-001", "version": 1, "fields": {"overrules": [left]}}
    cites = {"requirements": ["T-1", "RM-001"]}
    milestone = {"op": "set", "id": "M-001", "version": 2, "fields": cites}
    journey.answers["design.json"] = [edit, milestone]
    journey.edits = {"src/a.py": "def f(x):\n    return x + 2\n\n\ndef g(x):\n    return x\n"}
    journey.to("submitted")
    assert "out of scope" not in journey.last.text
    assert f"RM-001, instead of {left}: Do add g." in journey.last.data("summary")
    assert {row[0]: row[3] for row in said(journey)}[left] == "overruled by RM-001"


def test_a_remark_of_a_plan_of_before_they_had_ids_is_listed_as_one() -> None:
    task = (TaskItem(id="T-1", text="f adds two"), TaskItem(id="T-2", text="Say why."))
    plan = empty_plan(revision=3, remarks=("Say why.",), task_spec=task)
    found = [(one.id, one.origin, one.revision) for one in statements(plan, {})]
    assert found == [("T-1", "request", 1), ("T-2", "remark", 2)]


def test_a_plan_without_anything_said_lists_nothing(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files=FILES))
    journey.start()
    assert said(journey) == []


def test_a_question_of_a_milestones_agent_is_frozen_with_its_answer(
    make_repo: Repositories,
) -> None:
    journey = writing(make_repo)
    task = milestone_agent(journey, "M-001")
    journey.write_answer("questions-M-001.json", [question()])
    assert journey.call(*words_of(task.next("question"))).code == 0
    assert said(journey)[2:] == [("CP-001", "question", 2, "not answered")]
    other = ask(journey, [question("Which file?")], "technical-writer")
    assert other.data("questions") == "CP-002"
    for answered in ("CP-002", "CP-001"):
        assert journey.planner("decide", answered, "b").code == 0
    journey.last = journey.planner("exec", "next")
    assert milestone_agent(journey, "M-001").data("answers") == "CP-001 Which name? → Way b"
    summary = journey.to("submitted").last.data("summary")
    assert "answered: CP-001 Which name? → Way b" in summary
    with open(f"{journey.state_dir}/plan.json", encoding="utf-8") as file:
        assert [c["answer"] for c in json.load(file)["checkpoints"]] == ["Way b", "Way b"]
