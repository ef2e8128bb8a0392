"""What a program sees in real changes, and the questions that it leads to (RV-2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from quality_reviewer.questions import QUESTIONS
from quality_reviewer.scopes import Scopes
from quality_reviewer.selection import items_for, select
from quality_reviewer.signs import ABSENT, riskiest_intents, riskiest_tasks, signs_of
from shared.qr.types import MUST
from tests.quality_reviewer.checks.conftest import Desk, make_milestone, make_plan

if TYPE_CHECKING:
    from state.models import Plan
    from tests.conftest import Repository
    from tests.quality_reviewer.checks.conftest import Files

pytestmark = pytest.mark.requirement("RV-2")

ALWAYS = {"scope-kept", "intent-done", "criteria-met"}
CODE = ALWAYS | {"task-holds", "intent-holds", "nothing-else", "style", "rules-kept"}
REWRITE = CODE | {"invariants-stated"}
ADDED = {"nothing-twice", "simple", "right-layer"}
CALLERS = {"callers-covered", "old-behaviour-chosen"}
FILE = "src/dates.py"
BEFORE = '"""Dates."""\n\n\ndef first(text, sep):\n    found = text\n    return found\n'
LINES = "".join(f"A{n} = B{n}\n" for n in range(9))
# The files before and after, and the questions that they lead to.
CHANGES: dict[str, tuple[Files, Files, set[str]]] = {
    "documentation": (
        {"README.md": "# Dates\n"},
        {"README.md": "# Dates\n\nParse, lock, raise; 30 s timeout.\n"},
        ALWAYS | {"rules-kept", "docs-clear", "docs-agree"},
    ),
    "tests": (
        {"tests/test_dates.py": "assert 1\n"},
        {"tests/test_dates.py": "import json\n\nassert json.loads('30')\n\n\ndef test_f(): ...\n"},
        ALWAYS,
    ),
    "a comment": (
        {FILE: BEFORE},
        {FILE: BEFORE.replace("    return", "    # Callers rely on it.\n    return")},
        ALWAYS | {"comments-say-why"},
    ),
    "a line": ({FILE: BEFORE}, {FILE: BEFORE.replace("= text", "= text + sep")}, REWRITE),
    "a line more": (
        {FILE: BEFORE},
        {FILE: BEFORE.replace("    return", "    found += sep\n    return")},
        CODE,
    ),
    "a function more": (
        {FILE: BEFORE},
        {FILE: f"{BEFORE}\n\ndef second(text):\n    return text\n"},
        CODE | ADDED,
    ),
    "a new file": ({}, {FILE: "A = B\n"}, CODE | ADDED),
    "many lines": (
        {FILE: "A = B\n"},
        {FILE: "A = B\n" + "C = D\n" * 41},
        CODE | {"simple"},
    ),
    "a public signature": (
        {FILE: BEFORE},
        {FILE: BEFORE.replace("(text, sep)", "(text)")},
        REWRITE | CALLERS | {"docs-agree"},
    ),
    "a signature over several lines": (
        {FILE: BEFORE.replace("(text, sep)", "(\n    text,\n    sep,\n)")},
        {FILE: BEFORE.replace("(text, sep)", "(\n    text,\n    sep,\n    strict,\n)")},
        CODE | CALLERS | {"docs-agree"},
    ),
    "a private signature": (
        {FILE: BEFORE.replace("first", "_first")},
        {FILE: BEFORE.replace("first(text, sep)", "_first(text)")},
        REWRITE,
    ),
    "an exported function of another language": (
        {"src/a.ts": "export function first(a: string) {\n  return a;\n}\n"},
        {"src/a.ts": "export function first(b: string) {\n  return b;\n}\n"},
        REWRITE | CALLERS | {"docs-agree"},
    ),
    "a private file deleted": ({FILE: "_A = B\n"}, {FILE: None}, REWRITE | CALLERS),
    "a test deleted": (
        {"tests/test_dates.py": "assert 1\n"},
        {"tests/test_dates.py": None},
        ALWAYS | CALLERS | {"nothing-else"},
    ),
    "a document deleted": (
        {"NOTES.md": "# Dates\n"},
        {"NOTES.md": None},
        ALWAYS | CALLERS | {"nothing-else", "rules-kept", "docs-clear", "docs-agree"},
    ),
    "a file moved": (
        {FILE: LINES},
        {FILE: None, "src/moved.py": LINES},
        CODE | CALLERS,
    ),
    "outside input": ({FILE: "A = B\n"}, {FILE: "A = B\nC = json.loads(B)\n"}, CODE),
    "a lock": (
        {FILE: "A = B\n"},
        {FILE: "A = B\nC = file_lock(B)\n"},
        CODE | {"choices-trace", "invariants-stated"},
    ),
    "an error": (
        {FILE: "A = B\n"},
        {FILE: "A = B\nraise NotADate(A)\n"},
        CODE | {"errors-alike"},
    ),
    "a default": ({FILE: "A = B\n"}, {FILE: "A = B\nDEFAULT = A\n"}, CODE | {"choices-trace"}),
    "a number": ({FILE: "A = B\n"}, {FILE: "A = B\nC = 30\n"}, CODE | {"choices-trace"}),
}


@pytest.fixture
def desk(repo: Repository) -> Desk:
    """Return a desk in a repository with one commit."""
    return Desk(repo)


def due(plan: Plan) -> set[str]:
    """Return the names of all questions that a plan leads to, whatever the phase."""
    return {name for name, _ in select(QUESTIONS, plan, small=False, asked=(), answered=()).due}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_is_asked_about_what_it_touches_and_nothing_else(desk: Desk, change: str) -> None:
    before, after, expected = CHANGES[change]
    assert due(desk.subject(after, before).plan) == expected


PLANS: dict[str, tuple[dict[str, Any], set[str]]] = {
    "alternatives": (
        {"planning_context": {"rejected_alternatives": [
            {"id": "RA-001", "alternative": "a", "rejection_reason": "b", "decision_ref": None}]}},
        {"alternatives-real"},
    ),
    "alternatives of the user": (
        {"context": {"rejected_alternatives": ["a library"]}}, {"alternatives-real"}),
    "invariants": ({"invisible_knowledge": {"invariants": ["sorted"]}}, {"knowledge-near"}),
    "tradeoffs": ({"invisible_knowledge": {"tradeoffs": ["slow"]}}, {"knowledge-near"}),
    "knowledge": ({"context": {"invisible_knowledge": ["sorted"]}}, {"knowledge-near"}),
}  # fmt: skip


@pytest.mark.parametrize("case", PLANS)
def test_what_a_plan_records_is_asked_about(desk: Desk, case: str) -> None:
    before, after, expected = CHANGES["a line"]
    fields, more = PLANS[case]
    assert due(desk.subject(after, before, plan=fields).plan) == expected | more


def test_several_milestones_are_asked_how_they_fit_and_each_about_its_own(desk: Desk) -> None:
    before, after, _ = CHANGES["a public signature"]
    one = desk.subject(after, before).plan.milestones[0]
    other = make_milestone(
        id="M-002", number=2, files=["README.md"], acceptance_criteria=[],
        code_intents=[{"id": "CI-002", "file": "README.md", "behavior": "says so"}],
    )  # fmt: skip
    plan = make_plan(milestones=[one.model_dump(), other])
    found = select(QUESTIONS, plan, small=False, asked=(), answered=())
    assert {"slices-vertical", "design-clear", "milestones-agree"} <= due(plan)
    of_second = {check for check, scope in found.due if scope == "M-002"}
    assert of_second == {"intent-done"}
    assert found.unasked["criteria-met", "M-002"] == ABSENT["criteria"]
    assert found.unasked["callers-covered", "M-002"] == (
        f"{ABSENT['signature']}; {ABSENT['removed']}"
    )


def test_where_only_tests_are_touched_that_is_why_no_question_is_asked_about_code(
    desk: Desk,
) -> None:
    """A test is code, and here it has a function more: no reason may deny that."""
    before, after, _ = CHANGES["tests"]
    plan = desk.subject(after, before).plan
    unasked = select(QUESTIONS, plan, small=False, asked=(), answered=()).unasked
    only = "no code but tests is touched"
    assert unasked["nothing-else", "M-001"] == f"{only}; {ABSENT['removed']}"
    assert unasked["right-layer", "*"] == only
    assert unasked["rules-kept", "*"] == f"{only}; {ABSENT['documents']}"
    before, after, _ = CHANGES["documentation"]
    plan = desk.subject(after, before).plan
    unasked = select(QUESTIONS, plan, small=False, asked=(), answered=()).unasked
    assert unasked["style", "*"] == ABSENT["code"]


def test_every_question_is_asked_or_left_out_with_a_reason(desk: Desk) -> None:
    for before, after, _ in CHANGES.values():
        found = select(QUESTIONS, desk.subject(after, before).plan, small=False, asked=(),
                       answered=())  # fmt: skip
        named = {check for check, _ in [*found.due, *found.unasked]}
        assert named == {q.id for q in QUESTIONS if q.who != "author"}
        assert all(found.unasked.values())


@pytest.mark.parametrize("change", ["documentation", "tests", "a comment", "a test deleted"])
def test_what_leads_a_review_is_left_out_with_a_reason_where_no_code_is_planned(
    desk: Desk, change: str
) -> None:
    before, after, _ = CHANGES[change]
    found = select(QUESTIONS, desk.subject(after, before).plan, small=False, asked=(), answered=())
    assert found.unasked["intent-holds", "*"] == "no intent is about code"
    assert found.unasked["task-holds", "*"] == "no code is for an entry of the task"


def test_a_plan_without_milestones_names_what_it_is_not_asked_about_them() -> None:
    found = select(QUESTIONS, make_plan(milestones=[]), small=False, asked=(), answered=())
    assert found.unasked["intent-done", "*"] == "no milestone"
    assert found.due == [("scope-kept", "*")]


# before there is code


INTENTS = {
    "adds two": set(),
    "renames the option --strict": CALLERS | {"docs-agree"},
    "deletes the file": CALLERS,
    "reads JSON from the request": set(),
    "holds the locks while it writes": {"choices-trace"},
    "fails where the date is wrong": {"errors-alike"},
    "waits 30 seconds": {"choices-trace"},
    "has a default": {"choices-trace"},
}


@pytest.mark.parametrize("behaviour", INTENTS)
def test_an_intent_without_code_is_asked_about_what_its_words_say(behaviour: str) -> None:
    intents = [{"id": "CI-001", "file": FILE, "behavior": behaviour}]
    plan = make_plan(milestones=[make_milestone(code_intents=intents)])
    assert due(plan) == REWRITE | ADDED | INTENTS[behaviour]


def test_what_the_patch_shows_counts_and_not_what_the_intent_says(desk: Desk) -> None:
    before, after, expected = CHANGES["a line"]
    intents = [{"id": "CI-001", "file": FILE, "behavior": "renames an option, with a default"}]
    assert due(desk.subject(after, before, code_intents=intents).plan) == expected


# edges and what leads


def words_of(plan: Plan, check: str) -> str:
    """Return what a question asks about a plan's first milestone."""
    [item] = items_for([(check, "M-001")], plan, Scopes(plan), previous=[], earlier={})
    return item.asked or ""


