"""Undoing an apply: the old bytes before the commit, a revert commit after it (PL-31)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from orchestrator.execute.undo import undo_plan
from shared.run import open_state
from state.errors import Refused
from tests.journey import FILES, Journey

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

    Repositories = Callable[..., Repository]


def test_before_the_commit_the_files_that_hold_their_old_bytes_are_returned(
    make_repo: Repositories,
) -> None:
    journey = Journey(make_repo(files=FILES)).to("applied")
    state = open_state(journey.state_dir, "/")
    undone = undo_plan(state)
    assert (sorted(undone.files), undone.revert) == (sorted(journey.edits), "")
    for name in journey.edits:
        assert (journey.repository.path / name).read_text() == FILES[name]
    assert (state.run.status, state.run.workflow, state.run.step) == ("ACTIVE", "executor", 2)


def test_after_the_commit_a_revert_commit_is_returned_and_the_run_is_cancelled(
    make_repo: Repositories,
) -> None:
    journey = Journey(make_repo(files=FILES)).to("committed")
    state = open_state(journey.state_dir, "/")
    undone = undo_plan(state)
    assert undone.revert == journey.repository.git("rev-parse", "HEAD")
    assert sorted(undone.files) == sorted(journey.edits)
    assert journey.repository.git("diff", "HEAD~2", "HEAD") == ""
    assert state.run.status == "CANCELLED"


def test_where_nothing_was_applied_there_is_nothing_to_undo(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files=FILES)).to("submitted")
    with pytest.raises(Refused, match="nothing to undo"):
        undo_plan(open_state(journey.state_dir, "/"))


def test_undone_again_while_the_next_revision_is_planned_the_run_stays_where_it_is(
    make_repo: Repositories,
) -> None:
    journey = Journey(make_repo(files=FILES)).to("applied")
    undo_plan(open_state(journey.state_dir, "/"))
    assert journey.planner("mode", "edit", "Say why").code == 0
    state = open_state(journey.state_dir, "/")
    before = (state.run.stage, state.run.workflow, state.run.step)
    assert before == ("gathering", "planner", 3)
    undo_plan(state)
    assert (state.run.stage, state.run.workflow, state.run.step) == before
