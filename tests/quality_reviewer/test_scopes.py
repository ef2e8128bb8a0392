"""Answers stay while what they are about stays (RV-5), and criteria are shown singly (RV-7)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from quality_reviewer.questions import BY_ID
from quality_reviewer.scopes import Scopes, is_same
from shared.qr.schema import read_review
from shared.qr.types import PASS, REVIEWER, TODO
from shared.resources import rendered_plan_path, review_page_path, review_path
from state.models import Remark
from state.phases import DOCS_PHASES
from tests.journey import FILES, Journey, all_pass
from tests.larger_tasks import larger
from tests.orchestrator.submit.page.test_html import Parsed
from tests.quality_reviewer.checks.conftest import Desk, make_plan

if TYPE_CHECKING:
    from collections.abc import Callable

    from shared.qr.types import Item
    from state.models import Plan
    from tests.conftest import Repository

    Repositories = Callable[..., Repository]

FILE = "src/dates.py"
DESIGN, CODE = "invariants-stated", "nothing-else"


@pytest.fixture
def plan(repo: Repository) -> Plan:
    """Return a plan with one captured change."""
    return Desk(repo).subject({FILE: "A = C\n"}, {FILE: "A = B\n"}).plan


def differs(old: Plan, new: Plan) -> set[str]:
    """Return which of three questions are about something that differs between two plans."""
    names = {"whole": ("scope-kept", "*"), "design": (DESIGN, "M-001"), "code": (CODE, "M-001")}
    return {
        which
        for which, name in names.items()
        if Scopes(old).digest(*name) != Scopes(new).digest(*name)
    }


def changed(plan: Plan, **fields: object) -> Plan:
    """Return the plan with fields of its milestone replaced."""
    [only] = plan.milestones
    return plan.model_copy(update={"milestones": (only.model_copy(update=fields),)})


@pytest.mark.requirement("RV-5")
def test_each_question_is_about_its_own_part_of_the_plan(plan: Plan) -> None:
    [only] = plan.milestones
    [intent] = only.code_intents
    [change] = only.code_changes
    other = change.model_copy(update={"after": "1" * 40})
    task = make_plan(task_spec=[{"id": "T-1", "text": "Parse"}, {"id": "T-2", "text": "x"}])
    remark = Remark(id="RM-001", text="Say why", revision=1)
    cases = {
        "bytes": (changed(plan, code_changes=(other,)), {"code"}),
        "versions": (changed(plan, version=7), set()),
        "who cites a remark": (changed(plan, requirements=("T-1", "RM-001")), set()),
        "a remark": (plan.model_copy(update={"user_remarks": (remark,)}), {"whole"}),
        "criteria": (changed(plan, acceptance_criteria=("more",)), {"whole", "design", "code"}),
        "an intent": (
            changed(plan, code_intents=(intent.model_copy(update={"behavior": "no"}),)),
            {"whole", "design", "code"},
        ),
        "the task": (plan.model_copy(update={"task_spec": task.task_spec}), {"whole"}),
    }
    assert {name: differs(plan, new) for name, (new, _) in cases.items()} == {
        name: expected for name, (_, expected) in cases.items()
    }


def due_again(old: Plan, new: Plan, scope: str, *, documented: bool = False) -> set[str]:
    """Return which questions are about something of a scope that differs between two plans."""
    return {
        check
        for check in BY_ID
        if not is_same(
            Scopes(old).digest(check, scope),
            Scopes(new).digest(check, scope),
            documented=documented,
        )
    }


@pytest.mark.requirement("SD-4", "SD-6")
def test_a_rename_makes_nothing_due_but_the_question_about_names(plan: Plan) -> None:
    overview = plan.overview.model_copy(update={"title": "Days"})
    for new in (changed(plan, name="Days"), plan.model_copy(update={"overview": overview})):
        for scope in ("*", "T-1", "M-001", "CI-001"):
            assert due_again(plan, new, scope) <= {"design-clear"}, scope
        assert due_again(plan, new, "*") == {"design-clear"}


@pytest.mark.requirement("SD-4")
def test_what_a_program_ran_with_is_no_name(plan: Plan) -> None:
    """A parameter may be called `name` or `version` without being one of ours."""
    [only] = plan.milestones
    [intent] = only.code_intents
    named = intent.model_copy(update={"params": {"name": "one", "version": 1}})
    other = intent.model_copy(update={"params": {"name": "two", "version": 1}})
    first, second = (changed(plan, code_intents=(i,)) for i in (named, other))
    assert {"intent-done", "invariants-stated"} <= due_again(first, second, "M-001")


@pytest.mark.requirement("SD-4")
def test_an_answer_is_about_the_documentation_that_its_question_is_about(plan: Plan) -> None:
    [only] = plan.milestones
    [change] = only.code_changes
    guide = change.model_copy(update={"id": "CC-009", "file": "GUIDE.md", "intent_ref": None})
    again = guide.model_copy(update={"after": "1" * 40})
    old, new = (
        changed(plan, documentation=only.documentation.model_copy(update={"changes": (one,)}))
        for one in (guide, again)
    )
    of_code = {q.id for q in BY_ID.values() if q.phase not in DOCS_PHASES}
    of_documents = {*BY_ID} - of_code | {"criteria-met", "figures-shown"}
    for documented in (False, True):
        assert due_again(old, new, "M-001", documented=documented) == of_documents
    old, new = (changed(p, is_documentation_only=True) for p in (old, new))
    judged = {q.id for q in BY_ID.values() if q.phase != "plan-design"}
    assert due_again(old, new, "M-001", documented=True) == judged


@pytest.mark.requirement("SD-4")
def test_documentation_may_comment_code_but_not_change_what_no_program_tells_apart(
    plan: Plan,
) -> None:
    [only] = plan.milestones
    for file, is_due in ((FILE, False), ("src/dates.c", True), ("GUIDE.md", True)):
        [change] = only.code_changes
        written = change.model_copy(update={"file": file})
        again = written.model_copy(update={"after": "1" * 40})
        old, new = (changed(plan, code_changes=(one,)) for one in (written, again))
        assert CODE in due_again(old, new, "M-001"), file
        assert (CODE in due_again(old, new, "M-001", documented=True)) == is_due, file


@pytest.mark.requirement("SD-4")
def test_an_answer_is_about_the_reasons_that_its_question_is_about() -> None:
    unseen = {"invariants": [{"id": "INV-001", "text": "dates are UTC"}]}
    old, new = (make_plan(invisible_knowledge=one) for one in ({}, unseen))
    assert due_again(old, new, "M-001") == {"invariants-stated", "knowledge-near"}
    log = [{"id": "DL-001", "decision": text, "reasoning_chain": "a -> b"} for text in ("x", "y")]
    old, new = (make_plan(planning_context={"decision_log": [one]}) for one in log)
    about = {"comments-say-why", "knowledge-near", "alternatives-real", "choices-trace",
             "old-behaviour-chosen"}  # fmt: skip
    assert about <= due_again(old, new, "*")
    assert not {CODE, "criteria-met", "intent-done"} & due_again(old, new, "*")


def items_of(journey: Journey, phase: Any) -> dict[tuple[str, str], Item]:  # noqa: ANN401
    """Return the reviewers' items of an open review."""
    found = read_review(review_path(journey.state_dir, phase)).items
    return {(i.check, i.scope): i for i in found if i.by == REVIEWER}


