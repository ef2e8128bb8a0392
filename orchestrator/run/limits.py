"""Apply a run's time limits at the start of each command that changes the run (PM-8)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shared.execution.events import settle as settle_decisions
from shared.mode import limits, sessions
from state.stages import CANCELLED

if TYPE_CHECKING:
    from shared.run import State


def settle(state: State) -> None:
    """Pause or cancel a run whose time limit has passed, and count the command as a tool call.

    A decision whose time limit has passed blocks its milestones (PC-7). Agents whose session file
    is missing since a crash get one again, so that hooks find them.
    """
    settle_decisions(state.database, state.run)
    if not state.agents:
        return
    settled = ""
    if state.overdue:
        settled = limits.settle(state.database, state.agents[0].agent_name, state.opened_at)
        state.reload()
    sessions.keep(state.database.agent, state.agents, state.database.path, state.run)
    if settled and state.run.status == CANCELLED:
        # It needs git, which nearly no command does that comes here.
        from orchestrator.run.cleanup import tidy

        tidy(state)
