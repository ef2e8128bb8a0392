"""A run is cancelled or rejected: its worktree goes, its plan and audit stay."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from orchestrator.run import end
from shared import resources
from shared.run import open_state
from state.errors import Refused
from tests.journey import FILES, Journey

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

    Repositories = Callable[..., Repository]


@pytest.mark.requirement("PM-7")
def test_a_cancelled_run_keeps_its_plan_and_says_the_same_when_repeated(
    make_repo: Repositories,
) -> None:
    state = open_state(Journey(make_repo(files=FILES)).to("code").state_dir, os.sep)
    plan = resources.plan_path(state.state_dir)
    notes = [end.cancel(state) for _ in range(2)]
    assert notes == ["The run “Make f add two” is cancelled. Its plan and audit are kept."] * 2
    assert (state.run.status, state.run.stage) == ("CANCELLED", "inactive")
    assert os.path.exists(plan)
    assert not os.path.exists(state.worktree)
    assert [r["action"] for r in state.database.audit_rows(state.run)].count("cancel") == 1


@pytest.mark.requirement("PM-7", "PM-9")
def test_the_audit_keeps_why_a_person_rejected(make_repo: Repositories) -> None:
    state = open_state(Journey(make_repo(files=FILES)).to("submitted").state_dir, os.sep)
    end.reject(state, "not before the release")
    assert state.halted == "not before the release"


def test_what_was_applied_stays_and_the_note_says_how_to_take_it_back(
    make_repo: Repositories,
) -> None:
    journey = Journey(make_repo(files=FILES)).to("applied")
    state = open_state(journey.state_dir, os.sep)
    assert state.command("undo") in end.cancel(state)
    assert "+ 2" in (journey.repository.path / "src/a.py").read_text()


def test_a_completed_run_is_not_cancelled(make_repo: Repositories) -> None:
    state = open_state(Journey(make_repo(files=FILES)).to("committed").state_dir, os.sep)
    with pytest.raises(Refused, match="the run is completed as commit"):
        end.cancel(state)
    assert state.run.status == "COMPLETED"
