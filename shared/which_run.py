"""Choose the run that a command means which names none (SD-8).

An ended run, and a requirements lane between two rounds, is never the run that is under way.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from shared import resources
from shared.mode.sessions import agent_name, repository_root
from shared.requirements_record import WORKFLOW as REQUIREMENTS
from shared.requirements_record import read_lane
from state.database import Database
from state.errors import Refused
from state.stages import ACTIVE, IDLE, INACTIVE, PAUSED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from state.database import Run

_TITLE = 60


class SeveralRuns(Refused):
    """A command that names no run may mean several."""


def run_here(folder: str) -> tuple[Database, Run]:
    """Return the run that is meant in the repository around `folder`, with its database.

    That of this session, else the only one under way, else the last one that has ended. Raises
    Refused if there is none, or if several are under way, with what each of them is.
    """
    path = resources.repository_database(folder)
    database = Database(path) if path else None
    every = database.runs() if database else []
    if not every and _has_plans(folder):
        text = "the planner's database is gone, and with it what was approved"
        allowed = (
            "a person takes up the plans that are left, so that they can be approved or undone"
        )
        raise Refused("not_found", folder, text, allowed, resources.command("repair"))
    start = resources.command("start")
    if database is None:
        text = "no run of the planner was started in this repository"
        raise Refused("not_found", folder, text, "name a run by --state-dir, or start one", start)
    meant = _named_by_place(database, folder) or under_way(database) or _last(every)
    if not meant:
        text = "no run is active here"
        raise Refused("not_found", folder, text, f"start a run: {start}")
    if len(meant) > 1:
        raise several(folder, meant)
    return database, meant[0]


def under_way(database: Database) -> list[Run]:
    """Return the runs that may be meant: those of the first kind of which there are any.

    Plans under way; a lane while it holds a session; runs that have not begun; lanes that wait.
    """
    plans, lanes = _open(database)
    kinds = (
        [run for run in plans if run.status != IDLE],
        [run for run in lanes if holds_session(database, run)],
        plans,
        lanes,
    )
    return next(filter(None, kinds), [])


def all_under_way(database: Database) -> list[Run]:
    """Return every run that somebody may go on with, in order; no lane that holds no session."""
    plans, lanes = _open(database)
    return [*plans, *(lane for lane in lanes if holds_session(database, lane))]


def has_run(folder: str) -> bool:
    """Return whether a run of the repository around `folder` is under way or only started."""
    path = resources.repository_database(folder)
    return bool(path and _open(Database(path))[0])


def plans_lightly(folder: str) -> bool:
    """Return whether all that is planned in the repository around `folder` is without a run."""
    path = resources.repository_database(folder)
    database = Database(path) if path else None
    lone = database is not None and any(r.run_id is None for r in database.planning_live())
    return lone and not has_run(folder)


def run_of_session(database: Database, agent: str) -> Run | None:
    """Return the run that a session takes part in, None where it plans none."""
    row = database.planning(agent)
    live = row is not None and row.phase != INACTIVE and row.run_id
    run = database.run(row.run_id) if row is not None and live and row.run_id else None
    return run if run is not None and os.path.isdir(run.state_dir) else None


def holds_session(database: Database, run: Run) -> bool:
    """Return whether a session takes part in a run."""
    return any(row.phase != INACTIVE for row in database.planning_of(run.run_id))


def several(folder: str, runs: Sequence[Run], beside: Sequence[str] = ()) -> SeveralRuns:
    """Return the refusal of a command that may mean several runs; `beside` are further choices."""
    text = f"{len(runs) + len(beside)} plans are under way here; add the option of the one you mean"
    named = [f"{titled(run)}: --state-dir {resources.quote(run.state_dir)}" for run in runs]
    way = resources.command("status") if runs else ""
    return SeveralRuns("not_found", folder, text, "; ".join([*named, *beside]), way)


def titled(run: Run) -> str:
    """Return what a person knows a run by: the beginning of its request, and its step."""
    return f"{quoted(run.request)}, {run.workflow} step {run.step}"


def quoted(request: str) -> str:
    """Return the beginning of a request, in quotation marks and in one line."""
    from shared.builders import visible_line  # where one run is meant, nobody asks

    words = visible_line(" ".join(request.split()))
    return f"“{words if len(words) <= _TITLE else words[: _TITLE - 1].rstrip() + '…'}”"


def _open(database: Database) -> tuple[list[Run], list[Run]]:
    """Return the runs of plans that have not ended and can be opened, and lanes within a round."""
    found = [run for run in database.runs(IDLE, ACTIVE, PAUSED) if os.path.isdir(run.state_dir)]
    lanes = [run for run in found if run.workflow == REQUIREMENTS and not _is_closed(run)]
    return [run for run in found if run.workflow != REQUIREMENTS], lanes


def _is_closed(lane: Run) -> bool:
    """Return whether the round of a lane has ended and no other was begun."""
    known = os.path.exists(resources.requirements_record_path(lane.state_dir))
    return known and read_lane(lane.state_dir).closed


def _named_by_place(database: Database, folder: str) -> list[Run]:
    """Return the run in whose state directory the command runs, else the one of this session."""
    real, found = os.path.abspath(folder), [run for runs in _open(database) for run in runs]
    inside = [run for run in found if real.startswith(run.state_dir + os.sep)]
    own = run_of_session(database, agent_name(None, repository_root(folder)))
    return inside or ([own] if own else [])


def _last(runs: Sequence[Run]) -> list[Run]:
    there = [run for run in runs if os.path.isdir(run.state_dir)]
    return ([run for run in there if run.workflow != REQUIREMENTS] or there)[-1:]


def _has_plans(folder: str) -> bool:
    """Return whether plans of runs are left in the repository around `folder`."""
    root = repository_root(folder)
    runs = os.path.join(root, resources.PLANNER_FOLDER, "runs") if root else ""
    names = os.listdir(runs) if os.path.isdir(runs) else []
    return any(os.path.isfile(resources.plan_path(os.path.join(runs, name))) for name in names)
