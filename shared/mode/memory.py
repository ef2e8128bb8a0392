"""What is left of the memory of a session that plans: its database, and its row there.

A session file only points to them. Where they are gone, nobody knows whether the planning has
ended, so the session stays read-only until a person ends it.
"""

from __future__ import annotations

import os

from shared.mode.sessions import all_sessions
from shared.mode.where import database_path
from shared.resources import command, is_database
from state.database import Database
from state.errors import Refused
from state.stages import INACTIVE

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    from shared.mode.sessions import Session
    from state.database import Planning, Run


class Memory:
    """The database of a session and its row there, as far as they are left.

    Raises Refused for a database that another program holds locked.
    """

    __slots__ = ("database", "gone", "row", "run", "session")

    def __init__(self, session: Session) -> None:
        self.session = session
        self.database: Database | None = None
        self.row: Planning | None = None
        self.run: Run | None = None
        # Why the session cannot be remembered, "" if it is.
        self.gone = session.damage
        if self.gone:
            return
        try:
            self.database = Database(session.database)
            self.row = self.database.planning(session.agent)
            if self.row is None:
                self.gone = f"{session.database} does not know it"
            elif self.row.run_id:
                self.run = self.database.run(self.row.run_id)
        except Refused as refusal:
            self.lose(refusal)

    def lose(self, refusal: Refused) -> None:
        """Take what a refusal of the database says for the reason why it is gone.

        Raises the refusal of one that is only locked.
        """
        problem = refusal.problems[0]
        if problem.kind == "locked":
            raise refusal
        self.gone = f"{problem.at}: {problem.problem}"
        self.row = self.run = None

    def sentence(self) -> str:
        """Return in words that the memory is gone, and how a person ends the guarding."""
        return (
            f"what remembers the plan of this session is gone or unreadable ({self.gone}), so it "
            f"stays read-only. {command('doctor')} says what is left; a person ends this in a "
            f"terminal: {way_out(self.session)}"
        )


def way_out(session: Session) -> str:
    """Return the command by which a person ends the guarding of a session, from any folder."""
    return command("cancel", "--agent", session.session)


def moved(folder: str) -> Session | None:
    """Return the session that plans in the repository around `folder`, if that has moved since.

    A client without session ids is known by the folder alone, and the database still knows it by
    the old one.
    """
    lost = [s for s in all_sessions() if os.path.isabs(s.agent) and not is_database(s.database)]
    path = database_path(folder) if lost else ""
    if not is_database(path):
        return None
    try:
        database = Database(path)
        rows = [(session, database.planning(session.agent)) for session in lost]
    except Refused:
        return lost[0]  # it may be that one
    return next((session for session, row in rows if row and row.phase != INACTIVE), None)
