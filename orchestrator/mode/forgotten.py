"""End planning whose memory is gone: the database, a session's row in it, or the run's folder.

It needs neither database nor folder, only the session files (PP-10).
"""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

from shared.builders import Block
from shared.mode import sessions
from shared.mode.memory import Memory
from shared.mode.sessions import repository_root
from shared.mode.transitions import change_run
from shared.mode.where import database_path
from shared.resources import database_path as database_of
from shared.resources import is_database
from state.actors import UNPROVEN
from state.database import Database
from state.errors import Refused
from state.stages import ACTIVE, IDLE, PAUSED

if TYPE_CHECKING:
    from shared.mode.sessions import Session
    from shared.mode.where import Target
    from state.database import Run


def cancel(target: Target, refusal: Refused) -> list[str]:
    """End what nobody remembers of what a command is about; return in words what was ended.

    `refusal` is why it could not be ended as one that is remembered.
    """
    return _cancel_run(target) or [_end(left) for left in _forgotten(target, refusal)]


def render_ended(told: list[str]) -> str:
    """Return the printed block for guarding that has ended."""
    return Block("result").data("cancelled", "\n".join(told)).render()


def _cancel_run(target: Target) -> list[str]:
    """Cancel the run meant, if its folder is gone and the database still has it."""
    home = os.path.realpath(target.state_dir) if target.state_dir else ""
    path = database_of(home) if home else database_path(target.folder)
    try:
        database = Database(path) if is_database(path) else None
        runs = database.runs(IDLE, ACTIVE, PAUSED) if database else []
    except Refused:
        return []
    meant = [run for run in runs if _is_meant(database, run, target, home)]
    if database is None or len(meant) != 1 or os.path.isdir(meant[0].state_dir):
        return []
    with database:
        change_run(database, meant[0], "cancel", UNPROVEN, detail="its folder is gone")
    text = f"The run {meant[0].run_id} is cancelled. Its folder {meant[0].state_dir} is gone"
    return [f"{text}; what was applied stays in your tree."]


def _is_meant(database: Database | None, run: Run, target: Target, home: str) -> bool:
    if home:
        return run.state_dir == home
    rows = database.planning_of(run.run_id) if database else []
    return target.agent is None or target.agent in [row.agent_name for row in rows]


def _forgotten(target: Target, refusal: Refused) -> list[Memory]:
    """Return what is left of the sessions that a command is about, where that is not enough."""
    found = [Memory(session) for session in _sessions(target)]
    problem = refusal.problems[0]
    for left in found:
        # The row is there, and what else of the database ending it needs is damaged.
        if not left.gone and (problem.kind, problem.at) == ("invalid", left.session.database):
            left.lose(refusal)
    return [left for left in found if left.gone]


def _sessions(target: Target) -> list[Session]:
    if target.agent is not None:
        named = sessions.of_agent(target.agent)
        return [named] if named else []
    if target.state_dir is not None:
        home = os.path.realpath(target.state_dir)
        return [session for session in sessions.all_sessions() if session.state_dir == home]
    root = repository_root(target.folder)
    own = sessions.of_agent(root)  # a damaged one is not among all
    here = [s for s in sessions.all_sessions() if s.repository == root and s.session != root]
    return [*([own] if own else []), *here]


def _end(left: Memory) -> str:
    """End the guarding of a session; a database that can still be written has it in its audit."""
    session = left.session
    with contextlib.suppress(Refused):
        if left.database is not None:
            with left.database as database:
                database.audit(None, UNPROVEN, "cancel", agent=session.agent, detail=left.gone)
    if not sessions.remove(session.session):
        text = "the session file cannot be removed, so hooks still hold the session"
        raise Refused("refused", session.path, text, "remove this file")
    return (
        f"The session {session.session} is no longer held. What remembered it is gone: {left.gone}"
    )
