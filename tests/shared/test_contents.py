"""The list of what a milestone says decides what each of its readers is shown (SD-5)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from orchestrator.submit.plan_md import render_plan
from shared.contents import (
    AUTHOR,
    CARRIER,
    DESIGN_REVIEWER,
    MILESTONE,
    PERSON,
    READERS,
    REVIEWER,
    Row,
)
from shared.steps.slices import milestone_slice, review_slice, work_slice
from state.edits import finish
from state.models import Milestone, Plan
from state.plan_table import Plan as ReadPlan
from state.shape import read
from tests.state.plans import empty_plan, plain

if TYPE_CHECKING:
    from shared.contents import Content

# A milestone that says something of each kind, each in words of its own.
WHOLE = Milestone.model_validate({
    "id": "M-001", "number": 1, "name": "One", "acceptance_criteria": ["it is red"],
    "code_intents": [{"id": "CI-001", "file": "paint.py", "behavior": "paints", "function": "f"}],
    "tests": {
        "files": ["checks.py"], "skip_reason": "too dear",
        "scenarios": {"normal": ["a wall"], "edge": ["no wall"], "error": ["no paint"]},
    },
    "documentation": {"docstrings": [{"id": "DOC-001", "file": "paint.py", "text": "why red"}]},
    "waits_for": ["CP-001"], "flags": ["high-risk"],
})  # fmt: skip
ASKED = {"id": "CP-001", "question": "Which?", "options": [
    {"key": "a", "label": "A"}, {"key": "b", "label": "B"}]}  # fmt: skip


def shown_to(reader: str, plan: Plan) -> str:
    """Return the text about the milestone that a reader gets, without what stands around it."""
    if reader == PERSON:
        return render_plan(plan, {}).partition("### M-001")[2]
    read_plan, faults = read(plain(plan), ReadPlan)
    assert not faults
    if reader == AUTHOR:
        return work_slice(read_plan, "plan-code", ["M-001"])
    if reader == CARRIER:
        return milestone_slice(read_plan, "M-001", whole=False)
    phase = "plan-design" if reader == DESIGN_REVIEWER else "plan-code"
    assert reader in (DESIGN_REVIEWER, REVIEWER)
    return review_slice(read_plan, phase, ["M-001"], again=False)


def words_of(row: Row) -> str:
    return row.text or row.files[0]


@pytest.mark.requirement("SD-5")
@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("content", MILESTONE, ids=lambda content: str(content.title))
def test_a_reader_is_shown_what_the_list_says_and_nothing_else(
    reader: str, content: Content
) -> None:
    plan = finish(empty_plan(milestones=[WHOLE], checkpoints=[ASKED]))
    rows = [*content.rows(plan.milestones[0])]
    assert rows, "the milestone of this test says nothing of this kind"
    text = shown_to(reader, plan)
    for row in rows:
        stands = re.search(rf"(?<!\w){re.escape(words_of(row))}(?!\w)", text) is not None
        assert stands == (reader in content.shown), row


def test_a_row_is_one_line_in_any_format() -> None:
    row = Row("paints", "CI-001", ("a.py", "b.py"), why="asked", refs=("DL-001",))
    assert row.line("") == "CI-001 a.py, b.py: paints (DL-001) – asked"
    assert (
        row.line("", str.upper, "`{}`".format) == "CI-001 `a.py`, `b.py`: PAINTS (DL-001) – ASKED"
    )
    assert Row(files=("a.py",)).line("tests") == "tests: a.py"
    assert Row("no wall", kind="edge").line("test") == "test, edge: no wall"
    assert Row("a choice", "RA-001", why="slow").line("not chosen") == (
        "RA-001, not chosen: a choice – slow"
    )
    assert Row("bare").line("") == "bare"