EDGES = {
    "documentation": "The change does what its intents say.",
    "a line": "The change does what its intents say.",
    "outside input": "what its intents say, also for empty, huge and malformed input.",
    "a lock": "what its intents say, also for concurrent use.",
    "an error": "what its intents say, also for failing calls.",
}


@pytest.mark.parametrize("change", EDGES)
def test_the_edges_asked_about_are_those_that_the_change_shows(desk: Desk, change: str) -> None:
    before, after, _ = CHANGES[change]
    assert words_of(desk.subject(after, before).plan, "intent-done").endswith(EDGES[change])


def test_the_two_riskiest_entries_lead_the_review(desk: Desk) -> None:
    before = {f"src/{name}.py": "A = B\n" for name in "abcd"}
    after = {
        "README.md": "More.\n",
        "src/a.py": "A = C\n",
        "src/b.py": "A = B\nC = D\nE = F\nG = H\n",
        "src/c.py": "A = B\nlock = json.loads(A)\n",
        "src/d.py": "A = B\nraise B\n",
    }
    plan = desk.subject(dict(after), dict(before)).plan
    by_file = {i.file: i.id for i in plan.milestones[0].code_intents}
    assert riskiest_intents(plan, 4) == [by_file[f"src/{name}.py"] for name in "cdba"]
    assert riskiest_tasks(plan, 2) == ["T-1"]
    found = select(QUESTIONS, plan, small=False, asked=(), answered=()).due
    assert [scope for check, scope in found if check == "intent-holds"] == [
        by_file["src/c.py"], by_file["src/d.py"]]  # fmt: skip
    leading = {"task-holds", "intent-holds"}
    assert {check for check, _ in found[:3]} == leading
    flagged = make_milestone(
        id="M-002", number=2, files=["src/e.py"], flags=["high-risk"], tests={"skip_reason": "x"},
        code_intents=[{"id": "CI-009", "file": "src/e.py", "behavior": "adds two"}],
    )  # fmt: skip
    both = make_plan(milestones=[plan.milestones[0].model_dump(), flagged])
    assert riskiest_intents(both, 1) == ["CI-009"]


