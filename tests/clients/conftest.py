"""A repository in which a session plans, and real clients to try things in it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from tests.clients.rig import Claude
from tests.journey import FILES, Journey

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

    Repositories = Callable[..., Repository]

SESSION = "7b0a5dfe-3c1f-4d52-9a0e-5f1f0c1d2e3f"
CLAUDES = ("claude-2.1.330", "claude-2.1.197")


@pytest.fixture
def planning(make_repo: Repositories, monkeypatch: pytest.MonkeyPatch) -> Journey:
    """A run of the session, while its plan is written."""
    monkeypatch.setenv("PLANNER_PYTHON", sys.executable)
    with monkeypatch.context() as inside:
        inside.setenv("CLAUDE_CODE_SESSION_ID", SESSION)
        return Journey(make_repo(files=FILES)).to("code")


@pytest.fixture(params=CLAUDES)
def claude(request: pytest.FixtureRequest, planning: Journey) -> Claude:
    """Claude Code in the repository, in the session that plans."""
    return Claude(request.param, planning.repository.path, SESSION)