@pytest.mark.requirement("RV-5")
def test_a_fix_asks_again_about_its_own_milestone_and_the_whole(make_repo: Repositories) -> None:
    journey = larger(make_repo, "repo", (1, 1), {})
    journey.review = "full"
    journey.to("code review")
    failed = items_of(journey, "plan-code")[CODE, "M-002"].id
    finding = {"status": "FAIL", "finding": "f(0) is wrong"}
    journey.verdicts = lambda block: [
        {**row, **finding} if row["id"] == failed else row for row in all_pass(block)
    ]
    journey.to("gate")
    journey.follow(journey.last.next("fail"))
    journey.edits["src/m2_1.py"] = "def f(x):\n    return 2 + x\n"
    journey.to("code review")
    again = {name for name, item in items_of(journey, "plan-code").items() if item.status == TODO}
    kept = {name for name, item in items_of(journey, "plan-code").items() if item.status == PASS}
    assert {scope for _, scope in kept} == {"M-001", "CI-001"}
    assert {scope for _, scope in again} == {"*", "M-002", "CI-002"}


@pytest.mark.requirement("RV-5")
def test_a_revision_keeps_the_answers_about_what_it_leaves(small: Journey) -> None:
    """A remark changes the task alone: one question is about all of it."""
    small.to("submitted")
    small.write_answer("remarks.md", "Say why in a comment.")
    small.follow(small.last.next("remarks"))
    small.answers["design.json"] = []
    small.to("code review")
    items = items_of(small, "plan-code")
    again = {check for (check, _), item in items.items() if item.status == TODO}
    assert again == {"scope-kept"}
    [run] = small.last.runs()
    assert len(small.follow(run).asked()) == 1
    assert all(item.answered_by for (check, _), item in items.items() if check != "scope-kept")


