"""A plan of documentation alone, whose code is approved with it, is the technical writer's."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from shared.qr.schema import read_review
from shared.qr.types import REVIEWER, Item
from shared.resources import review_path
from shared.run import open_state
from tests.journey import words_of
from tests.larger_tasks import larger

if TYPE_CHECKING:
    from collections.abc import Callable

    from state.phases import Phase
    from tests.conftest import Repository
    from tests.journey import Answer, Journey

    Repositories = Callable[..., Repository]

FILES = ("README.md", "docs/use.md")


@pytest.fixture
def journey(make_repo: Repositories) -> Journey:
    """A run at depth full that changes two texts and is reviewed by agents."""
    made = larger(make_repo, "prose", (1,), dict.fromkeys(FILES, "# Use\n\nf adds one.\n"))
    edits = made.answers["design.json"]
    (milestone,) = (e["fields"] for e in edits if e.get("kind") == "milestone")
    milestone |= {"files": [*FILES], "acceptance_criteria": ["README.md says that f adds two"]}
    milestone |= {"is_documentation_only": True, "name": "Say what f adds"}
    made.answers["design.json"] = [e for e in edits if e.get("kind") != "intent"]
    made.edits = dict.fromkeys(FILES, "# Use\n\nf adds two.\n")
    made.review = "full"
    made.start("--depth", "full")
    return made


def started(answer: Answer) -> list[str]:
    return [d.get("agent") or "" for d in answer.block.iter("dispatch")]


@pytest.mark.requirement("PL-4")
def test_a_plan_of_documentation_alone_sends_the_writer_and_no_developer(
    journey: Journey,
) -> None:
    found: list[tuple[str, str]] = []
    while not journey.point.startswith("executor"):
        found += [(journey.point, agent) for agent in started(journey.last)]
        journey.advance()
    agents = [agent for _, agent in found]
    assert "developer" not in agents
    assert ("planner 6", "technical-writer") in found
    assert set(agents) == {"architect", "technical-writer", "quality-reviewer"}


@pytest.mark.requirement("PL-4")
def test_the_writer_gets_the_task_and_hands_it_in_by_the_printed_command(
    journey: Journey,
) -> None:
    journey.to("code")
    (command,) = journey.last.runs()
    assert words_of(command)[:2] == ["step", "plan-code"]
    task = journey.follow(command)
    assert task.code == 0
    assert "README.md says that f adds two" in task.data("plan")
    journey.do_the_work()
    assert journey.follow(journey.last.next("done")).code == 0, journey.last.text


def asked_in(journey: Journey, phase: Phase) -> set[tuple[str, str]]:
    """Return what a phase's reviewers were asked or are asked, as (question, scope)."""
    state = open_state(journey.state_dir, "/")
    path = review_path(journey.state_dir, phase)
    rows = state.database.passed_reviews(state.run).get(phase, [])
    items = read_review(path).items if os.path.exists(path) else [Item(**row) for row in rows]
    return {(i.check, i.scope) for i in items if i.by == REVIEWER}


@pytest.mark.requirement("SD-4")
def test_what_a_document_is_to_say_is_asked_of_who_judges_documentation(journey: Journey) -> None:
    journey.to("docs review")
    assert not any(scope == "M-001" for _, scope in asked_in(journey, "plan-code"))
    assert ("criteria-met", "M-001") in asked_in(journey, "plan-docs")
    block = journey.follow(journey.last.runs()[0])
    assert "accepted when: README.md says that f adds two" in block.data("plan")
    assert "README.md:3" in block.evidence().values()
    journey.last = journey.planner("step", "planner")
    journey.to("submitted")
    left_out = {u.check for o in open_state(journey.state_dir, "/").plan.reviews
                for u in o.unasked if o.phase == "plan-code"}  # fmt: skip
    assert "criteria-met" not in left_out


@pytest.mark.requirement("SD-4")
def test_a_document_beside_code_is_judged_once_it_is_written(make_repo: Repositories) -> None:
    """Until then nothing could show that its criteria hold."""
    made = larger(make_repo, "both", (1,), {"GUIDE.md": "To be written.\n"})
    guide = {
        "name": "Say it", "files": ["GUIDE.md"], "requirements": ["T-1"],
        "is_documentation_only": True, "acceptance_criteria": ["GUIDE.md says that f adds two"],
        "tests": {"skip_reason": "a text"},
    }  # fmt: skip
    edits = made.answers["design.json"]
    edits.append({"op": "add", "kind": "milestone", "as": "$g", "fields": guide})
    made.review = "full"
    made.to("code review")
    criteria = {scope for check, scope in asked_in(made, "plan-code") if check == "criteria-met"}
    assert criteria == {"M-001"}
    made.documents = {"GUIDE.md": "f adds two.\n"}
    made.promises_document = True  # so that the documents are written in the step for them
    made.promise_document = lambda: None  # type: ignore[method-assign]
    made.to("docs review")
    criteria = {scope for check, scope in asked_in(made, "plan-docs") if check == "criteria-met"}
    assert criteria == {"M-002"}
    made.to("submitted")


@pytest.mark.requirement("SD-4", "FC-2")
def test_one_list_asks_about_a_document_that_came_with_it(journey: Journey) -> None:
    journey.state_dir, journey.review = "", "small"
    journey.to("code review")
    assert ("criteria-met", "M-001") in asked_in(journey, "plan-code")
