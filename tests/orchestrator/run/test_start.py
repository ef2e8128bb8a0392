"""A run is started once for a request, and found again."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from orchestrator.run.start import Choices, render_start, start_run
from state.errors import Refused
from tests.journey import FILES, REQUEST, Journey, parsed

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

    Repositories = Callable[..., Repository]


def test_without_a_request_the_user_is_asked_and_nothing_is_made(repo: Repository) -> None:
    started = start_run(str(repo.path), " ", None)
    assert started.state is None
    assert parsed(render_start(started)).find("ask") is not None
    assert not (repo.path / ".planner").exists()


@pytest.mark.requirement("PL-1")
def test_the_same_words_find_the_same_run_and_others_start_another(repo: Repository) -> None:
    first, again = (start_run(str(repo.path), REQUEST, None).state for _ in range(2))
    other = start_run(str(repo.path), "Something else", None).state
    assert first is not None
    assert again is not None
    assert other is not None
    assert first.run.run_id == again.run.run_id != other.run.run_id
    assert [r.status for r in first.database.runs()] == ["ACTIVE", "ACTIVE"]


@pytest.mark.requirement("PL-32")
def test_uncommitted_work_leaves_the_base_open_until_it_is_chosen(make_repo: Repositories) -> None:
    repository = make_repo(files=FILES)
    repository.write("src/a.py", "changed\n")
    started = start_run(str(repository.path), REQUEST, None)
    assert started.state is not None
    assert (started.uncommitted, started.state.run.status) == (("src/a.py",), "IDLE")
    assert not os.path.exists(started.state.worktree)
    chosen = start_run("/", None, started.state.state_dir, Choices(base="head"))
    assert chosen.uncommitted == ()
    assert chosen.state is not None
    assert (chosen.state.run.status, chosen.state.run.stage) == ("ACTIVE", "gathering")
    assert os.path.isdir(chosen.state.worktree)


def test_the_depth_is_not_changed_after_the_design_is_decided(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files=FILES)).to("code")
    with pytest.raises(Refused, match="the depth is full"):
        start_run("/", None, journey.state_dir, Choices(depth="intent"))