@pytest.mark.requirement("SD-4")
def test_criteria_are_judged_again_where_their_documentation_is_written_later(
    make_repo: Repositories,
) -> None:
    journey = Journey(make_repo(files=FILES))
    journey.review, journey.promises_document = "full", True
    journey.to("docs review")
    due = {name for name, item in items_of(journey, "plan-docs").items() if item.status == TODO}
    assert ("criteria-met", "M-001") in due
    assert not due & {("intent-done", "M-001"), (CODE, "M-001"), ("scope-kept", "*")}


@pytest.mark.requirement("RV-5")
def test_a_moved_base_keeps_answers_except_about_callers() -> None:
    base = {"commit": "1" * 40, "branch": "main", "tree": "2" * 40}
    old, new = make_plan(base=base), make_plan(base={**base, "tree": "3" * 40})
    moved = {q.id for q in BY_ID.values() if Scopes(old).digest(q.id, "M-001")
             != Scopes(new).digest(q.id, "M-001")}  # fmt: skip
    assert moved == {"callers-covered"}


def with_criteria(make_repo: Repositories, *criteria: str) -> Journey:
    """Return a run of one milestone with these acceptance criteria, before its code review."""
    journey = larger(make_repo, "repo", (1,), {})
    for edit in journey.answers["design.json"]:
        if edit.get("kind") == "milestone":
            edit["fields"]["acceptance_criteria"] = [*criteria]
    journey.review = "small"
    return journey.to("code review")


def shown_at_the_end(journey: Journey, evidence: str) -> tuple[list[str], str]:
    """Return the lines of plan.md and the words of the page, if criteria are shown by this."""
    asked = items_of(journey, "plan-code")["criteria-met", "M-001"].id
    journey.verdicts = lambda block: [
        {**row, "evidence": evidence} if row["id"] == asked else row for row in all_pass(block)
    ]
    journey.to("submitted")
    with open(rendered_plan_path(journey.state_dir), encoding="utf-8") as file:
        lines = file.read().splitlines()
    with open(review_page_path(journey.state_dir), encoding="utf-8") as file:
        apart = re.sub(r"<(?!/?a\b)", " <", file.read())  # links stand within words
        return lines, " ".join(Parsed(apart).text.split())


