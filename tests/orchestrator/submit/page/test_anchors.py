"""Every row of a diff and every entity has an anchor, to which what cites it links (LP-2)."""

from __future__ import annotations

import re

import pytest
from hypothesis import given

from orchestrator.submit.page.facts import Edited, edited_files
from orchestrator.submit.page.html import markup
from orchestrator.submit.page.places import Places
from orchestrator.submit.page.render import render_page
from tests.orchestrator.submit.page.reviews import cited, plan_data, plan_of, sample_review
from tests.orchestrator.submit.page.test_html import ANYTHING, Parsed

pytestmark = pytest.mark.requirement("LP-2")


def changed() -> dict[str, Edited]:
    return {file.change.file: file for file in edited_files(plan_of(plan_data()))}


def linked(text: str) -> str:
    return markup(Places(list(changed().values())).linked(text))


def ids_of(page: str) -> list[str]:
    return [attrs["id"] or "" for _, attrs in Parsed(page).tags if "id" in attrs]


def test_each_row_has_an_anchor_by_its_file_and_its_line_on_its_side() -> None:
    page = render_page(sample_review(since=None))
    wanted = [
        f"{file.anchor}-L{line.new}" if line.new else f"{file.anchor}-O{line.old}"
        for file in changed().values()
        for line in file.lines
        if line.kind in " +-"
    ]
    rows = [name for name in ids_of(page) if re.fullmatch(r"f\d+-[LO]\d+", name)]
    assert sorted(rows) == sorted(wanted)
    assert len(ids_of(page)) == len({*ids_of(page)})


def test_an_anchor_stays_with_its_file_from_revision_to_revision() -> None:
    data = plan_data()
    first = {f.change.file: f.anchor for f in edited_files(plan_of(data))}
    data["milestones"][0]["code_changes"].pop(0)
    later = {f.change.file: f.anchor for f in edited_files(plan_of(data))}
    assert later.items() < first.items()


def test_the_difference_since_a_revision_has_anchors_of_its_own() -> None:
    names = ids_of(render_page(sample_review()))
    assert "s1-O2" in names
    assert "s2-L9" in names
    assert len(names) == len({*names})


@pytest.mark.parametrize("name", ["T-1", "DL-002", "M-003", "CP-001", "RM-001", "R-001", "CI-001"])
def test_each_entity_has_an_anchor(name: str) -> None:
    assert ids_of(render_page(sample_review())).count(name) == 1


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("importer/dates.py:1", "#f1-L1"),
        ("see importer/dates.py:5, and so on", "#f1-L5"),
        ("`importer/dates.py`:12", "#f1-L12"),
        ("importer/dates.py:20-400", "#f1-L20"),
        ("importer/legacy.py:1", "#f6-O1"),
        ("importer/lines.py:1 and the like", "#f5-L1"),
        ("importer/dates.py:500", ""),
        ("an/importer/dates.py:1", ""),
        ("importer/dates.py:1st", ""),
        ("at 12:30", ""),
        ("importer/forms.json", ""),
    ],
)
def test_a_line_that_a_text_names_is_a_link_to_its_row(text: str, target: str) -> None:
    links = re.findall(r'<a href="(.*?)">', linked(text))
    assert links == ([target] if target else [])
    assert Parsed(linked(text)).text == text


def test_what_shows_a_criterion_links_to_its_row() -> None:
    page = render_page(sample_review(cited()))
    link = 'shown by <a href="#f1-L1">importer/dates.py:1</a>'
    assert page.count(link) == len(plan_data()["milestones"][0]["acceptance_criteria"])


@given(ANYTHING)
def test_whatever_a_text_holds_only_lines_become_links(text: str) -> None:
    page = Parsed(linked(f"{text}importer/dates.py:1{text}:2"))
    assert {name for name, _ in page.tags} <= {"a", "b"}
    assert all((attrs.get("href") or "#f").startswith("#f") for _, attrs in page.tags)
