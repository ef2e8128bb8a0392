"""Find out which database, folder and run a command of planning mode means."""

from __future__ import annotations

import os

from shared import resources
from shared.mode.sessions import repository_root
from state.database import Database
from state.errors import Refused

NOBODY = "planning mode"  # what the refusal names when nobody plans


class Target:
    """What a command of planning mode names: a folder, and an agent or a run if it names one.

    A plan without a run has the planner's own folder for a state directory; naming that names its
    repository and no run.
    """

    __slots__ = ("agent", "folder", "state_dir")

    def __init__(self, folder: str, agent: str | None = None, state_dir: str | None = None) -> None:
        real = os.path.realpath(state_dir or "")
        if state_dir is not None and os.path.basename(real) == resources.PLANNER_FOLDER:
            folder, state_dir = os.path.dirname(real), None
        self.folder = folder
        self.agent = agent
        self.state_dir = state_dir


def open_database(folder: str) -> Database:
    """Open the database of the repository around `folder`; Refused if nobody plans there."""
    path = database_path(folder)
    if not os.path.isfile(path):
        raise nobody_plans()
    return Database(path)


def database_path(folder: str) -> str:
    """Return the path of the database of the repository around `folder`; it may not exist."""
    root = repository_root(folder)
    return os.path.join(root, resources.PLANNER_FOLDER, resources.DATABASE)


def nobody_plans(said: str = "") -> Refused:
    """Return the refusal of a command that needs an active planning mode."""
    text = f"{said} nobody plans here".strip()
    allowed = "use a repository in which planning has started"
    return Refused("not_found", NOBODY, text, allowed, "planner mode enter")