@pytest.mark.requirement("RV-7")
def test_what_shows_a_criterion_stands_beside_it_in_the_plan_and_on_the_page(
    make_repo: Repositories,
) -> None:
    journey = with_criteria(make_repo, "f(1) is 3", "the old tests pass")
    evidence = "`src/m1_1.py:2` adds <b>two</b>; not one; tests/test_a.py:3, as before"
    lines, page = shown_at_the_end(journey, evidence)
    first = "f(1) is 3 – shown by `src/m1_1.py:2` adds {}; not one"
    second = "the old tests pass – shown by tests/test_a.py:3, as before"
    escaped = first.format("\\<b>two\\</b>")
    assert f"- accepted when: {escaped}" in lines
    assert f"- accepted when: {second}" in lines
    assert f"accepted when {first.format('<b>two</b>')} {second}" in page


@pytest.mark.requirement("RV-7")
def test_more_references_than_criteria_are_shown_after_them(make_repo: Repositories) -> None:
    journey = with_criteria(make_repo, "f(1) is 3", "the old tests pass")
    evidence = "src/m1_1.py:2; tests/test_a.py:1; tests/test_a.py:3"
    lines, page = shown_at_the_end(journey, evidence)
    at = lines.index("- accepted when: the old tests pass")
    assert lines[at + 1] == f"- all of it shown by: {evidence}"
    assert f"the old tests pass all of it shown by {evidence}" in page


@pytest.mark.requirement("RV-7")
def test_criteria_that_nobody_has_judged_claim_nothing(make_repo: Repositories) -> None:
    journey = with_criteria(make_repo, "f(1) is 3")
    asked = items_of(journey, "plan-code")["criteria-met", "M-001"].id
    finding = {"status": "FAIL", "finding": "f(1) is 4", "evidence": "src/m1_1.py:2"}
    journey.verdicts = lambda block: [
        {"id": row["id"], **finding} if row["id"] == asked else row for row in all_pass(block)
    ]
    journey.to("gate").write_answers()
    journey.follow(journey.last.next("pass"))
    journey.to("submitted")
    with open(rendered_plan_path(journey.state_dir), encoding="utf-8") as file:
        assert "- accepted when: f(1) is 3\n" in file.read()


@pytest.mark.requirement("RV-7")
def test_each_acceptance_criterion_is_shown_by_a_test_or_a_line(make_repo: Repositories) -> None:
    journey = with_criteria(make_repo, "f(1) is 3", "the old tests pass")
    asked = items_of(journey, "plan-code")["criteria-met", "M-001"]
    cases = {
        "src/m1_1.py:2": "is about 2 criteria, and its evidence names 1",
        "src/m1_1.py:2; src/m1_1.py:1": "no line src/m1_1.py:1",
        "src/m1_1.py:2; none: the tests are elsewhere": "`none` is not an answer to it",
        "src/m1_1.py:2; tests/test_a.py:99": "tests/test_a.py has 3 lines at the base",
        "src/m1_1.py:2; tests/test_a.py:3": "",
    }
    for evidence, refusal in cases.items():
        rows = [{"id": asked.id, "status": PASS, "evidence": evidence}]
        journey.write_answer("verdicts-plan-code-1.json", rows)
        words = ("qr", "set", "--phase", "plan-code", "--file")
        said = journey.planner(*words, "answers/verdicts-plan-code-1.json")
        assert (said.code == 1) == bool(refusal), (evidence, said.text)
        assert refusal in said.text, evidence


@pytest.mark.requirement("RV-5", "RV-9")
def test_what_was_tried_of_a_statement_stays_while_the_milestones_that_are_for_it_do(
    plan: Plan,
) -> None:
    [only] = plan.milestones
    [change] = only.code_changes
    other = only.model_copy(update={"id": "M-002", "requirements": ("T-9",)})
    again = change.model_copy(update={"after": "1" * 40})
    touched = other.model_copy(update={"code_changes": (again,)})
    two, then = (plan.model_copy(update={"milestones": (only, m)}) for m in (other, touched))
    [statement] = only.requirements[:1]
    assert "tried-to-break" not in due_again(two, then, statement)
    assert "tried-to-break" in due_again(two, then, "T-9")
