"""The files of a design: each has an intent, is listed, and is spelled as the base spells it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from quality_reviewer.checks.registry import Subject
from tests.quality_reviewer.checks.conftest import findings, make_milestone, make_plan

if TYPE_CHECKING:
    from tests.quality_reviewer.checks.conftest import Desk, Files

pytestmark = pytest.mark.requirement("PL-24")


def found(check_id: str, **milestone: object) -> list[tuple[str, str, str]]:
    plan = make_plan(milestones=[make_milestone(**milestone)])
    return findings(check_id, Subject(plan))


def test_a_listed_file_that_no_intent_names_is_found() -> None:
    files = ["src/dates.py", "src/zones.py", "src/zones.py"]
    [(status, scope, text)] = found("design-files-intended", files=files)
    assert (status, scope) == ("FAIL", "M-001")
    assert text.startswith("M-001 lists src/zones.py, and no intent says")


def test_tests_and_promised_documents_need_no_intent() -> None:
    docs = {"docstrings": [{"id": "DOC-001", "file": "guide.md"}, "older plans hold text"]}
    files = ["src/dates.py", "tests/test_dates.py", "guide.md"]
    assert not found("design-files-intended", files=files, documentation=docs)


def test_a_milestone_of_documentation_alone_needs_no_intent() -> None:
    bare = {"code_intents": [], "tests": {}, "is_documentation_only": True}
    assert not found("design-files-intended", files=["README.md"], **bare)


def test_an_intent_for_a_file_that_is_not_listed_is_found() -> None:
    [(status, scope, text)] = found("design-intents-listed", files=[])
    assert (status, scope) == ("FAIL", "CI-001")
    assert text.startswith("CI-001 is for src/dates.py, which M-001 does not list; ")


def test_an_intent_for_a_listed_file_or_a_test_of_the_milestone_is_fine() -> None:
    intents = [
        {"id": "CI-001", "file": "src/dates.py", "behavior": "b"},
        {"id": "CI-002", "file": "tests/test_dates.py", "behavior": "b"},
    ]
    assert not found("design-intents-listed", code_intents=intents)


def spelled(desk: Desk, base: Files, *files: str) -> list[tuple[str, str, str]]:
    subject = desk.subject({}, base, files=list(files), code_intents=[], tests={})
    return findings("design-files-spelled", subject)


@pytest.mark.parametrize(
    ("file", "there"),
    [
        ("src/dates.py", "src/Dates.py"),
        ("SRC/Dates.py", "src/Dates.py"),
        ("Src/new.py", "src/new.py"),
        ("src/dates.PY", "src/Dates.py"),
    ],
)
def test_a_file_of_the_base_in_another_case_is_found(desk: Desk, file: str, there: str) -> None:
    [(status, scope, text)] = spelled(desk, {"src/Dates.py": "x"}, file)
    assert (status, scope) == ("FAIL", "M-001")
    assert text == f"M-001 names {file}; the base spells that {there}; use one spelling"


@pytest.mark.parametrize(
    ("tracked", "named"),
    [
        ("re\u0301sume\u0301.txt", "r\u00e9sum\u00e9.txt"),
        ("r\u00e9sum\u00e9.txt", "re\u0301sume\u0301.txt"),
        ("u\u0308ber/a.py", "\u00fcber/b.py"),
    ],
)
def test_a_file_of_the_base_in_another_unicode_form_is_found(
    desk: Desk, tracked: str, named: str
) -> None:
    [(status, _, text)] = spelled(desk, {tracked: "x"}, named)
    assert status == "FAIL"
    assert "looks the same in another Unicode form" in text
    assert named.partition("/")[0].encode("ascii", "backslashreplace").decode() in text


def test_files_as_the_base_has_them_and_new_ones_are_fine(desk: Desk) -> None:
    assert not spelled(desk, {"src/Dates.py": "x"}, "src/Dates.py", "src/new.py", "other/a.py")


def test_a_base_that_has_both_spellings_is_left_alone(desk: Desk) -> None:
    assert not spelled(desk, {"Make/a": "x", "make/a": "y"}, "make/a", "Make/b", "make/c")


def test_a_plan_that_renames_one_spelling_to_the_other_is_left_alone(desk: Desk) -> None:
    assert not spelled(desk, {"Dates.py": "x"}, "Dates.py", "dates.py")


def test_without_a_base_the_spelling_is_not_checked() -> None:
    [(status, scope, text)] = found("design-files-spelled")
    assert (status, scope) == ("NOT_CHECKED", "*")
    assert "no base" in text


def test_a_base_that_git_cannot_read_is_not_checked(desk: Desk) -> None:
    known = desk.subject({})
    subject = Subject(known.plan, base_tree="0" * 40, trees=known.trees)
    [(status, _, text)] = findings("design-files-spelled", subject)
    assert status == "NOT_CHECKED"
    assert "git cannot read the base" in text
