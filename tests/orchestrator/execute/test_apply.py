"""Writing the approved bytes into the user's tree: all or none, once (PL-28)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from orchestrator.execute.apply import apply_plan
from shared.run import open_state
from state.errors import Refused
from tests.journey import FILES, Journey

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

    Repositories = Callable[..., Repository]


@pytest.fixture
def approved(make_repo: Repositories) -> Journey:
    """Return a run whose plan is approved."""
    return Journey(make_repo(files=FILES)).to("approved")


def test_the_approved_bytes_are_in_the_tree_and_the_commit_is_next(approved: Journey) -> None:
    state = open_state(approved.state_dir, "/")
    assert apply_plan(state) is None
    assert (state.run.workflow, state.run.step) == ("executor", 9)
    for name, text in approved.edits.items():
        assert (approved.repository.path / name).read_text() == text


def test_a_repeated_apply_leaves_what_the_user_wrote_meanwhile(approved: Journey) -> None:
    state = open_state(approved.state_dir, "/")
    apply_plan(state)
    approved.repository.write("README.md", "mine\n")
    assert apply_plan(state) is None
    assert (approved.repository.path / "README.md").read_text() == "mine\n"


def test_a_planned_file_that_differs_keeps_all_files_as_they_are(approved: Journey) -> None:
    approved.repository.write("src/a.py", "mine\n")
    state = open_state(approved.state_dir, "/")
    with pytest.raises(Refused, match=r"src/a\.py"):
        apply_plan(state)
    assert (approved.repository.path / "src/a.py").read_text() == "mine\n"
    assert (approved.repository.path / "tests/test_a.py").read_text() == FILES["tests/test_a.py"]
    assert state.run.step == 2


def test_without_an_approval_nothing_is_written(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files=FILES)).to("submitted")
    with pytest.raises(Refused, match="no person has approved this revision"):
        apply_plan(open_state(journey.state_dir, "/"))
    assert journey.repository.git("status", "--porcelain") == ""


def test_approved_intents_open_the_revision_in_which_the_code_is_written(
    make_repo: Repositories,
) -> None:
    journey = Journey(make_repo(files=FILES))
    journey.start("--depth", "intent")
    journey.to("approved")
    state = open_state(journey.state_dir, "/")
    assert apply_plan(state) is None
    assert (state.run.depth, state.run.revision, state.run.step) == ("full", 2, 3)
    assert journey.repository.git("status", "--porcelain") == ""
