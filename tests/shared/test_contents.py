"""The list of what a plan says decides what each of its readers is shown (SD-5)."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.submit.page.facts import Facts
from orchestrator.submit.page.render import render_page
from orchestrator.submit.plan_md import render_plan
from quality_reviewer.questions import basis_of, may_ask
from quality_reviewer.review_slice import review_slice
from shared.contents import (
    AGAIN,
    AUTHOR,
    CARRIER,
    DESIGN_REVIEWER,
    DESIGNER,
    DEVELOPER,
    DOCS_REVIEWER,
    MILESTONE,
    PERSON,
    PLAN,
    PLANNER,
    REDESIGNER,
    REMARKS,
    REVIEWER,
    TASK,
    TESTS,
    WRITER,
    Row,
)
from shared.steps.slices import agent_slice, milestone_slice, work_slice
from state.edits import finish
from state.models import Milestone, Plan, UserContext
from state.phases import PHASES
from state.plan_table import Plan as ReadPlan
from state.shape import read
from tests.orchestrator.submit.page.reviews import run_row
from tests.orchestrator.submit.page.test_html import Parsed
from tests.state.plans import empty_plan, plain

if TYPE_CHECKING:
    from collections.abc import Callable

    from shared.contents import Content
    from state.fields import Model
    from state.phases import Phase


def in_words(model: type[Model]) -> dict[str, Any]:
    """Return each field of a model that holds text or texts, in words of its own."""
    kinds: dict[Any, str | list[str]] = {
        str: "{} in words", str | None: "{} in words", tuple[str, ...]: ["{} in words"],
    }  # fmt: skip
    fields = {name: kinds.get(field.annotation) for name, field in model.model_fields.items()}
    return {
        name: [text.format(name) for text in kind] if isinstance(kind, list) else kind.format(name)
        for name, kind in fields.items()
        if kind is not None
    }


# A milestone and a plan that say something of each kind, each in words of its own.
WHOLE = {
    **in_words(Milestone),
    "id": "M-001", "number": 1, "requirements": ["T-1"],
    "code_intents": [{"id": "CI-001", "file": "paint.py", "behavior": "paints", "function": "f",
                      "params": {"coats": 2}, "decision_refs": ["DL-001"]}],
    "tests": {
        "files": ["checks.py"], "skip_reason": "too dear", "type": "by eye", "backing": "the law",
        "scenarios": {"normal": ["a wall"], "edge": ["no wall"], "error": ["no paint"]},
    },
    "documentation": {"docstrings": [{"id": "DOC-001", "file": "paint.py", "text": "why red"}]},
    "code_changes": [{"id": "CC-001", "file": "paint.py", "intent_ref": "CI-001",
                      "why_comments": [{"text": "red is cheap", "decision_ref": "DL-001"}]}],
    "waits_for": ["CP-001"], "files": ["paint.py", "GUIDE.md"],
}  # fmt: skip
ASKED = {"id": "CP-001", "question": "Which?", "options": [
    {"key": "a", "label": "A"}, {"key": "b", "label": "B"}]}  # fmt: skip
REASONS = {
    "task_spec": [
        {"id": "T-1", "text": "the house is red"},
        {"id": "T-2", "text": "not the roof", "out_of_scope": True},
    ],
    "user_remarks": [{"id": "RM-001", "text": "brighter, please", "revision": 1}],
    "remarks": ["the base has moved"],
    "unproven": [{"id": "T-1", "text": "T-1 names the roof"}],
    "context": in_words(UserContext),
    "overview": {"title": "Paint", "problem": "it is grey", "approach": "one coat"},
    "planning_context": {
        "decision_log": [{"id": "DL-001", "decision": "oil", "reasoning_chain": "it lasts"}],
        "rejected_alternatives": [
            {"id": "RA-001", "alternative": "chalk", "rejection_reason": "washed off"}
        ],
        "constraints": [{"id": "C-001", "description": "no lead"}],
        "known_risks": [{"id": "R-001", "risk": "rain", "mitigation": "a tent"}],
    },
    "invisible_knowledge": {
        "architecture": {"diagram_ascii": "wall <- paint", "description": "two layers"},
        "data_flow": {"description": "from top to bottom"},
        "structure_rationale": "paint runs down",
        "invariants": [{"id": "INV-001", "text": "doors open"}],
        "tradeoffs": [{"id": "TO-001", "text": "beauty for speed"}],
    },
}
FOUND = "DL-001 RA-001 C-001 R-001 INV-001 TO-001"


@cache
def sample() -> tuple[Plan, ReadPlan]:
    """Return the plan as commands and as printed steps have it."""
    plan = finish(empty_plan(milestones=[WHOLE], checkpoints=[ASKED], **REASONS))
    read_plan, faults = read(plain(plan), ReadPlan)
    assert not faults
    return plan, read_plan


def judged(phase: str, *, again: bool = False) -> Callable[[Plan, ReadPlan], str]:
    found = FOUND if again else None
    return lambda _, read: review_slice(read, phase, ["M-001"], found=found)


def written(phase: str) -> Callable[[Plan, ReadPlan], str]:
    return lambda _, read: agent_slice(read, phase, ["M-001"])


def words_of_page(plan: Plan) -> str:
    return Parsed(render_page(Facts(plan, run_row())).replace("<", " <")).text


SHOWN: dict[tuple[str, str], Callable[[Plan, ReadPlan], str]] = {
    (PERSON, "plan.md"): lambda plan, _: render_plan(plan, {}),
    (PERSON, "page"): lambda plan, _: words_of_page(plan),
    (DESIGNER, ""): lambda _, read: agent_slice(read, "plan-design"),
    (REDESIGNER, ""): written("plan-design"),
    (DEVELOPER, ""): written("plan-code"),
    (WRITER, ""): written("plan-docs"),
    (CARRIER, ""): lambda _, read: milestone_slice(read, "M-001", whole=True),
    (PLANNER, ""): lambda _, read: work_slice(read, "plan-design", ["M-001"]),
    (AUTHOR, ""): lambda _, read: work_slice(read, "plan-code", ["M-001"]),
    (DESIGN_REVIEWER, ""): judged("plan-design"),
    (REVIEWER, ""): judged("plan-code"),
    (REVIEWER, "reconcile"): judged("impl-code"),
    (DOCS_REVIEWER, ""): judged("plan-docs"),
    (AGAIN, ""): judged("plan-code", again=True),
}


def words_of(row: Row) -> str:
    return row.text or row.files[0]


def test_every_reader_is_asked() -> None:
    readers = frozenset[str]().union(*(c.shown for c in PLAN), *(c.shown for c in MILESTONE))
    assert {reader for reader, _ in SHOWN} == readers


@pytest.mark.requirement("SD-5")
@pytest.mark.parametrize(("reader", "place"), SHOWN)
def test_a_reader_is_shown_what_the_list_says_and_nothing_else(reader: str, place: str) -> None:
    plan, read_plan = sample()
    text = SHOWN[reader, place](plan, read_plan)
    # What a reviewer is shown again of a milestone follows from the phase.
    rows_of: dict[Content[Any], list[Row]] = {c: [*c.rows(plan)] for c in PLAN}
    if reader != AGAIN:
        rows_of |= {c: [*c.rows(plan.milestones[0])] for c in MILESTONE}
    for content, rows in rows_of.items():
        assert rows, f"the plan of this test says nothing of: {content.title}"
        for row in rows:
            for words in filter(
                None, [words_of(row), row.place, row.why if content is TESTS else ""]
            ):
                stands = re.search(rf"(?<!\w){re.escape(words)}(?!\w)", text) is not None
                assert stands == (reader in content.shown), (content.title, row)


@pytest.mark.requirement("SD-5")
def test_a_decision_of_others_is_told_without_its_reasons() -> None:
    """Who carries out a milestone, and who judges again, has its own decisions with reasons."""
    _, read_plan = sample()
    own = milestone_slice(read_plan, "M-001", whole=True)
    assert "DL-001: oil – it lasts" in own
    assert "DL-001: oil – it lasts" in review_slice(
        read_plan, "plan-code", ["M-001"], found="DL-001 is wrong"
    )
    again = review_slice(read_plan, "plan-code", ["M-001"], found="checks.py")
    assert "DL-001: oil" in again
    assert "it lasts" not in again
    assert "RA-001" not in again


def test_a_row_is_one_line() -> None:
    row = Row("paints", "CI-001", ("a.py", "b.py"), why="asked", refs=("DL-001",))
    assert row.line("") == "CI-001 a.py, b.py: paints (DL-001) – asked"
    assert Row(files=("a.py",)).line("tests") == "tests: a.py"
    assert Row("no wall", kind="edge").line("test") == "test, edge: no wall"
    assert Row("a choice", "RA-001", why="slow").line("not chosen") == (
        "RA-001, not chosen: a choice – slow"
    )
    assert Row("bare").line("") == "bare"


@pytest.mark.requirement("SD-5")
@pytest.mark.parametrize("again", [False, True])
@pytest.mark.parametrize("phase", PHASES)
def test_a_reviewer_is_shown_in_each_round_what_its_question_is_about(
    phase: Phase, *, again: bool
) -> None:
    _, plan = sample()
    for question in may_ask(phase, "full", documented=True):
        about = basis_of([question.id])
        assert {*question.about} == {*about}
        text = review_slice(plan, phase, ["M-001"], about=about, found="" if again else None)
        contents = [TASK, REMARKS, *about]
        rows = [
            row
            for content in contents
            for row in content.rows(plan.milestones[0] if content in MILESTONE else plan)
        ]
        for words in (w for row in rows for w in (words_of(row), row.place, row.why, row.kind)):
            assert words in text, (question.id, words)


@pytest.mark.requirement("SD-5")
def test_a_reviewer_again_is_shown_no_other_reasons_than_those_asked_about() -> None:
    _, plan = sample()
    text = review_slice(plan, "plan-code", ["M-001"], about=basis_of(["criteria-met"]), found="")
    assert "washed off" not in text
    assert "user_quotes" not in text
    assert "DL-001: oil" in text  # an intent cites it
    assert "it lasts" not in text


@pytest.mark.requirement("SD-5")
def test_who_has_written_a_plan_is_not_told_it_again() -> None:
    _, plan = sample()
    about = basis_of(["scope-kept", "alternatives-real"])
    text = review_slice(plan, "plan-code", ["M-001"], about=about, known=True)
    assert "user_quotes" not in text
    assert "washed off" not in text


@pytest.mark.requirement("SD-5")
def test_who_may_edit_is_told_the_version_of_each_entry() -> None:
    _, plan = sample()
    text = agent_slice(plan, "plan-design", ["M-001"], edits=True)
    for name in ("M-001", "CI-001", "DOC-001", "RM-001", *FOUND.split()):
        assert re.search(rf"(?m)^ *{name} v1\b", text), name
    assert "overview v1 Paint\nknowledge v1\n" in text
    assert " v1" not in agent_slice(plan, "plan-code", ["M-001"])
