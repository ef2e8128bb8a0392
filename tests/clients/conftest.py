"""A repository in which a session plans, and real clients to try things in it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.clients.real_clients import Claude
from tests.forms import SEED
from tests.journey import FILES, Journey

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.conftest import Repository

    Repositories = Callable[..., Repository]

SESSION = "7b0a5dfe-3c1f-4d52-9a0e-5f1f0c1d2e3f"
SLOW = ("gemini", "opencode", "vibe")  # seconds of the processor, for each start
DEEDS = ("finds the skill", "is denied", "cannot approve")
OTHER = "0c7de1a4-5b0f-4c7e-8a52-0d1f6b7c8e9a"
# Both give equal results, so the short form plays only the newer one.
CLAUDES = ("claude-2.1.330", pytest.param("claude-2.1.197", marks=pytest.mark.long))


def pytest_itemcollected(item: pytest.Item) -> None:
    """Leave to the long form what is not marked as a smoke test: a client takes seconds to start.

    Of each client these are: it finds the skill, reads a denial, cannot approve. Of a client that
    is slow to start, the short form plays one of them, and in each run all three are played.
    """
    mark = item.get_closest_marker("smoke")
    if not mark or (mark.args and not is_due(*mark.args)):
        item.add_marker(pytest.mark.long)


def is_due(client: str, deed: str) -> bool:
    """Return whether the short form plays this smoke test of a client that is slow to start."""
    return (SEED + SLOW.index(client)) % len(DEEDS) == DEEDS.index(deed)


@pytest.fixture
def run(make_repo: Repositories) -> Journey:
    """A run that is not started, in a repository with a secret of the user's."""
    return Journey(make_repo(files={**FILES, "private/key.txt": "hidden"}))


def run_to(run: Journey, point: str, monkeypatch: pytest.MonkeyPatch) -> Journey:
    """Take the run to a point as the session of Claude Code."""
    with monkeypatch.context() as inside:
        inside.setenv("CLAUDE_CODE_SESSION_ID", SESSION)
        return run.to(point)


@pytest.fixture
def planning(run: Journey, monkeypatch: pytest.MonkeyPatch) -> Journey:
    """The run of the session while its plan is written."""
    return run_to(run, "code", monkeypatch)


@pytest.fixture
def waiting(run: Journey, monkeypatch: pytest.MonkeyPatch) -> Journey:
    """The run of the session while it waits for approval."""
    return run_to(run, "submitted", monkeypatch)


@pytest.fixture
def digest(waiting: Journey) -> str:
    return str(json.loads(waiting.planner("status", "--json").text)["digest"])


@pytest.fixture
def stopped(tmp_path: Path) -> str:
    """Return an interpreter that never decides: it stops itself."""
    path = tmp_path / "stopped-python"
    path.write_text("#!/bin/sh\nkill -s STOP $$\n", encoding="utf-8")
    path.chmod(0o755)
    return str(path)


@pytest.fixture(params=CLAUDES)
def claude(request: pytest.FixtureRequest, run: Journey) -> Claude:
    """Claude Code in the repository, in the session that plans."""
    return Claude(request.param, run.repository.path, SESSION)
