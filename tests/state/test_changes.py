"""Captured changes find their milestone, their intents and their ids (PL-10)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from state.changes import attach, plan_changes
from state.edits import apply_edits
from state.milestones import changes_of, promised_files
from tests.state.plans import add, change, empty_plan, refusal, remove

if TYPE_CHECKING:
    from state.models import Plan

pytestmark = pytest.mark.requirement("PL-10")


def captured(file: str, **fields: str | None) -> dict[str, str | None]:
    """Return a changed file as the git layer gives it."""
    change = {
        "file": file, "after": "b" * 40, "old_file": None, "old_mode": "100644", "mode": "100644",
        "before": "a" * 40, "patch": "diff", "encoding": None,
    }  # fmt: skip
    return change | fields


def planned() -> Plan:
    edits = [
        add("decision", decision="D"),
        add(
            "milestone",
            "$m",
            name="Code",
            files=["a.py", "t.py", "c.py"],
            tests={"files": ["t.py"]},
        ),
        add("intent", milestone="$m", file="a.py", behavior="one"),
        add("intent", milestone="$m", file="a.py", behavior="two"),
        add("intent", milestone="$m", file="c.py", behavior="three"),
        add("doc", milestone="$m", kind="docstring", file="guide.md"),
        add("milestone", name="Docs", files=["README.md"], is_documentation_only=True),
    ]
    return apply_edits(empty_plan(), edits, None)[0]


def test_a_change_cites_every_intent_that_names_its_file() -> None:
    (made,) = attach(planned(), [captured("a.py")]).milestones[0].code_changes
    assert (made.id, made.version) == ("CC-001", 1)
    assert (made.intent_ref, made.more_intent_refs) == ("CI-001", ("CI-002",))


def test_a_file_that_only_tests_name_has_no_intent() -> None:
    (made,) = attach(planned(), [captured("t.py")]).milestones[0].code_changes
    assert made.intent_ref is None


def test_promised_documents_are_changes_of_the_documentation() -> None:
    plan = attach(planned(), [captured("guide.md"), captured("README.md")])
    assert [c.file for c in plan.milestones[0].documentation.changes] == ["guide.md"]
    assert [c.file for c in plan.milestones[1].documentation.changes] == ["README.md"]
    assert promised_files(plan.milestones[0]) == {"guide.md"}
    assert [c.file for c in plan_changes(plan)] == ["README.md", "guide.md"]


def test_a_rename_is_found_by_its_old_name_too() -> None:
    plan = attach(planned(), [captured("c.py", old_file="a.py")])
    (made,) = changes_of(plan.milestones[0])
    assert (made.old_file, made.intent_ref, made.more_intent_refs) == (
        "a.py",
        "CI-001",
        ("CI-002", "CI-003"),
    )


def test_every_file_that_nothing_names_is_refused_at_once() -> None:
    problems = refusal(attach, planned(), [captured("x.py"), captured("a.py"), captured("y.py")])
    assert [p.at for p in problems] == ["x.py", "y.py"]
    assert all("M-001, M-002" in p.allowed for p in problems)


def test_a_path_keeps_its_id_and_comments_when_it_is_captured_again() -> None:
    plan = attach(planned(), [captured("a.py"), captured("c.py")])
    why = [{"text": "why", "decision_ref": "DL-001"}]
    plan, _ = apply_edits(plan, [change("CC-001", 1, why_comments=why)], "developer")
    same = attach(plan, [captured("a.py"), captured("c.py")])
    assert same == plan
    again = attach(plan, [captured("a.py", after="d" * 40), captured("c.py")])
    first, second = again.milestones[0].code_changes
    assert (first.id, first.version, first.after) == ("CC-001", 3, "d" * 40)
    assert first.why_comments == plan.milestones[0].code_changes[0].why_comments
    assert (second.id, second.version) == ("CC-002", 1)


def test_what_is_no_longer_changed_goes_and_its_id_is_not_given_again() -> None:
    plan = attach(planned(), [captured("a.py"), captured("c.py")])
    plan = attach(plan, [captured("a.py")])
    assert [c.id for c in plan_changes(plan)] == ["CC-001"]
    plan = attach(plan, [captured("a.py"), captured("t.py")])
    assert [c.id for c in plan_changes(plan)] == ["CC-001", "CC-003"]


def test_an_intent_that_a_change_cites_cannot_be_removed() -> None:
    plan = attach(planned(), [captured("a.py")])
    problems = refusal(apply_edits, plan, [remove("CI-001")], None)
    assert [p.at for p in problems] == ["milestones[0].CC-001.intent_ref"]
