"""What answers name as evidence is looked up again, in later rounds and at the freeze (SD-4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from shared.qr.schema import read_review
from shared.qr.types import FAIL, PASS, TODO
from shared.resources import review_path
from shared.run import open_state
from tests.journey import FILES, Answer, Journey, all_pass, passing, way_out, words_of
from tests.larger_tasks import larger
from tests.place import need_place

if TYPE_CHECKING:
    from collections.abc import Callable

    from shared.qr.types import Item
    from state.phases import Phase
    from tests.conftest import Repository

    Repositories = Callable[..., Repository]

pytestmark = pytest.mark.requirement("SD-4")


def items_of(journey: Journey, phase: Phase) -> dict[tuple[str, str], Item]:
    """Return the items of an open review by question and scope."""
    items = read_review(review_path(journey.state_dir, phase)).items
    return {(i.check, i.scope): i for i in items}


def by_question(
    journey: Journey, phase: Phase, answers: dict[tuple[str, str], dict[str, str]]
) -> Callable[[Answer], list[dict[str, Any]]]:
    """Return a reviewer that answers some questions of a phase in its own way."""

    def rows(block: Answer) -> list[dict[str, Any]]:
        names = {item.id: name for name, item in items_of(journey, phase).items()}
        return [{**row, **answers.get(names[row["id"]], {})} for row in all_pass(block)]

    return rows


def evidence_of(journey: Journey) -> dict[tuple[str, str], str]:
    """Return what shows each answer of the plan's reviews, the last one of each question."""
    plan = open_state(journey.state_dir, "/").plan
    return {(a.check, a.scope): a.evidence for o in plan.reviews for a in o.answers}


def test_a_criterion_that_is_changed_after_the_last_gate_is_judged_before_the_freeze(
    make_repo: Repositories,
) -> None:
    journey = Journey(make_repo(files=FILES))
    journey.review, journey.verdicts = "full", passing
    journey.to("freeze")
    words = ("plan", "set", "M-001", "--version", "1", "--acceptance-criterion", "f(1) is 4")
    assert journey.planner(*words).code == 0, journey.planner(*words).text
    refused = journey.planner("plan", "freeze")
    changed = "its answer does not hold: what it is about has changed since it was answered"
    assert f'at="criteria-met M-001">{changed}' in refused.text
    assert 'at="scope-kept *"' in refused.text
    retry = way_out(refused.text).partition("</problem>")[0]
    journey.last = journey.run(*words_of(retry))
    [run] = journey.last.runs()
    assert "accepted when: f(1) is 4" in journey.run(*words_of(run)).data("plan")
    journey.to("submitted")


def test_a_new_name_after_the_last_gate_is_frozen_without_a_question(
    make_repo: Repositories,
) -> None:
    """Not even where the question about names is one of those that were asked."""
    journey = larger(make_repo, "repo", (1, 1), {})
    journey.review, journey.verdicts = "full", passing
    journey.to("freeze")
    assert ("design-clear", "*") in evidence_of(journey)
    assert journey.planner("plan", "set", "M-001", "--version", "1", "--name", "Two").code == 0
    frozen = journey.planner("plan", "freeze")
    assert frozen.code == 0, frozen.text


def test_evidence_of_the_design_that_is_gone_is_asked_for_again(make_repo: Repositories) -> None:
    journey = larger(make_repo, "repo", (1, 1), {})
    journey.review = "full"
    other = {"alternative": "A flag", "rejection_reason": "dead code", "decision_ref": "$d1"}
    journey.answers["design.json"].append({"op": "add", "kind": "alternative", "fields": other})
    named = ("invariants-stated", "M-001")
    journey.verdicts = by_question(journey, "plan-design", {named: {"evidence": "RA-001"}})
    journey.to("design review").advance()
    journey.verdicts = passing
    journey.to("freeze")
    assert journey.planner("plan", "remove", "RA-001", "--version", "1").code == 0
    refused = journey.planner("plan", "freeze")
    gone = "its answer does not hold: RA-001 is no entry of the plan"
    assert f'at="invariants-stated M-001">{gone}' in refused.text
    assert "invariants-stated M-002" not in refused.text


def test_a_line_that_documentation_moves_is_named_as_it_is_in_the_frozen_plan(
    make_repo: Repositories,
) -> None:
    journey = Journey(make_repo(files=FILES))
    journey.review = "full"
    journey.to("code")
    words = ("--milestone", "M-001", "--kind", "docstring", "--file", "src/a.py")
    added = journey.planner("plan", "add", "doc", *words, "--function", "f", "--text", "Why two")
    assert added.code == 0, added.text
    journey.promises_document = True
    journey.promise_document = lambda: None  # type: ignore[method-assign]
    journey.documents = {"src/a.py": 'def f(x):\n    """Add two."""\n    return x + 2\n'}
    journey.to("docs")
    assert evidence_of(journey)["nothing-else", "M-001"] == "src/a.py:2"
    journey.to("submitted")
    assert evidence_of(journey)["nothing-else", "M-001"] == "src/a.py:3"