def test_an_entry_that_leads_stays_while_it_exists(desk: Desk) -> None:
    before, after, _ = CHANGES["a line"]
    more = {"src/b.py": "A = json.loads(B)\n"}
    plan = desk.subject({**after, **more}, before).plan
    first = next(i.id for i in plan.milestones[0].code_intents if i.file == FILE)
    asked = [("intent-holds", first), ("intent-holds", "CI-099")]
    found = select(QUESTIONS, plan, small=False, asked=asked, answered=()).due
    assert next(s for check, s in found if check == "intent-holds") == first
    assert ("intent-holds", "CI-099") not in found


# how many


def test_a_small_plan_is_asked_seven_questions_or_every_must(desk: Desk) -> None:
    questions = [q for q in QUESTIONS if q.per != "task" and not q.phase.startswith("impl")]
    severity = {q.id: q.severity for q in QUESTIONS}
    for before, after, _ in CHANGES.values():
        plan = desk.subject(after, before).plan
        found = select(questions, plan, small=True, asked=(), answered=())
        musts = [check for check, _ in found.due if severity[check] == MUST]
        whole = select(questions, plan, small=False, asked=(), answered=())
        assert len(found.due) <= max(7, len(musts))
        assert musts == [check for check, _ in whole.due if severity[check] == MUST]
        rest = set(whole.due) - set(found.due)
        assert not rest or len(found.due) >= 7
        assert {found.unasked[name] for name in rest} <= {"a small plan is asked 7 questions"}
        assert found.beyond == rest


