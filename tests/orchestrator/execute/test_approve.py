"""Approving one digest, and a frozen plan that becomes a run of its own (PL-19, PL-26)."""

from __future__ import annotations

import shutil
import time
from typing import TYPE_CHECKING

import pytest

from orchestrator.execute.approve import approve, open_or_adopt, waiting_with
from shared.run import open_state
from state.errors import Refused
from tests.journey import FILES, Journey

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.conftest import Repository

    Repositories = Callable[..., Repository]


@pytest.fixture
def waiting(make_repo: Repositories) -> Journey:
    """Return a run whose plan is submitted."""
    return Journey(make_repo(files=FILES)).to("submitted")


def test_the_digest_that_was_submitted_is_approved_once(waiting: Journey) -> None:
    state = open_state(waiting.state_dir, "/")
    digest = state.run.digest or ""
    for _ in range(2):
        approve(state, digest, time.time())
        assert (state.run.stage, state.run.workflow, state.run.step) == ("executing", "executor", 2)
    assert state.database.is_approved(state.run, digest)
    rows = [row for row in state.database.audit_rows(state.run) if row["action"] == "approve"]
    assert len(rows) == 1


def test_another_digest_approves_nothing(waiting: Journey) -> None:
    state = open_state(waiting.state_dir, "/")
    with pytest.raises(Refused, match="nothing is approved"):
        approve(state, "0" * 64, time.time())
    assert state.run.stage == "submitted"


def test_the_run_that_waits_is_found_by_its_digest(waiting: Journey) -> None:
    digest = open_state(waiting.state_dir, "/").run.digest or ""
    folder = str(waiting.repository.path)
    assert waiting_with(folder, digest) == waiting.state_dir
    assert waiting_with(folder, "0" * 64) is None


def test_a_frozen_plan_alone_becomes_a_run_that_waits(waiting: Journey, tmp_path: Path) -> None:
    adopted = tmp_path / "adopted"
    adopted.mkdir()
    shutil.copy(f"{waiting.state_dir}/plan.json", adopted)
    for _ in range(2):  # the second call opens what the first has made
        state = open_or_adopt(str(adopted), str(waiting.repository.path))
        assert (state.run.stage, state.run.depth) == ("submitted", "full")
        assert state.run.digest == open_state(waiting.state_dir, "/").run.digest


def test_a_folder_without_a_plan_is_not_adopted(waiting: Journey, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(Refused):
        open_or_adopt(str(empty), str(waiting.repository.path))
    assert not list(empty.iterdir())
