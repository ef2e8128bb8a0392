"""A real sub-agent of Claude Code writes a milestone and ends: its tokens are counted (PC-13)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from shared.execution.costs import costs_of
from tests.clients.conftest import CLAUDES, SESSION
from tests.clients.real_clients import Claude
from tests.clients.test_claude import agent, bash
from tests.journey import LAUNCHER
from tests.orchestrator.execute.waves import opened, writing

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

    Repositories = Callable[..., Repository]

pytestmark = [pytest.mark.client, pytest.mark.slow, pytest.mark.requirement("PC-6", "PC-13")]


@pytest.mark.parametrize("name", CLAUDES)
def test_the_client_counts_what_the_agent_of_a_milestone_has_used(
    make_repo: Repositories, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    with monkeypatch.context() as inside:
        inside.setenv("CLAUDE_CODE_SESSION_ID", SESSION)
        journey = writing(make_repo, max_turns=1)
    claude = Claude(name, journey.repository.path, SESSION)
    claude.permit("Agent", "Bash", "Write")
    step = f"{LAUNCHER} step exec-implement --milestone M-001 --state-dir {journey.state_dir}"
    file = f"{journey.state_dir}/milestones/M-001/src/new.py"
    write = ("Write", {"file_path": file, "content": "x = 1\n"})
    played = claude.play([agent("begin")], sub=[bash(step), write, write])
    begun, first, second = (r for r in played.results if r.agent)
    assert not begun.is_error, begun
    assert not first.is_error, first
    assert "gives the agent of M-001 1 turns" in second.text
    state = opened(journey)
    cost = costs_of(state.database, state.run)["M-001"]
    assert (cost.agents, cost.unknown, cost.calls) == (1, 0, 3)
    assert cost.tokens > 0
