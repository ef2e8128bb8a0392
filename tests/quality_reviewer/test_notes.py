"""A reviewer's note reaches the person who approves, and stays with its answer (RV-8)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from shared.qr.types import FAIL
from shared.resources import rendered_plan_path, review_page_path
from shared.run import open_state
from tests.journey import FILES, Answer, Journey, all_pass

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from tests.conftest import Repository

    Repositories = Callable[..., Repository]

pytestmark = pytest.mark.requirement("RV-8")

NOTE = "holds below 2^63; above it nobody has tried"
SET = ("qr", "set", "--phase", "plan-code")


def noted(journey: Journey) -> list[tuple[str, str]]:
    """Return status and note of every recorded answer that has a note."""
    plan = open_state(journey.state_dir, "/").plan
    answers = [answer for outcome in plan.reviews for answer in outcome.answers]
    return [(a.status, a.note) for a in answers if a.note]


def asked(journey: Journey) -> list[dict[str, Any]]:
    """Return the answer PASS to each question of the code's review, as a reviewer gives it."""
    return all_pass(journey.follow(journey.last.runs()[0]))


@pytest.fixture
def reviewed(make_repo: Repositories) -> Journey:
    """Return a run whose code is read by a reviewer."""
    journey = Journey(make_repo("repo", FILES))
    journey.review = "small"
    return journey.to("code review")


def test_a_note_stands_in_summary_plan_and_page_beside_a_pass(make_repo: Repositories) -> None:
    journey = Journey(make_repo("repo", FILES))
    journey.review = "small"

    def verdicts(block: Answer) -> list[dict[str, Any]]:
        first, *rest = all_pass(block)
        return [{**first, "note": f" {NOTE}\n"}, *rest]

    journey.verdicts = verdicts
    journey.to("submitted")
    assert set(noted(journey)) == {("PASS", NOTE)}
    assert f" passed: {NOTE}" in journey.last.data("summary")
    for path in (rendered_plan_path(journey.state_dir), review_page_path(journey.state_dir)):
        with open(path, encoding="utf-8") as file:
            assert f" passed: {NOTE}" in file.read(), path
    with open(review_page_path(journey.state_dir), encoding="utf-8") as file:
        assert " of the reviewers" in file.read()


def test_a_finding_that_does_not_block_keeps_its_note(reviewed: Journey) -> None:
    rows = asked(reviewed)
    name = rows[0]["id"]
    said = {"id": name, "status": FAIL, "finding": "src/a.py:2 has no reason", "note": NOTE}
    reviewed.write_answer("verdicts.json", [said, *rows[1:], {"verdict": "pass", "reason": "ok"}])
    reviewed.planner(*SET, "--file", "answers/verdicts.json")
    assert noted(reviewed) == [("FAIL", NOTE)]


def test_one_answer_is_noted_by_an_option_and_the_next_answer_replaces_the_note(
    reviewed: Journey,
) -> None:
    row = asked(reviewed)[0]
    words = (*SET, row["id"], "--status", "PASS", "--evidence", row["evidence"])
    for note in (NOTE, ""):
        reviewed.planner(*words, *(("--note", note) if note else ()))
        listed = json.loads(reviewed.planner("qr", "list", "--phase", "plan-code", "--json").text)
        assert next(i["note"] for i in listed if i["id"] == row["id"]) == note


def test_a_note_that_is_no_text_is_refused(reviewed: Journey) -> None:
    row = asked(reviewed)[0]
    reviewed.write_answer("verdicts.json", [{**row, "note": ["a doubt"]}])
    refused = reviewed.planner(*SET, "--file", "answers/verdicts.json")
    assert refused.code == 1
    assert "note" in refused.text
