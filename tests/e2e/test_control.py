"""A real run at depth intent is steered while its agents work."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from shared.execution import holder
from shared.resources import plan_path
from tests.journey import call, words_of
from tests.orchestrator.execute.waves import (
    NEW,
    at_once,
    hand_in,
    intents,
    milestone_agent,
    opened,
    status_of,
    writing,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository
    from tests.journey import Journey

    Repositories = Callable[..., Repository]


def status(journey: Journey) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(journey.planner("status", "--json").text)
    return found


@pytest.mark.requirement("PC-1", "PC-8")
def test_a_paused_run_takes_in_what_agents_finish_and_starts_nothing(
    make_repo: Repositories,
) -> None:
    journey = writing(make_repo, ((), (), ()))
    task = milestone_agent(journey, "M-001")
    assert journey.planner("pause").code == 0
    journey.edit_worktree({"src/m1_1.py": NEW}, "milestones/M-001")
    journey.write_answer("result-M-001-1.json", {"status": "success", "output": "done"})
    assert call(journey.repository.path, *words_of(task.next("done"))).code == 0
    refused = journey.planner("exec", "next")
    assert (refused.code, refused.problems[0][0]) == (1, "refused")
    assert status_of(journey) == {
        "M-001": "COMPLETED", "M-002": "IN_PROGRESS", "M-003": "PENDING"
    }  # fmt: skip
    assert journey.planner("resume").code == 0
    assert journey.planner("exec", "next").code == 0
    assert status_of(journey)["M-003"] == "IN_PROGRESS"


@pytest.mark.requirement("PC-8", "PC-9")
def test_a_blocked_milestone_keeps_its_reason_until_it_is_retried_and_done(
    make_repo: Repositories,
) -> None:
    journey = writing(make_repo)
    why = "the import is missing"
    assert hand_in(journey, "M-001", {}, status="failure", error=why).code == 0
    assert hand_in(journey, "M-002", {"src/m2_1.py": NEW}).code == 0
    journey.planner("exec", "next")
    found = journey.planner("status")
    assert f"✗ M-001 Add two in layer 1 · {why}" in found.data("status")
    assert status(journey)["waits_for_person"] is True
    assert call(journey.repository.path, *words_of(found.next("M-001 retry"))).code == 0
    journey.planner("exec", "next")
    assert hand_in(journey, "M-001", {"src/m1_1.py": NEW}).code == 0
    row = status(journey)["milestones"][0]
    assert (row["status"], row["note"], row["attempts"]) == ("COMPLETED", "", 2)
    journey.follow(words_line(journey, "exec", "next"))
    assert journey.to("committed").last.block.get("milestones") == "2/2"
    (ended,) = [e for e in events(journey) if e["event"] == "PlanCompleted"]
    assert (ended["final_status"], ended["summary"]["done"]) == ("COMPLETED", 2)


@pytest.mark.requirement("PC-8")
def test_cancel_takes_all_worktrees_and_keeps_plan_audit_and_events(
    make_repo: Repositories,
) -> None:
    journey = writing(make_repo)
    answer = journey.planner("cancel")
    assert "0 of 2 milestones are done" in answer.data("cancelled")
    assert not os.path.exists(f"{journey.state_dir}/milestones")
    assert not os.path.exists(f"{journey.state_dir}/worktree")
    assert "milestones" not in journey.repository.git("worktree", "list")
    assert Path(plan_path(journey.state_dir)).exists()
    assert [e["event"] for e in events(journey)][-1] == "PlanCompleted"
    state = opened(journey)
    assert "cancel" in [r["action"] for r in state.database.audit_rows(state.run)]
    assert {row["why"] for row in status(journey)["milestones"]} == {
        "the run was cancelled while it was in progress"
    }


@pytest.mark.requirement("PC-10")
def test_a_host_that_died_is_replaced_and_its_agents_are_started_anew(
    make_repo: Repositories, monkeypatch: pytest.MonkeyPatch
) -> None:
    journey = writing(make_repo)
    state = opened(journey)
    with state.database as database:
        database.set_holder(state.run, "a session that ended", os.uname().nodename, 2**22 + 1, "7")
    monkeypatch.setenv(holder.VARIABLE, "a new session")
    refused = journey.planner("exec", "next")
    assert (refused.code, refused.problems[0][0]) == (1, "locked")
    found = journey.planner("status")
    assert "a session that ended" in found.data("executed by")
    assert call(journey.repository.path, *words_of(found.next("take over"))).code == 0
    assert set(status_of(journey).values()) == {"PENDING"}
    answer = journey.planner("exec", "next")
    assert len(answer.runs()) == 2
    assert [m["attempts"] for m in status(journey)["milestones"]] == [2, 2]
    assert hand_in(journey, "M-001", {"src/m1_1.py": NEW}).code == 0


@pytest.mark.requirement("PC-7")
def test_a_question_of_the_plan_is_answered_while_others_write(make_repo: Repositories) -> None:
    journey = intents(make_repo, ((), (), ()))
    design = journey.answers["design.json"]
    options = [{"key": "keep", "label": "Keep it"}, {"key": "drop", "label": "Drop it"}]
    fields = {"question": "Keep the old table?", "options": options}
    design.insert(0, {"op": "add", "kind": "checkpoint", "as": "$q", "fields": fields})
    first = next(e["fields"] for e in design if e.get("kind") == "milestone")
    first["waits_for"] = ["$q"]
    at_once(journey, 3)
    journey.to("writing")
    assert status_of(journey) == {
        "M-001": "NEEDS_DECISION", "M-002": "IN_PROGRESS", "M-003": "IN_PROGRESS"
    }  # fmt: skip
    assert journey.planner("decide", "CP-001", "keep").data("free to run") == "M-001"
    journey.planner("exec", "next")
    assert status_of(journey)["M-001"] == "IN_PROGRESS"


def events(journey: Journey) -> list[dict[str, Any]]:
    text = journey.planner("events", "--json").text
    return [json.loads(line) for line in text.splitlines()]


def words_line(journey: Journey, *words: str) -> str:
    return opened(journey).command(*words)