def test_a_line_that_documentation_rewrites_is_no_evidence_any_more(
    make_repo: Repositories,
) -> None:
    journey = Journey(make_repo(files=FILES))
    journey.edits["src/a.py"] = "def f(x):\n    # Two.\n    return x + 2\n"
    journey.review = "full"
    named = ("nothing-else", "M-001")
    journey.promises_document = True
    journey.to("code review")
    kept = ("intent-done", "M-001")
    names = {named: {"evidence": "src/a.py:2"}, kept: {"evidence": "src/a.py:3"}}
    journey.verdicts = by_question(journey, "plan-code", names)
    journey.documents["src/a.py"] = "def f(x):\n    # Callers rely on two.\n    return x + 2\n"
    journey.to("docs").verdicts = all_pass
    journey.to("docs review")
    due = {n for n, item in items_of(journey, "plan-docs").items() if item.status == TODO}
    assert named in due
    assert kept not in due
    journey.to("submitted")
    assert evidence_of(journey)[named] == "src/a.py:2"
    assert evidence_of(journey)[kept] == "src/a.py:3"


def test_a_run_counts_for_the_tree_that_it_ran_on(make_repo: Repositories) -> None:
    """A fix makes another tree; the same command, run again with the same result, is named."""
    need_place()
    journey = larger(make_repo, "repo", (1, 1), {})
    journey.review = "full"
    journey.to("code").do_the_work()
    journey.edit_worktree(journey.edits)
    assert journey.planner("tree", "run", "ls src && python3 -m this >/dev/null").code == 0
    assert journey.planner("tree", "run", "python3 -m this >/dev/null; ls src").code == 0
    journey.to("code review")
    names = {("nothing-else", "M-001"): {"evidence": "run 1: it said once"},
             ("intent-done", "M-001"): {"evidence": "run 2: it said twice"},
             ("intent-done", "M-002"): {"status": FAIL, "finding": "f(0) is wrong"}}  # fmt: skip
    journey.verdicts = by_question(journey, "plan-code", names)
    journey.to("gate")
    journey.follow(journey.last.next("fail"))
    journey.edits["src/m2_1.py"] = "def f(x):\n    return 2 + x\n"
    journey.edit_worktree(journey.edits)
    assert journey.planner("tree", "run", "python3 -m this >/dev/null; ls src").code == 0
    journey.to("code review")
    items = items_of(journey, "plan-code")
    assert items["nothing-else", "M-001"].status == TODO
    again = items["intent-done", "M-001"]
    assert (again.status, again.evidence) == (PASS, "run 3: it said twice")


@pytest.mark.parametrize("file", ["README.md", "src/a.py"])
def test_a_criterion_of_documentation_to_come_is_shown_by_its_promise_until_it_is_written(
    make_repo: Repositories, file: str
) -> None:
    journey = Journey(make_repo(files=FILES))
    for edit in journey.answers["design.json"]:
        if edit.get("kind") == "milestone":
            edit["fields"]["acceptance_criteria"] = ["f(1) is 3", f"{file} says two"]
    function = () if file == "README.md" else ("--function", "f")
    journey.review = "full"
    journey.to("code")
    words = ("--milestone", "M-001", "--kind", "docstring", "--file", file, *function)
    assert journey.planner("plan", "add", "doc", *words, "--text", "two").code == 0
    journey.promises_document = True
    journey.promise_document = lambda: None  # type: ignore[method-assign]
    journey.documents["src/a.py"] = 'def f(x):\n    """Add two."""\n    return x + 2\n'
    journey.documents = {file: journey.documents[file]}
    journey.to("code review")
    named = ("criteria-met", "M-001")
    [run] = journey.last.runs()
    asked = journey.run(*words_of(run)).data("questions")
    assert "for each, or DOC-001 for what that is still to say, `;` between" in asked
    promised = {"evidence": "src/a.py:2; DOC-001 is promised"}
    journey.verdicts = by_question(journey, "plan-code", {named: promised})
    journey.to("docs")
    journey.verdicts = all_pass
    journey.to("docs review")
    again = items_of(journey, "plan-docs")[named]
    assert again.status == TODO
    assert "DOC-001" not in (again.asked or "")
    journey.write_answer("verdicts-1.json", [{"id": again.id, "status": PASS, **promised}])
    words = ("qr", "set", "--phase", "plan-docs", "--file", "answers/verdicts-1.json")
    assert journey.planner(*words).code == 1
    journey.to("submitted")
    assert "DOC-001" not in evidence_of(journey)[named]


def test_what_showed_a_design_holds_while_its_line_at_the_base_is_what_was_quoted(
    make_repo: Repositories,
) -> None:
    """The change puts other lines above it; no question of the design is due again for that."""
    journey = larger(make_repo, "repo", (1, 1, 1), {})
    journey.review = "full"
    quoted = {
        ("invariants-stated", f"M-00{n}"): {"evidence": f"src/m{n}_1.py:1 def f(x): is all it has"}
        for n in (1, 2, 3)
    }
    journey.verdicts = by_question(journey, "plan-design", quoted)
    journey.start("--depth", "intent")
    journey.to("design review").advance()
    journey.verdicts = passing
    journey.edits = {file: f"import os\n\n\n{text!s}" for file, text in journey.edits.items()}
    journey.to("written code review")
    asked = [check for check, _ in items_of(journey, "impl-code")]
    assert "invariants-stated" not in asked
