"""Which database and folder a command of planning mode means."""

from __future__ import annotations

import os

from shared import resources
from shared.mode.sessions import repository_root
from state.database import Database
from state.errors import Refused

NOBODY = "planning mode"  # where a refusal says that none is active


def open_database(folder: str) -> Database:
    """Open the database of the repository around `folder`; Refused where nobody plans there."""
    path = database_path(folder)
    if not os.path.isfile(path):
        raise nobody()
    return Database(path)


def database_path(folder: str) -> str:
    """Return where the database of the repository around `folder` lies or would lie."""
    root = repository_root(folder)
    return os.path.join(root, resources.PLANNER_FOLDER, resources.DATABASE)


def place(folder: str, state_dir: str | None) -> tuple[str, str | None]:
    """Return folder and state directory that a command means.

    What is planned without a run has the planner's own folder for a state directory.
    """
    real = os.path.realpath(state_dir or "")
    if state_dir is None or os.path.basename(real) != resources.PLANNER_FOLDER:
        return folder, state_dir
    return os.path.dirname(real), None


def nobody(said: str = "") -> Refused:
    """Return the refusal where no mode is active."""
    text = f"{said} nobody plans here".strip()
    allowed = "a repository in which planning has begun"
    return Refused("not_found", NOBODY, text, allowed, "planner mode enter")
