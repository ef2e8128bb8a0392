"""A person approves one run in advance, capped in files and risk (PM-13, `auto on`)."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

from quality_reviewer.risk import beyond, risk_of
from shared.run import open_state
from state.rows import Auto
from tests.journey import FILES, VERIFIED, Journey
from tests.shared.execution.scene import milestone
from tests.state.plans import empty_plan

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

    Repositories = Callable[..., Repository]

pytestmark = pytest.mark.requirement("PM-13")


@pytest.fixture
def journey(make_repo: Repositories) -> Journey:
    """Return a run whose plan is about to be frozen."""
    return Journey(make_repo(files={**FILES, "planner.toml": VERIFIED})).to("freeze")


def audit(journey: Journey) -> list[dict[str, Any]]:
    state = open_state(journey.state_dir, os.sep)
    return state.database.audit_rows(state.run)


@pytest.mark.requirement("PC-1")
def test_a_plan_within_the_limits_is_approved_as_it_is_submitted(journey: Journey) -> None:
    assert journey.planner("auto", "on", "--files", "5").code == 0
    block = journey.planner("plan", "freeze").block
    assert (block.get("workflow"), block.get("name")) == ("executor", "load-verify")
    rows = audit(journey)
    assert [r["action"] for r in rows][-3:] == ["auto on", "submit", "approve"]
    assert "at most 5 files, risk low" in rows[-3]["detail"]
    assert "channel: in advance" in rows[-1]["detail"]
    state = open_state(journey.state_dir, os.sep)
    assert state.database.is_approved(state.run, state.run.digest or "")


def test_a_plan_beyond_the_limits_waits_and_says_why(journey: Journey) -> None:
    journey.planner("auto", "on", "--files", "1")
    answer = journey.planner("plan", "freeze")
    assert answer.block.get("name") == "init"
    said = answer.data("beyond the approval in advance")
    assert said == "it touches 2 files, and 1 are approved in advance"
    assert "approve" not in [r["action"] for r in audit(journey)]


def test_it_can_be_given_while_the_plan_waits(journey: Journey) -> None:
    journey.planner("plan", "freeze")
    assert journey.planner("auto", "on").block.get("stage") == "executing"


def test_where_an_approval_must_be_proven_none_is_given_in_advance(
    make_repo: Repositories,
) -> None:
    demand = '[approval]\nrequire = "proven"\n'
    journey = Journey(make_repo(files={**FILES, "planner.toml": demand})).to("code")
    answer = journey.planner("auto", "on")
    assert (answer.code, answer.problems[0][0]) == (1, "refused")
    assert "no approval in advance can be that" in answer.problems[0][1]


def test_it_is_taken_back(journey: Journey) -> None:
    journey.planner("auto", "on")
    assert journey.planner("auto", "off").code == 0
    assert journey.planner("plan", "freeze").block.get("name") == "init"


def test_an_assistant_cannot_give_it(journey: Journey, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDECODE", "1")
    answer = journey.planner("auto", "on")
    assert (answer.code, answer.problems[0][0]) == (1, "refused")
    assert "only a person may approve in advance" in answer.problems[0][1]
    monkeypatch.delenv("CLAUDECODE")
    assert journey.planner("plan", "freeze").block.get("name") == "init"


def test_it_is_for_one_run_and_ends_with_it(journey: Journey) -> None:
    journey.planner("auto", "on")
    journey.planner("cancel")
    state = open_state(journey.state_dir, os.sep)
    assert state.database.auto(state.run) is None
    assert journey.planner("auto", "on").problems[0][0] == "conflict"


VERIFY = [{"command": "true", "baseline": "pass", "outcome": "pass", "tree": "a" * 40}]
CHANGE = {
    "id": "CC-001", "file": "a.py", "patch": "x", "after": "b" * 40, "mode": "100644",
    "intent_ref": None,
}  # fmt: skip


@pytest.mark.parametrize(
    ("values", "verify", "found"),
    [
        ({}, VERIFY, "low"),
        ({"code_changes": [CHANGE]}, VERIFY, "low"),
        ({"code_changes": [CHANGE]}, [], "high"),
        ({"code_changes": [{**CHANGE, "after": None, "mode": None}]}, VERIFY, "high"),
        ({"flags": ["high-risk"]}, VERIFY, "high"),
        ({"files": ["auth/login.py"]}, VERIFY, "high"),
    ],
)
def test_the_risk_of_a_plan_is_what_a_program_can_see(
    values: dict[str, Any], verify: list[dict[str, Any]], found: str
) -> None:
    one = {**milestone(1, "a.py"), **values}
    plan = empty_plan(milestones=[one], verify=verify)
    assert risk_of(plan, {"sensitive": ["auth"]})[0] == found


def test_a_plan_of_several_milestones_is_of_medium_risk() -> None:
    plan = empty_plan(milestones=[milestone(1, "a"), milestone(2, "b")], verify=VERIFY)
    assert risk_of(plan, {}) == ("medium", "2 milestones")
    assert beyond(plan, {}, limits(2, "medium")) == []
    assert beyond(plan, {}, limits(2, "low")) == [
        "its risk is medium (2 milestones), and low is approved in advance"
    ]


def limits(most_files: int, risk: str) -> Auto:
    """Return an approval in advance with these limits."""
    auto = object.__new__(Auto)
    auto.most_files, auto.risk = most_files, risk
    return auto
