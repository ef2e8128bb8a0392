"""Each check of plan-code on changes as such, on real trees."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from quality_reviewer.checks.registry import Subject, run_checks
from state.models import Plan
from tests.quality_reviewer.checks.conftest import answers, findings, make_plan

if TYPE_CHECKING:
    from tests.quality_reviewer.checks.conftest import Desk

pytestmark = pytest.mark.requirement("PL-24")

VERIFY = {"command": "pytest -q", "baseline": "pass", "outcome": "pass"}


def edited(subject: Subject, **change: object) -> Subject:
    """Return the subject with fields of its first change changed."""
    data = subject.plan.model_dump(mode="json")
    data["milestones"][0]["code_changes"][0].update(change)
    return replace(subject, plan=Plan.model_validate(data))


def verified(subject: Subject, *results: dict[str, object]) -> Subject:
    """Return the subject with verify results, of the captured tree unless they say otherwise."""
    data = subject.plan.model_dump(mode="json")
    data["verify"] = [{"tree": subject.tree, **VERIFY, **r} for r in results]
    return replace(subject, plan=Plan.model_validate(data), verify_commands=("pytest -q",))


def test_a_sound_change_passes_every_check(desk: Desk) -> None:
    after: dict[str, str | bytes | None] = {
        "src/new.py": "def f() -> int:\n    return 1\n",
        "src/old.py": None,
        "src/changed.toml": "a = 2\n",
        "logo.png": b"\x89PNG\r\n\x1a\n\0\0\0",
        "notes.md": "# Notes\n",
    }
    before: dict[str, str | bytes | None] = {"src/old.py": "x = 1\n", "src/changed.toml": "a = 1\n"}
    subject = verified(desk.subject(after, before), {})
    items = run_checks("plan-code", subject)
    assert [i for i in items if i.status != "PASS"] == []
    assert len(items) == 12


def test_an_intent_without_a_change_is_found(desk: Desk) -> None:
    intents = [
        {"id": "CI-001", "file": "a.py", "behavior": "a"},
        {"id": "CI-002", "file": "b.py", "behavior": "b"},
    ]
    subject = desk.subject({"a.py": "a = 1\n"}, code_intents=intents)
    assert findings("code-intents-changed", subject) == [
        (
            "FAIL",
            "CI-002",
            (
                "CI-002 of M-001 is about b.py, which has no change; "
                "make the change in the worktree and capture again (plan capture)"
            ),
        )
    ]


def test_a_change_that_no_intent_or_test_names_is_found(desk: Desk) -> None:
    tests = {"files": ["test_a.py"], "type": "unit", "scenarios": {"normal": ["x"]}}
    after: dict[str, str | bytes | None] = {"a.py": "1\n", "test_a.py": "2\n", "c.py": "3\n"}
    intents = [{"id": "CI-001", "file": "a.py", "behavior": "a"}]
    subject = desk.subject(after, code_intents=intents, tests=tests)
    [(status, scope, text)] = findings("code-intents-changed", subject)
    assert (status, scope) == ("FAIL", "CC-002")
    assert text.startswith("c.py is changed, and no intent or test of M-001 names it")


def test_a_renamed_file_answers_an_intent_for_either_name(desk: Desk) -> None:
    content = "".join(f"line_{n} = {n}\n" for n in range(20))
    intents = [{"id": "CI-001", "file": "old.py", "behavior": "moves"}]
    subject = desk.subject(
        {"new.py": content, "old.py": None}, {"old.py": content}, code_intents=intents
    )
    assert subject.changes[0].old_file == "old.py"
    assert not findings("code-intents-changed", subject)
    assert not findings("code-changes-rebuild", subject)
    assert not findings("code-only-listed-files", subject)


def test_nothing_captured_fails_once_and_leaves_the_rest_unchecked() -> None:
    items = run_checks("plan-code", Subject(make_plan(milestones=[])))
    by_check = {i.check: (i.status, i.finding) for i in items}
    assert by_check["code-changes-rebuild"] == (
        "FAIL",
        "nothing is captured; do the work in the worktree, then run plan capture",
    )
    assert by_check["code-no-secrets"][0] == "NOT_CHECKED"
    assert [i.check for i in items if i.status == "FAIL"] == ["code-changes-rebuild"]


def test_a_patch_that_makes_another_file_is_found(desk: Desk) -> None:
    subject = desk.subject({"a.py": "a = 2\n"}, {"a.py": "a = 1\n"})
    patch = (subject.changes[0].patch or "").replace("+a = 2", "+a = 3")
    [(status, scope, text)] = findings("code-changes-rebuild", edited(subject, patch=patch))
    assert (status, scope) == ("FAIL", "a.py")
    assert "the patch of this file does not give the content that the plan names" in text


def test_a_captured_tree_that_the_changes_do_not_make_is_found_file_by_file(desk: Desk) -> None:
    subject = desk.subject({"a.py": "a = 2\n"}, {"a.py": "a = 1\n"})
    later = replace(subject, tree=desk.tree({"a.py": "a = 3\n", "b.py": "b = 1\n"}))
    rows = findings("code-changes-rebuild", later)
    assert [(status, scope) for status, scope, _ in rows] == [("FAIL", "a.py"), ("FAIL", "b.py")]
    assert "b.py: the plan's patches make no file, captured is" in rows[1][2]


@pytest.mark.parametrize(
    ("patch", "encoding", "expected"),
    [
        (None, None, "has no patch"),
        ("%%%", "base64", "a patch is damaged"),
        ("\ud800", None, "a patch is damaged"),
        ("nonsense", None, "git apply"),
        ("", None, ""),
    ],
)
def test_a_damaged_patch_is_found(
    desk: Desk, patch: str | None, encoding: str | None, expected: str
) -> None:
    subject = desk.subject({"a.py": "a = 2\n"}, {"a.py": "a = 1\n"})
    change = subject.plan.milestones[0].code_changes[0]
    broken = change.model_copy(update={"patch": patch, "encoding": encoding})
    milestone = subject.plan.milestones[0].model_copy(update={"code_changes": (broken,)})
    plan = subject.plan.model_copy(update={"milestones": (milestone,)})
    [(status, _, text)] = findings("code-changes-rebuild", replace(subject, plan=plan))
    assert status == "FAIL"
    assert expected in text


def test_a_file_that_no_milestone_lists_is_found(desk: Desk) -> None:
    after: dict[str, str | bytes | None] = {"a.py": "a = 1\n", "build/out.txt": "x\n"}
    intents = [{"id": "CI-001", "file": "a.py", "behavior": "a"}]
    subject = desk.subject(after, files=["a.py"], code_intents=intents)
    [(status, scope, text)] = findings("code-only-listed-files", subject)
    assert (status, scope) == ("FAIL", "build/out.txt")
    assert "no milestone lists it" in text


def test_a_file_that_a_test_or_a_document_names_is_listed(desk: Desk) -> None:
    tests = {"files": ["test_a.py"], "type": "unit", "scenarios": {"normal": ["x"]}}
    documentation = {"docstrings": [{"id": "DOC-001", "file": "d.py"}]}
    after: dict[str, str | bytes | None] = {"test_a.py": "a\n", "d.py": "d\n"}
    subject = desk.subject(
        after, files=[], code_intents=[], tests=tests, documentation=documentation
    )
    assert not findings("code-only-listed-files", subject)


@pytest.mark.requirement("PL-34")
def test_no_verify_commands_are_said_and_block_nothing(desk: Desk) -> None:
    [(status, _, text)] = findings("code-verify-passes", desk.subject({"a.py": "a = 1\n"}))
    assert status == "NOT_CHECKED"
    assert text.startswith("NOT VERIFIED: ")


@pytest.mark.requirement("PL-34")
def test_a_verify_command_that_fails_anew_is_found(desk: Desk) -> None:
    subject = verified(desk.subject({"a.py": "a = 1\n"}), {"outcome": "fail"})
    [(status, scope, text)] = findings("code-verify-passes", subject)
    assert (status, scope) == ("FAIL", "*")
    assert text.startswith("`pytest -q` fails with the changes (at the base it passes)")


@pytest.mark.requirement("PL-34")
def test_a_verify_command_that_failed_before_as_well_blocks_nothing(desk: Desk) -> None:
    result: dict[str, object] = {"baseline": "fail", "outcome": "known-failure"}
    subject = verified(desk.subject({"a.py": "a = 1\n"}), result)
    [(status, scope, text)] = findings("code-verify-passes", subject)
    assert (status, scope) == ("NOT_CHECKED", "*")
    assert "fails on the base as well, so it says nothing about the change" in text


@pytest.mark.requirement("PL-34")
def test_verify_results_of_another_tree_do_not_count(desk: Desk) -> None:
    subject = verified(desk.subject({"a.py": "a = 1\n"}), {"tree": "0" * 40})
    assert [text for _, _, text in findings("code-verify-passes", subject)] == [
        "`pytest -q` has not run on the captured changes; run plan verify"
    ]


@pytest.mark.requirement("PL-34")
@pytest.mark.parametrize(("exercised", "fires"), [(False, True), (True, False), (None, False)])
def test_verify_that_does_not_exercise_the_changes_is_one_should(
    desk: Desk, exercised: bool | None, fires: bool
) -> None:
    subject = verified(desk.subject({"a.py": "a = 1\n"}), {"exercised": exercised})
    [item] = answers("code-verify-exercises", subject)
    assert item.severity == "SHOULD"
    assert (item.status == "FAIL") == fires
    if fires:
        finding = item.finding or ""
        assert finding.startswith("verify does not exercise the changed files: `pytest -q`")
        assert "editable install" in finding
        assert "[worktree] setup" in finding