def test_a_small_plan_with_more_than_seven_musts_is_asked_all_of_them(desk: Desk) -> None:
    after = "def first(text):\n    if lock:\n        raise TimeoutError(30, json.loads(text))\n"
    plan = desk.subject({FILE: after}, {FILE: BEFORE}).plan
    found = select([q for q in QUESTIONS if q.per != "task"], plan, small=True, asked=(),
                   answered=())  # fmt: skip
    assert {check for check, _ in found.due} == {
        "intent-holds", "scope-kept", "choices-trace", "callers-covered", "invariants-stated",
        "criteria-met", "intent-done", "nothing-else", "errors-alike",
    }  # fmt: skip


def test_what_other_phases_have_answered_counts_towards_the_seven(desk: Desk) -> None:
    before, after, _ = CHANGES["documentation"]
    docs = [q for q in QUESTIONS if q.phase == "plan-docs"]
    plan = desk.subject(after, before).plan
    answered = [(f"other-{n}", "*") for n in range(6)]
    found = select(docs, plan, small=True, asked=(), answered=answered)
    assert found.due == [("rules-kept", "*")]
    stays = select(docs, plan, small=True, asked=[("docs-clear", "*")], answered=answered)
    assert ("docs-clear", "*") in stays.due


def test_the_signs_of_a_milestone_are_not_those_of_another(desk: Desk) -> None:
    before, after, _ = CHANGES["a lock"]
    one = desk.subject(after, before).plan.milestones[0].model_dump()
    plan = make_plan(milestones=[one, make_milestone(id="M-002", number=2, code_intents=[])])
    signs = signs_of(plan)
    assert "concurrency" in signs.of("M-001")
    assert "concurrency" not in signs.of("M-002")
    assert "concurrency" in signs.of("*")
