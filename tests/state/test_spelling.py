"""Paths that look the same are told apart, and a changed one is named as what it is (PL-10)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from state.spelling import how_spelled, twin
from tests.journey import FILES, Journey

if TYPE_CHECKING:
    from tests.conftest import Repositories

COMPOSED, APART = "src/caf\u00e9.py", "src/cafe\u0301.py"


def test_twins_are_found_by_form_and_by_case() -> None:
    assert twin(COMPOSED, ["src/a.py", APART]) == APART
    assert twin("README.md", ["readme.md"]) == "readme.md"
    assert twin(COMPOSED, [COMPOSED, "src/cafe.py"]) == ""


def test_what_differs_is_said_in_escapes() -> None:
    assert "it is src/cafe\\u0301.py, not src/caf\\xe9.py" in how_spelled(APART, COMPOSED)
    assert "case alone" in how_spelled("README.md", "readme.md")


@pytest.mark.requirement("PL-10")
@pytest.mark.parametrize("tracked", [COMPOSED, APART])
@pytest.mark.parametrize("written", ["as tracked", "as named"])
def test_a_change_under_the_other_form_is_named_as_that(
    make_repo: Repositories, tracked: str, written: str
) -> None:
    """The plan names the other form: the file of the repository, or a new one beside it."""
    named = COMPOSED if tracked == APART else APART
    journey = Journey(make_repo(files={**FILES, tracked: "x = 1\n"}))
    design = journey.answers["design.json"]
    design[2]["fields"]["files"] = [named if written == "as tracked" else tracked]
    design[2]["fields"]["files"] += ["tests/test_a.py"]
    design[3]["fields"]["file"] = design[2]["fields"]["files"][0]
    journey.edits = {tracked if written == "as tracked" else named: "x = 2\n"}
    journey.to("code").do_the_work()
    refused = journey.planner("plan", "capture")
    assert refused.code == 1
    assert "looks the same in another Unicode form" in refused.text
    way = "name it like that in the plan" if written == "as tracked" else "write into that one"
    assert way in refused.text
