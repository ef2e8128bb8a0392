"""Says whether a hook keeps the session that plans read-only; warns the assistant if none does."""

from __future__ import annotations

import os

from shared.clients import known
from shared.mode.sessions import is_published
from shared.resources import command, sessions_path
from state.stages import READ_ONLY

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from state.database import Database, Planning

ASKED = "ask to approve"  # the audit's word for an approval that needs a second act
GUARDED = "guarded"  # the audit's word for the first tool call that a hook has seen
NOT_GUARDED = "not guarded: no hook has checked a tool call of the session that plans"


def assistant_variable() -> str:
    """Return the environment variable that shows that an assistant runs this process, or ""."""
    return next((name for name in known.MARKS if os.environ.get(name)), "")


def is_guarded(database: Database, rows: Iterable[Planning]) -> bool:
    """Return whether a hook has checked a tool call of one of these agents while it planned."""
    return any(database.was_noted(r.agent_name, GUARDED, r.gathering_start or "") for r in rows)


def unguarded(database: Database, rows: Sequence[Planning]) -> str:
    """Return a warning for an assistant that plans if no hook keeps it read-only, else "".

    `rows` are the agents of its plan. A command that begins the planning is called before there is
    anything for a hook to find, so the next one is the first that a hook sees.
    """
    if not any(row.phase in READ_ONLY for row in rows) or is_guarded(database, rows):
        return ""
    own = any(row.agent_name == database.agent for row in rows)
    if own and not is_published(database.agent):
        return f"{sessions_path()} cannot be written, so no hook keeps you read-only"
    if database.begun or not assistant_variable():
        return ""
    setup = command("setup")
    return (
        f"{NOT_GUARDED}, so only you keep your files as they are. Tell the user once: where hooks "
        f"are to hold this session, they run {setup} and start it in the repository"
    )
