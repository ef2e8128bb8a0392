"""Time limits of a run, stored where a command that changes something begins (PM-8)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shared.mode import limits, sessions

if TYPE_CHECKING:
    from shared.run import State


def settle(state: State) -> None:
    """Pause or cancel a run whose time limit has passed, and count this command as a tool call.

    Agents whose session file is missing since a crash get one again, so that hooks find them.
    """
    database, rows = state.database, state.database.planning_of(state.run.run_id)
    if not rows:
        return
    changed = limits.settle(database, rows[0].agent_name, state.opened_at)
    sessions.touch(database.agent)
    for row in database.planning_of(state.run.run_id) if changed else rows:
        if row.phase != "inactive" and not sessions.is_published(row.agent_name):
            sessions.publish(row, database.path, state.run)
    if not changed:
        return
    state.reload()
    if state.run.status == "CANCELLED":
        # It needs git, which nearly no command does that comes here.
        from shared.cleanup import tidy

        tidy(state)
