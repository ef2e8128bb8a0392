"""Report what may keep the planner from working on this machine, without changing anything.

A plan is read as printed steps read it. Whether it keeps the whole schema is for `validate`.
"""

from __future__ import annotations

import os
import sqlite3
import sys
from typing import NamedTuple

from orchestrator.run.prune import DEFAULT_AGE, seconds_of, taken
from orchestrator.run.unknown_runs import lost_database
from shared import resources
from shared.git.command import OLDEST, version
from shared.git.journal import journal_state
from shared.git.repository import check_startable, find_repository
from shared.known_secrets import is_secret_name
from shared.mode.sessions import repository_root
from shared.place.level import try_again
from shared.strategy import WORKFLOW as STRATEGY
from state import store
from state.database import Database, Run
from state.errors import Refused

_SHOWN = 5  # of files that git tracks and whose names say that they hold secrets


class Finding(NamedTuple):
    """One result of examining the machine; `way_out` tells how to fix it, empty if all is well."""

    what: str
    state: str
    way_out: str = ""


def examine(folder: str, state_dir: str | None) -> list[Finding]:
    """Return the findings on this machine, on the repository around `folder` and on its runs."""
    found = [*_machine(), _place(folder), *_repository(folder), *_tracked_secrets(folder)]
    path = (
        resources.database_path(os.path.realpath(state_dir))
        if state_dir
        else resources.repository_database(folder)
    )
    gone = path if state_dir else lost_database(folder)
    if gone and not os.path.isfile(gone):
        return [*found, Finding("database", f"{gone} is gone; plans are left", "planner repair")]
    if path is None:
        return [*found, Finding("runs", "none yet")]
    return [*found, *_database(path)]


def _machine() -> list[Finding]:
    git = version()
    shown = ".".join(map(str, git))
    oldest = ".".join(map(str, OLDEST))
    old = f"install git {oldest} or newer" if git < OLDEST else ""
    return [
        Finding("python", f"{sys.version.split()[0]} ({sys.executable})"),
        Finding("git", shown, old),
        Finding("sqlite", sqlite3.sqlite_version),
    ]


def _place(folder: str) -> Finding:
    """Report what holds shell commands while planning, tried now; planning works at each level."""
    return Finding("shell commands while planning", try_again(repository_root(folder)).told())


def _repository(folder: str) -> list[Finding]:
    problems = check_startable(folder)
    if not problems:
        return [Finding("repository", "a run can start here")]
    return [Finding("repository", p.problem, p.allowed or p.retry) for p in problems]


def _tracked_secrets(folder: str) -> list[Finding]:
    """Report tracked files that look like secrets: the place shows them, as every clone does."""
    try:
        git = find_repository(folder).git
        tracked = map(os.fsdecode, git.names("ls-files", "-z", "--full-name", ":/"))
    except Refused:
        return []
    found = [path for path in tracked if is_secret_name(os.path.basename(path))]
    if not found:
        return []
    shown = ", ".join(map(ascii, found[:_SHOWN]))
    more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    return [Finding("secrets", f"git tracks {shown}{more}, so commands may read them")]


def _database(path: str) -> list[Finding]:
    try:
        database = Database(path)
        damage = database.check()
        runs = database.runs()
    except Refused as refusal:
        way = "planner repair; the plans in the state directories are whole without it"
        return [Finding("database", p.problem, way) for p in refusal.problems]
    state = f"{path}, {len(runs)} runs" if not damage else "; ".join(damage)
    found = [Finding("database", state, "planner repair" if damage else "")]
    found += [f for run in runs if run.status in ("IDLE", "ACTIVE") for f in _run(run)]
    return found + _space(database)


def _space(database: Database) -> list[Finding]:
    """Report what ended runs take that a prune would free; nothing is wrong with that."""
    number, size = taken(database, seconds_of(DEFAULT_AGE))
    if not number:
        return []
    text = f"{number} runs that ended more than {DEFAULT_AGE} ago take {size / 1e6:.1f} MB"
    return [Finding("space", f"{text}; `planner prune` shrinks them to plan, audit and proof")]


def _run(run: Run) -> list[Finding]:
    name = f"run {run.run_id}"
    if not os.path.isdir(run.state_dir):
        return [
            Finding(name, f"the run's state directory {run.state_dir} is gone", "planner start")
        ]
    at = f"{run.workflow} step {run.step}"
    journal = journal_state(resources.journal_path(run.state_dir))
    if journal in ("applying", "undoing"):
        ways = " or ".join(
            resources.command(*words, state_dir=run.state_dir)
            for words in (("exec", "apply"), ("undo",))
        )
        return [Finding(name, f"{at}, `exec apply` or `undo` was interrupted", ways)]
    if run.workflow == STRATEGY:
        return [Finding(name, f"{at}, before any plan")]
    path = resources.plan_path(run.state_dir)
    if not os.path.exists(path):
        return [Finding(name, f"{at}, no plan yet", "planner start with the same words")]
    try:
        store.read_plan(path)
    except Refused as refusal:
        return [Finding(name, f"plan.json: {p.problem}", _restore(run)) for p in refusal.problems]
    return [Finding(name, at)]


def _restore(run: Run) -> str:
    kept = [n for n in sorted(os.listdir(run.state_dir)) if n.startswith("plan.r")]
    older = f"{kept[-1]} is the revision before; " if kept else ""
    return f"{older}the worktree still holds the changes; to set plan.json aside: planner repair"
