"""Find runs whose files are left and which the database does not know, since it was lost."""

from __future__ import annotations

import os

from shared import resources
from shared.mode.sessions import repository_root
from state.database import Database


def lost_database(folder: str) -> str | None:
    """Return where the database of the repository around `folder` was, if runs of it are left."""
    root = repository_root(folder)
    path = os.path.join(root, resources.PLANNER_FOLDER, resources.DATABASE) if root else ""
    return path if path and not resources.is_database(path) and unknown_runs(path) else None


def unknown_runs(database: str) -> list[str]:
    """Return the state directories with a plan.json that the database does not know."""
    folder = os.path.join(os.path.dirname(database), "runs")
    names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
    homes = [os.path.join(folder, name) for name in names]
    return [home for home in homes if is_unknown(os.path.realpath(home), database)]


def is_unknown(home: str, database: str) -> bool:
    """Return whether a state directory with a plan.json has no run in the database."""
    if not os.path.isfile(resources.plan_path(home)):
        return False
    return not resources.is_database(database) or Database(database).run_at(home) is None
