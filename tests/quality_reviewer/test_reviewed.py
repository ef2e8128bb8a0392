"""Who answered a review is told apart, from the answers as they are recorded (RV-3)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from shared.qr.types import AGENT, ASSISTANT, FAIL
from shared.resources import rendered_plan_path, review_page_path
from shared.run import open_state
from tests.journey import FILES, POINTS, Answer, Journey, all_pass, words_of
from tests.larger_tasks import larger

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from state.plan_table import Answer as PlanAnswer
    from tests.conftest import Repository

    Repositories = Callable[..., Repository]

pytestmark = pytest.mark.requirement("RV-3")


def answers_in(journey: Journey) -> list[PlanAnswer]:
    """Return every recorded answer of the plan's reviews."""
    plan = open_state(journey.state_dir, "/").plan
    return [answer for outcome in plan.reviews for answer in outcome.answers]


def said_everywhere(journey: Journey, text: str) -> None:
    """Assert that summary, plan.md and page say the same of who reviewed."""
    assert text in journey.last.data("summary")
    for path in (rendered_plan_path(journey.state_dir), review_page_path(journey.state_dir)):
        with open(path, encoding="utf-8") as file:
            assert text in file.read(), path


def tone_of_reviewed(journey: Journey) -> str:
    """Return the colour class in which the page's first screen says who reviewed; '' for none."""
    with open(review_page_path(journey.state_dir), encoding="utf-8") as file:
        before = file.read().partition("<dt>Reviewed</dt>")[0]
    found = re.search(r'<div(?: class="(\w+)")?>$', before)
    assert found is not None
    return found[1] or ""


def test_agents_answers_are_counted_question_by_question(make_repo: Repositories) -> None:
    journey = larger(make_repo, "repo", (1, 1), {})
    journey.review = "full"
    asked: list[str] = []

    def verdicts(block: Answer) -> list[dict[str, Any]]:
        asked.extend(block.asked())
        return all_pass(block)

    journey.verdicts = verdicts
    journey.to("submitted")
    answers = answers_in(journey)
    assert len(answers) == len(asked)
    assert {a.by for a in answers} == {AGENT}
    assert f"reviewed by agents ({len(asked)} questions)" in journey.last.data("summary")
    assert tone_of_reviewed(journey) == "good"


def test_the_assistant_that_reads_its_own_change_is_not_called_a_reviewer(small: Journey) -> None:
    block = small.follow(small.last.next("alone"))
    number = len(block.asked())
    assert "def test" in block.data("change") or "assert" in block.data("change")
    small.write_answer("verdicts-plan-code-1.json", all_pass(block))
    small.follow(block.next("done"))
    small.to("submitted")
    assert {a.by for a in answers_in(small)} == {ASSISTANT}
    said_everywhere(small, f"the assistant that wrote it ({number} questions)")
    assert "agents (" not in small.last.data("summary")
    assert tone_of_reviewed(small) == ""


def test_a_review_in_which_both_answered_names_both_with_their_numbers(small: Journey) -> None:
    """The agent's finding is fixed; the assistant then answers that question alone."""
    block = small.run(*words_of(small.last.runs()[0]))
    first, *rest = all_pass(block)
    finding = "src/a.py:2 has no reason; say why"
    small.write_answer(
        "verdicts-plan-code-1.json", [{**first, "status": FAIL, "finding": finding}, *rest]
    )
    small.run(*words_of(block.next("done")))
    small.last = small.planner("step", "planner")
    assert small.point == POINTS["gate"], small.last.text
    small.follow(small.last.next("fail"))
    small.advance()
    assert small.point == POINTS["code review"], small.last.text
    again = small.run(*words_of(small.last.runs()[0]), "--by", "host")
    small.write_answer("verdicts-plan-code-1.json", all_pass(again))
    small.follow(again.next("done"))
    small.to("submitted")
    anew = "the assistant that wrote it (1 question)"
    said_everywhere(small, f"agents ({len(rest)} questions) and {anew}")


def test_a_plan_that_nobody_has_read_says_so(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files=FILES)).to("submitted")
    said_everywhere(journey, "nobody: a program alone has checked this plan")
    assert tone_of_reviewed(journey) == "bad"


def test_the_gate_tells_whose_answers_it_counts(small: Journey) -> None:
    block = small.follow(small.last.next("alone"))
    first, *rest = all_pass(block)
    rows = [{**first, "status": FAIL, "finding": "f hides a builtin", "severity": "COULD"}, *rest]
    small.write_answer("verdicts-plan-code-1.json", rows)
    small.follow(block.next("done"))
    assert small.point == POINTS["gate"], small.last.text
    said = small.last.data("answers").splitlines()
    assert [line.partition(":")[0] for line in said] == ["script", "the assistant itself"]
    assert f"{len(rest)} PASS, 1 FAIL" in said[1]
