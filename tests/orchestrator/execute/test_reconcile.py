"""Plan and tree compared after an apply, and the deviations that a person accepts (PL-28)."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from orchestrator.execute.reconcile import accept_deviation, deviate, reconcile
from shared import resources
from shared.run import open_state
from shared.workspace import open_repository
from state import store
from state.changes import plan_changes
from state.errors import Refused
from tests.journey import FILES, Journey

if TYPE_CHECKING:
    from collections.abc import Callable

    from shared.run import State
    from tests.conftest import Repository

    Repositories = Callable[..., Repository]


@pytest.fixture
def applied(make_repo: Repositories) -> Journey:
    """Return a run whose plan is applied."""
    return Journey(make_repo(files=FILES)).to("applied")


def deviations(state: State) -> list[str]:
    """Return the files at which plan and tree differ and nobody has accepted it."""
    changes = plan_changes(store.load_plan(f"{state.state_dir}/plan.json"))
    return [p.at for p in reconcile(state, *open_repository(state), changes)]


def test_an_applied_plan_has_no_deviations(applied: Journey) -> None:
    assert deviations(open_state(applied.state_dir, "/")) == []


def test_planned_files_that_differ_and_others_that_were_touched_are_found(
    applied: Journey,
) -> None:
    applied.repository.write("src/a.py", "mine\n")
    applied.repository.write("README.md", "mine\n")
    applied.repository.write("new.txt", "mine\n")
    state = open_state(applied.state_dir, "/")
    assert sorted(deviations(state)) == ["README.md", "new.txt", "src/a.py"]


@pytest.mark.parametrize("is_reported", [True, False])
def test_a_deviation_counts_until_a_person_accepts_it(
    applied: Journey, *, is_reported: bool
) -> None:
    applied.repository.write("README.md", "mine\n")
    state = open_state(applied.state_dir, "/")
    if is_reported:
        deviate(state, "M-001", "README.md", "the user wrote it")
        assert deviations(state) == ["README.md"]
    accept_deviation(state, "README.md", "my own edit")
    assert deviations(state) == []


def test_without_the_record_of_the_tree_the_command_that_makes_it_again_is_named(
    applied: Journey,
) -> None:
    os.unlink(resources.scene_path(applied.state_dir))
    with pytest.raises(Refused, match="the record of your tree after the apply is gone") as refused:
        deviations(open_state(applied.state_dir, "/"))
    assert applied.follow(refused.value.problems[0].retry).code == 0
    assert deviations(open_state(applied.state_dir, "/")) == []


def test_a_deviation_of_an_unknown_milestone_is_refused_with_the_known_ones(
    applied: Journey,
) -> None:
    state = open_state(applied.state_dir, "/")
    with pytest.raises(Refused, match="the plan has no such milestone") as refused:
        deviate(state, "M-009", "README.md", "why")
    assert refused.value.problems[0].allowed == "M-001"
    assert state.database.deviations(state.run) == {}
