"""Report what may keep the planner from working on this machine, without changing anything.

A plan is read as printed steps read it. Whether it keeps the whole schema is for `validate`.
"""

from __future__ import annotations

import os
import sqlite3
import sys
import time
from typing import NamedTuple

from orchestrator.run.prune import DEFAULT_AGE, seconds_of, taken
from orchestrator.run.unknown_runs import lost_database
from shared import bounded_toml, resources
from shared.git.command import OLDEST, version
from shared.git.journal import journal_state
from shared.git.repository import check_startable, find_repository
from shared.known_secrets import is_secret_name
from shared.mode import sessions
from shared.place.level import try_again
from shared.strategy import WORKFLOW as STRATEGY
from state import store
from state.database import Database, Run
from state.errors import Refused

_STALE_HOURS = 24
_SHOWN = 5  # of files that git tracks and whose names say that they hold secrets


class Finding(NamedTuple):
    """One result of examining the machine; `way_out` tells how to fix it, empty if all is well.

    `hint` says what to do where nothing is wrong and it could be better.
    """

    what: str
    state: str
    way_out: str = ""
    hint: str = ""

    @property
    def line(self) -> str:
        """The finding as a row: what, and how it is with what to do."""
        return f"{self.what}\t" + " → ".join(filter(None, self[1:]))


def examine(folder: str, state_dir: str | None) -> list[Finding]:
    """Return the findings on this machine, on the repository around `folder` and on its runs."""
    found = [*_machine(), _place(folder), *_stale_sessions(time.time()), *_repository(folder)]
    found += [*_config(folder), *_tracked_secrets(folder)]
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
    return Finding(
        "shell commands while planning", try_again(sessions.repository_root(folder)).told()
    )


def _stale_sessions(now: float) -> list[Finding]:
    """Report sessions that plan and have called no tool for a day; hooks still hold them."""
    found = []
    for session in sessions.all_sessions():
        hours = (now - sessions.last_call(session.agent)) / 3600
        if hours < _STALE_HOURS:
            continue
        state = f"plans in {session.repository}, without a call for {hours / 24:.0f} days"
        if session.run_id and session.state_dir:
            way = resources.command("cancel", state_dir=session.state_dir)
        else:
            way = resources.command("mode", "cancel", "--agent", session.agent)
            way = f"in that folder: {way}"
        found.append(Finding(f"session {session.agent}", state, hint=f"go on, or {way}"))
    return found


def _config(folder: str) -> list[Finding]:
    """Report that no file of the repository says by which commands a change is verified.

    Whether all of it is as it should be is for `planner config show`, which loads far more.
    """
    try:
        git = find_repository(folder).git
    except Refused:
        return []
    name = resources.CONFIG_FILE
    found = git.attempt("cat-file", "blob", f"HEAD:{name}")
    try:
        table = bounded_toml.parse(found.stdout) if found.returncode == 0 else None
    except ValueError as error:
        return [Finding(name, f"at HEAD {error}", "correct it and commit that")]
    verify = (table or {}).get("verify")
    if isinstance(verify, dict) and verify.get("commands"):
        return [Finding(name, "names verify commands")]
    state = "is missing at HEAD" if table is None else "has no [verify] commands at HEAD"
    return [Finding(name, f"{state}; each run chooses its own", hint=resources.command("init"))]


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
