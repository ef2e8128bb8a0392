"""Approved intents that need the user: blocked, tried again, questions answered (PL-27, PL-9)."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.journey import call, way_out, words_of
from tests.orchestrator.execute.waves import (
    NEW,
    hand_in,
    intents,
    milestone_agent,
    status_of,
    writing,
)
from tests.ways_out import ways_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

    Repositories = Callable[..., Repository]


@pytest.mark.requirement("PL-27")
def test_a_failed_milestone_is_blocked_and_tried_again_with_what_was_written(
    make_repo: Repositories,
) -> None:
    journey = writing(make_repo)
    first = milestone_agent(journey, "M-001")
    half = {"src/m1_1.py": "def f(x):\n    return x\n"}
    failed = hand_in(journey, "M-001", half, status="failure", error="the cache is in the way")
    assert failed.code == 0, failed.text
    assert status_of(journey) == {"M-001": "BLOCKED", "M-002": "IN_PROGRESS"}
    journey.last = journey.planner("step", "executor")
    assert "M-001: the cache is in the way" in journey.last.data("waiting")
    assert hand_in(journey, "M-002", {"src/m2_1.py": NEW}).code == 0
    journey.last = journey.planner("step", "executor")
    assert journey.planner(*words_of(journey.last.next("retry M-001"))[:2]).code == 0
    journey.follow(journey.last.next("done"))
    again = milestone_agent(journey, "M-001")
    assert again.data("failed before") == "the cache is in the way"
    place = Path(journey.state_dir, "milestones/M-001/src/m1_1.py")
    assert place.read_text() == half["src/m1_1.py"]
    late = journey.planner(*words_of(first.next("done"))[:-2])
    assert late.problems[0][0] == "conflict"
    assert "attempt 1 of M-001 is over" in late.problems[0][1]
    assert place.read_text() == half["src/m1_1.py"]
    assert journey.to("submitted").point == "executor 1"


@pytest.mark.requirement("PL-9")
def test_an_agent_asks_the_user_and_is_started_again_with_the_answer(
    make_repo: Repositories,
) -> None:
    journey = writing(make_repo)
    task = milestone_agent(journey, "M-001")
    question = {"question": "Keep f?", "options": [
        {"key": "keep", "label": "Keep it"}, {"key": "drop", "label": "Drop it"}]}  # fmt: skip
    journey.write_answer("questions-M-001.json", [{"question": "no options"}])
    asking = words_of(task.next("question"))[:-2]
    assert journey.planner(*asking).code == 1
    journey.write_answer("questions-M-001.json", [question])
    assert journey.planner(*asking).code == 0
    assert status_of(journey)["M-001"] == "NEEDS_DECISION"
    assert hand_in(journey, "M-002", {"src/m2_1.py": NEW}).code == 0
    journey.last = journey.planner("step", "executor")
    assert "Keep f?" in journey.last.text
    assert journey.planner(*words_of(journey.last.next("CP-001 keep"))[:-2]).code == 0
    journey.follow(journey.last.next("done"))
    assert "Keep f? → Keep it" in milestone_agent(journey, "M-001").data("answers")


@pytest.mark.requirement("PL-27")
def test_a_question_that_a_milestone_waits_for_is_asked_while_others_are_written(
    make_repo: Repositories,
) -> None:
    journey = intents(make_repo)
    options = [{"key": "a", "label": "One way"}, {"key": "b", "label": "The other"}]
    asked = {"op": "add", "kind": "checkpoint", "as": "$cp",
             "fields": {"question": "Which way?", "options": options}}  # fmt: skip
    edits = journey.answers["design.json"]
    edits.insert(2, asked)
    next(e for e in edits if e.get("as") == "$m1")["fields"]["waits_for"] = ["$cp"]
    journey.to("writing")
    assert [words_of(run)[3] for run in journey.last.runs()] == ["M-002"]
    assert "Which way?" in journey.last.text
    assert journey.planner(*words_of(journey.last.next("CP-001 b"))[:-2]).code == 0
    journey.to("submitted")
    assert "answered: CP-001 Which way? → The other" in journey.last.data("summary")


@pytest.mark.requirement("PL-27", "PL-32")
def test_a_file_that_the_user_changes_under_an_agent_is_begun_again_on_the_new_one(
    make_repo: Repositories,
) -> None:
    """What the agent wrote on the old one would never merge; its neighbour's work goes in."""
    journey = writing(make_repo)
    task = milestone_agent(journey, "M-001")
    journey.write_answer(task.reads(), {"status": "success", "output": "done"})
    file = journey.repository.path / "src/m1_1.py"
    file.write_text(f"# by the user\n{file.read_text()}")
    assert journey.planner("mode", "rebase").code == 0
    assert status_of(journey) == {"M-001": "PENDING", "M-002": "IN_PROGRESS"}
    late = journey.call(*words_of(task.next("done")))
    assert "attempt 1 of M-001 is over" in late.text
    assert hand_in(journey, "M-002", {"src/m2_1.py": NEW}).code == 0
    assert call("/", *words_of(way_out(late.problems[0][1]))).code == 0
    assert journey.planner("exec", "next").code == 0
    again = Path(journey.state_dir, "milestones/M-001/src/m1_1.py")
    assert again.read_text().startswith("# by the user\n")
    assert hand_in(journey, "M-001", {"src/m1_1.py": f"# by the user\n{NEW}"}).code == 0
    assert status_of(journey) == {"M-001": "COMPLETED", "M-002": "COMPLETED"}


@pytest.mark.requirement("PL-27")
def test_a_milestone_whose_worktree_was_removed_is_named_and_gets_a_new_one(
    make_repo: Repositories,
) -> None:
    journey = writing(make_repo)
    task = milestone_agent(journey, "M-001")
    journey.write_answer(task.reads(), {"status": "success", "output": "done"})
    place = Path(journey.state_dir, "milestones/M-001")
    journey.repository.git("worktree", "remove", "--force", str(place))
    refused = journey.call(*words_of(task.next("done")))
    assert refused.problems[0][0] == "not_found", refused.text
    assert "this milestone has no worktree" in refused.problems[0][1]
    assert f'at="{place}"' in refused.text
    assert status_of(journey)["M-001"] == "IN_PROGRESS"
    (way,) = ways_of(refused)
    assert call(journey.repository.path, *way).code == 0
    assert (place / "src").is_dir()
    shutil.rmtree(place)
    assert journey.planner("exec", "next").code == 0
    assert hand_in(journey, "M-001", {"src/m1_1.py": NEW}).code == 0
    assert status_of(journey)["M-001"] == "COMPLETED"
