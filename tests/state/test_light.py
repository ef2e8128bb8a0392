"""Light plans: what they must hold, their digest, their steps (PM-6)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from state.light import DONE, STARTED, digest_of, is_done, mark, parse_light
from tests.state.plans import outcome, refusal

pytestmark = pytest.mark.requirement("PM-6")

PLAN: dict[str, Any] = {
    "summary": "Move the importer to ISO dates. Old files are read as before.",
    "steps": [
        {"description": "Read the formats", "tools": ["Read"], "risk": "low"},
        {"description": "Change the parser", "tools": ["Edit", "Bash"], "risk": "medium"},
        {"description": "Rewrite the archive", "tools": ["Bash"], "risk": "high"},
    ],
    "questions": ["Is 1904 a year here?"],
    "context_notes": "One caller.",
}


def with_step(**values: object) -> dict[str, Any]:
    return {**PLAN, "steps": [{**PLAN["steps"][0], **values}]}


@pytest.mark.parametrize(
    ("plan", "at"),
    [
        ([], "plan"),
        ({}, "summary"),
        ({**PLAN, "summary": " \n"}, "summary"),
        ({**PLAN, "summary": "One. Two. Three. Four."}, "summary"),
        ({**PLAN, "summary": "a\ud800"}, "summary"),
        ({**PLAN, "steps": []}, "steps"),
        ({**PLAN, "steps": ["edit"]}, "steps[0]"),
        (with_step(description=""), "steps[0].description"),
        (with_step(tools="Edit"), "steps[0].tools"),
        (with_step(tools=[1]), "steps[0].tools[0]"),
        (with_step(risk="green"), "steps[0].risk"),
        (with_step(status="done"), "steps[0].status"),
        ({**PLAN, "questions": "none"}, "questions"),
        ({**PLAN, "context_notes": ["x"]}, "context_notes"),
        ({**PLAN, "approved": True}, "approved"),
    ],
)
def test_what_a_plan_lacks_or_should_not_have_is_named(plan: object, at: str) -> None:
    assert at in [problem.at for problem in refusal(parse_light, plan)]


def test_everything_that_is_wrong_is_said_at_once() -> None:
    plan = {"summary": "", "steps": [{"description": "x", "risk": "none"}, 7], "more": 1}
    places = [problem.at for problem in refusal(parse_light, plan)]
    assert places == ["more", "summary", "steps[0].risk", "steps[1]"]


@pytest.mark.parametrize(
    "summary",
    ["No full stop", "One. Two! Three?", "Set v1.2 to 1.3, e.g. in a.py.", "一。二。", "Really?!"],
)
def test_one_to_three_sentences_are_a_summary(summary: str) -> None:
    assert parse_light({**PLAN, "summary": summary})["summary"] == summary


def test_questions_notes_and_tools_may_be_left_out() -> None:
    plan = parse_light({"summary": "Do it", "steps": [{"description": "x", "risk": "low"}]})
    assert (plan["questions"], plan["context_notes"], plan["steps"][0]["tools"]) == ([], "", [])


def test_a_digest_names_the_content_and_not_the_progress() -> None:
    plan = parse_light(PLAN)
    digest = digest_of(plan)
    assert digest_of(mark(plan, 1, DONE)) == digest
    assert digest_of(parse_light(json.loads(json.dumps(PLAN, indent=3)))) == digest
    changes: list[dict[str, Any]] = [
        {"summary": "Other"}, {"questions": []}, {"steps": PLAN["steps"][::-1]},
    ]  # fmt: skip
    for change in changes:
        assert digest_of(parse_light({**PLAN, **change})) != digest


def test_steps_are_started_and_done_and_stay_done() -> None:
    plan = parse_light(PLAN)
    for number in (1, 2, 3):
        assert not is_done(plan)
        plan = mark(mark(plan, number, STARTED), number, DONE)
        assert mark(plan, number, STARTED) == plan
    assert is_done(plan)


@pytest.mark.parametrize("number", [-1, 0, 4, 10**9])
def test_a_step_that_is_not_there_is_refused(number: int) -> None:
    assert refusal(mark, parse_light(PLAN), number, DONE)[0].allowed == "1 to 3"


KEYS = st.sampled_from([*PLAN, *PLAN["steps"][0]])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.just("low"),
    lambda inner: st.lists(inner) | st.dictionaries(KEYS, inner),
)


@given(VALUES)
def test_any_value_is_a_plan_or_refused(value: object) -> None:
    plan, problems = outcome(parse_light, value)
    assert problems or len(digest_of(plan or {})) == 64
