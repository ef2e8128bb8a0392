"""Finds out which database, folder and run a planning-mode command refers to."""

from __future__ import annotations

import os

from shared import resources
from shared.mode.sessions import repository_root
from state.database import Database
from state.errors import Refused

NOBODY = "planning mode"  # what the refusal names when nobody plans


class Target:
    """What a planning-mode command refers to: a folder, and an agent or a run if one is named.

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
    """Open the planner's database of the repository around `folder`; Refused if there is none."""
    path = database_path(folder)
    if not resources.is_database(path):
        raise nobody_plans()
    return Database(path)


def database_path(folder: str) -> str:
    """Return where the planner's database of the repository around `folder` is or would be."""
    root = repository_root(folder)
    return os.path.join(root, resources.PLANNER_FOLDER, resources.DATABASE)


def nobody_plans(said: str = "") -> Refused:
    """Return the Refused error of a command that needs planning mode where nobody plans."""
    text = f"{said} no plan is under way here".strip()
    allowed = "start a run; `planner status` says how the last one ended"
    return Refused("not_found", NOBODY, text, allowed, "planner start")
