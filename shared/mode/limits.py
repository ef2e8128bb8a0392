"""Planning mode as a session meets it: time limits that pass, and what it is told (PM-8, PM-10).

Hooks call this before each tool and each prompt, so it imports little.
"""

from __future__ import annotations

from shared.mode.sessions import last_call
from shared.mode.transitions import change_agent, change_run
from state import stages
from state.clock import moment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from state.database import Database, Planning


TIME_LIMIT = "time limit"  # who it was, in the audit


def limits(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return the time limits of a project's settings as columns of an agent's row."""
    minutes = 60
    return {
        "gathering_timeout_s": config.get("gathering_timeout_minutes", 60) * minutes,
        "approval_timeout_s": config.get("approval_timeout_minutes", 30) * minutes,
        "on_timeout": config.get("on_timeout", "pause"),
    }


def settle(database: Database, agent: str, now: float) -> str:
    """Pause or cancel what has waited too long; return what happened, "" where nothing did.

    A run waits for the last of its agents. Nothing needs to run while it waits: whoever comes
    next finds the time passed.
    """
    row = database.planning(agent)
    if row is None or not _overdue(database, row, now):
        return ""
    with database:
        row = database.planning(agent) or row
        text = _overdue(database, row, now)
        if not text:
            return ""
        run = database.run(row.run_id) if row.run_id else None
        at, action = moment(now), row.on_timeout
        if run is None:
            change_agent(database, agent, action, TIME_LIMIT, at=at, detail=text)
        else:
            change_run(database, run, action, TIME_LIMIT, at=at, detail=text)
    if row.on_timeout == "cancel":
        return f"Planning has ended by its time limit: {text}."
    return f"Planning is paused by its time limit: {text}. Nothing is lost."


def _overdue(database: Database, row: Planning, now: float) -> str:
    rows = database.planning_of(row.run_id) if row.run_id else [row]
    texts = [stages.overdue(r, now, last_call(r.agent_name)) for r in rows]
    return texts[0] if all(texts) else ""
