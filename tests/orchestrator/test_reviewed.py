"""Who has reviewed a plan, what it passed with, and what nobody asked (RV-2, RV-3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.reviewed import answers_of, beyond_limit, left_out, passed_with, reviewers_of
from state.results import Answer, OpenItem, Outcome, Unasked

if TYPE_CHECKING:
    from shared.qr.types import Severity

pytestmark = pytest.mark.requirement("RV-2", "RV-3")


def outcome(phase: str = "plan-code", **values: Any) -> Outcome:  # noqa: ANN401 – fields of any type
    given = {"phase": phase, "iteration": 1, "by": "reviewer", "tree": None, **values}
    return Outcome(**given)


def answer(by: str, check: str = "fits", **values: Any) -> Answer:  # noqa: ANN401
    given = {"check": check, "scope": "*", "severity": "MUST", "status": "PASS", "by": by, **values}
    return Answer(**given)


def item(number: int, severity: Severity, accepted: str = "") -> OpenItem:
    name = f"qa-{number:03}"
    return OpenItem(id=name, check="c", severity=severity, finding="f", accepted=accepted)


def test_who_answered_is_counted_over_all_phases() -> None:
    agents = outcome(answers=[answer("agent"), answer("agent", "b")])
    alone = outcome("plan-docs", answers=[answer("assistant")])
    assert answers_of([agents, alone]) == {"agent": 2, "assistant": 1}
    assert reviewers_of([agents]) == "agents (2 questions)"
    assert reviewers_of([alone]) == "the assistant that wrote it (1 question)"
    both = "agents (2 questions) and the assistant that wrote it (1 question)"
    assert reviewers_of([alone, agents]) == both
    assert reviewers_of([]) == reviewers_of([outcome(by="script")])
    assert reviewers_of([]) == "nobody: a program alone has checked this plan"


def test_of_a_plan_without_recorded_answers_it_is_known_whether_the_host_was_alone() -> None:
    assert answers_of([outcome(judged=["a", "b"])]) == {"agent": 2}
    assert answers_of([outcome(judged=["a"], alone=True)]) == {"assistant": 1}


@pytest.mark.parametrize(
    ("iteration", "against", "left"),
    [
        (1, ["qa-001", "qa-002", "qa-003"], []), (3, ["qa-001", "qa-002"], ["qa-003"]),
        (5, ["qa-001"], ["qa-002", "qa-003"]),
    ],
)  # fmt: skip
def test_a_finding_is_against_the_figures_where_its_severity_blocks_in_that_round(
    iteration: int, against: list[str], left: list[str]
) -> None:
    items = [item(1, "MUST"), item(2, "SHOULD"), item(3, "COULD"), item(4, "MUST", "as agreed")]
    passed = passed_with([outcome(iteration=iteration, open=items)])["plan-code"]
    assert [i.id for i in passed.against] == against
    assert [i.id for i in passed.open] == left
    assert [i.id for i in passed.accepted] == ["qa-004"]


def test_the_notes_of_reviewers_name_question_scope_and_answer() -> None:
    answers = [
        answer("agent"), answer("agent", "b", note="only on Linux"),
        answer("agent", "c", note="a doubt", scope="M-001", status="FAIL"),
    ]  # fmt: skip
    assert passed_with([outcome(answers=answers)])["plan-code"].notes == [
        "“b” passed: only on Linux", "“c” of M-001 failed: a doubt"
    ]  # fmt: skip


def test_what_nobody_asked_stands_by_its_reason_until_a_later_review_asks_it() -> None:
    first = outcome(unasked=[
        Unasked(check="a", scopes=["M-001", "M-002"], reason="small", triggered=True),
        Unasked(check="b", reason="small"), Unasked(check="c", reason="no code"),
        Unasked(check="d", reason="limit", triggered=True),
    ])  # fmt: skip
    assert left_out([first]) == [
        "small: “a” of M-001, M-002, “b”", "no code: “c”", "limit: “d”"
    ]  # fmt: skip
    assert beyond_limit([first]) == "3 questions of less weight not asked"
    asked = outcome("plan-docs", judged=["a"], unasked=[Unasked(check="b", reason="late")])
    assert left_out([first, asked]) == ["no code: “c”", "limit: “d”", "late: “b”"]
    assert beyond_limit([first, asked]) == "1 question of less weight not asked"
    assert beyond_limit([asked]) == ""
    assert left_out([]) == []
