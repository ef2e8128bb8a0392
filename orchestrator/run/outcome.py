"""Say what became of a run that has ended, and what its person can do with it now."""

from __future__ import annotations

import time
from calendar import timegm
from typing import TYPE_CHECKING, NamedTuple

from shared import resources
from shared.git.journal import journal_state
from shared.git.published import branch_of
from shared.git.repository import repository_at
from shared.requirements_record import WORKFLOW as REQUIREMENTS
from shared.strategy_record import WORKFLOW as STRATEGY
from state.errors import Refused
from state.milestones import changes_of
from state.stages import COMPLETED

if TYPE_CHECKING:
    from shared.execution.progress import View
    from shared.run import State


class Outcome(NamedTuple):
    """What an ended run has left behind, in lines, and the command that a person may type now."""

    lines: list[str]
    command: str = ""
    # Whether the user's files hold its changes.
    is_there: bool = False


def outcome_of(state: State, view: View | None) -> Outcome:
    """Return the outcome of a run that is completed or cancelled.

    A run that only weighed or answered, and a requirements lane, leave no change to name.
    """
    run, again = state.run, resources.command("start", state.run.request)
    if run.workflow in (STRATEGY, REQUIREMENTS):
        is_open = run.workflow == STRATEGY and run.status != COMPLETED
        return Outcome([], again if is_open else "")
    journal = journal_state(resources.journal_path(state.state_dir))
    is_there = run.status == COMPLETED if run.commit_id else journal == "applied"
    lines = _committed(state, view) if run.commit_id else []
    if not run.commit_id and is_there:
        lines.append("your files: they hold what was applied; it is not committed")
    elif not is_there:
        lines.append("your files: nothing of this run is in them")
    lines.append(_kept(state))
    return Outcome(lines, state.command("undo") if is_there else again, is_there)


def _committed(state: State, view: View | None) -> list[str]:
    """Return where the commit is, what it was proved to be, and the commit that took it back."""
    run, commit = state.run, state.run.commit_id or ""
    try:
        where = branch_of(repository_at(run.repository), commit)
    except Refused:  # the branch was moved or deleted since
        where = "no branch any more"
    files = sum(len(changes_of(m)) for m in view.milestones) if view else 0
    lines = [f"commit: {commit} on {where}, {files} file{'' if files == 1 else 's'}"]
    if run.status == COMPLETED:
        lines.append("proved: the commit holds exactly what was approved")
    return [*lines, *(f"taken back by: {one}" for one in state.database.reverts(run)[-1:])]


def _kept(state: State) -> str:
    # Not at the top: status loads this module, and mostly the run has not ended.
    from orchestrator.run.age import DEFAULT_AGE, ended_at, seconds_of

    ended = timegm(time.strptime(ended_at(state.database, state.run), "%Y-%m-%dT%H:%M:%SZ"))
    day = time.strftime("%Y-%m-%d", time.localtime(ended + seconds_of(DEFAULT_AGE)))
    return f"logs and answers of the run: kept until you run `planner prune` on {day} or later"
