"""Verdicts on an answer: the limits of revisions and retries hold, and nothing is reset."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.journey import FILES, Answer
from tests.strategies import FAILURE, RETRY_TEMPLATE, Choice, goal, plan

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

    Repositories = Callable[..., Repository]

pytestmark = pytest.mark.requirement("ST-5")


@pytest.fixture
def answered(make_repo: Repositories) -> Choice:
    """Return a chat whose answer is written and not judged yet."""
    choice = Choice(make_repo(files=FILES), "--chat")
    choice.choose(plan("synthesis"))
    choice.answers()
    assert choice.name == "validation"
    return choice


def status_of(choice: Choice) -> str:
    return choice.planner("status").data("status").split()[0]


def test_an_accepted_answer_completes_the_run_and_its_document_stays(answered: Choice) -> None:
    answer = answered.judge("APPROVE")
    assert "Give the user the answer in" in answer.text
    assert status_of(answered) == "Completed"
    assert "### Attempt 1: APPROVE" in answered.section(7)
    assert "The answer." in answered.section(6)
    assert answered.planner("strategy", "verdict", "APPROVE") == answer
    assert "completed" in answered.planner("step", "strategy").text


def test_a_revision_writes_the_answer_alone_again_at_most_twice(answered: Choice) -> None:
    for number in (1, 2):
        answered.judge("REVISE", reason=f"reason {number}")
        assert answered.name == "synthesis"
        assert f"reason {number}" in answered.last.data("§7 validation")
        answered.answers(f"Answer {number + 1}.")
        assert answered.name == "validation"
    assert len(answered.facts.plans) == 1
    assert [one["text"] for one in answered.facts.answers] == [
        "The answer.", "Answer 2.", "Answer 3."
    ]  # fmt: skip
    given_up = answered.judge("REVISE", reason="reason 3")
    assert "REVISE was used 2 times already" in given_up.data("tried")
    assert status_of(answered) == "Cancelled"


def test_a_retry_shows_the_sections_in_their_reading_order(make_repo: Repositories) -> None:
    choice = Choice(make_repo(files=FILES), "--chat")
    choice.start()
    block = {"title": "Known", "source_type": "note", "provenance": ["x"], "content": "a fact"}
    choice.write_answer("gathered.json", {"gathered": [block]})
    choice.planner("strategy", "context", "--file", "answers/gathered.json")
    shown = choice.to_retry()
    assert choice.name == "strategy"
    names = [d.get("name", "") for d in shown.block.iter("data")]
    assert [name[:2] for name in names] == ["§7", "§4", "§6", "§0", "§2"]
    assert "This is attempt 2, the last" in shown.text
    assert str(FAILURE["instruction"]) in shown.data(names[0])


@pytest.mark.parametrize(
    ("replan", "said"),
    [("local", "Keep the goals"), ("partial", "goals that failed"), ("full", "anew"),
     ("clarify", "route to clarify")],
)  # fmt: skip
def test_a_verdict_may_say_how_much_is_planned_anew(
    answered: Choice, replan: str, said: str
) -> None:
    shown = answered.judge("RETRY", replan=replan)
    assert said in (shown.block.findtext("task") or "")
    assert f"**Replan:** {replan}" in answered.section(7)


def test_a_second_retry_gives_up_with_what_was_tried(make_repo: Repositories) -> None:
    choice = Choice(make_repo(files=FILES), "--chat")
    choice.to_retry()
    choice.choose(RETRY_TEMPLATE)
    choice.ends("GOAL_1")
    choice.answers("Better.")
    given_up = choice.judge("RETRY", reason="still wrong")
    assert "Given up after 2 attempts" in given_up.text
    tried = given_up.data("tried")
    for text in ("Attempt 1: executor – Gather candidates", "Attempt 2: executor – Search verified",
                 "Found N candidate listings", "URL_NOT_IN_RESEARCH", "still wrong",
                 "RETRY was used once already, which is the limit"):  # fmt: skip
        assert text in tried
    assert choice.planner("strategy", "verdict", "RETRY", "--file", "answers/verdict.json") == (
        given_up
    )
    assert status_of(choice) == "Cancelled"
    assert "### Attempt 2: FAIL" in choice.section(7)


def test_a_retry_says_itself_that_it_is_one(answered: Choice) -> None:
    answered.judge("RETRY")
    refused = answered.choose(plan("synthesis", is_retry=False, attempt=1))
    assert {p.attrib["at"] for p in refused.block.iter("problem")} == {"is_retry", "attempt"}
    answered.choose(plan("synthesis", goal(1, "Answer from other sources")))
    stored = answered.facts.plan
    assert (stored["is_retry"], stored["attempt"]) == (True, 2)
    assert stored["previous_failure"]["reason"] == FAILURE["reason"]


def test_a_repeated_verdict_changes_nothing(answered: Choice) -> None:
    shown = answered.judge("RETRY")
    before = answered.document
    again = answered.planner("strategy", "verdict", "RETRY", "--file", "answers/verdict.json")
    assert again == shown
    assert answered.document == before
    other = answered.planner("strategy", "verdict", "APPROVE")
    assert other.problems[0][0] == "conflict"
    assert "this belongs to validation and extend; the strategy is at strategy" in other.text


def test_every_fault_of_a_verdict_is_told(answered: Choice) -> None:
    answered.write_answer(
        "verdict.json", {"reason": "", "issues": [1], "replan": "all", "colour": "red"}
    )
    refused = answered.follow("retry")
    assert {p.attrib["at"] for p in refused.block.iter("problem")} == {
        "reason", "issues[0]", "instruction", "replan", "colour"
    }  # fmt: skip
    without = answered.planner("strategy", "verdict", "FAIL")
    assert without.problems[0][0] == "usage"
    assert answered.planner("strategy", "verdict", "MAYBE").code == 2


def test_a_failure_gives_up_at_once(answered: Choice) -> None:
    answer: Answer = answered.judge("FAIL", reason="nobody knows")
    assert "Given up after 1 attempt." in answer.text
    assert "nobody knows" in answer.data("tried")
    assert status_of(answered) == "Cancelled"
    assert "cancelled" in answered.planner("step", "strategy").text
