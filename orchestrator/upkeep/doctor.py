"""Report what may keep the planner from working on this machine, without changing anything.

A plan is read as printed steps read it. Whether it keeps the whole schema is for `validate`.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import sys
import time
from typing import TYPE_CHECKING, NamedTuple

from orchestrator.upkeep.kept_files import damaged_ended, damaged_files, damaged_light
from orchestrator.upkeep.unknown_runs import lost_database
from shared import bounded_toml, resources
from shared.builders import counted
from shared.git.command import OLDEST, version
from shared.git.filters_here import check_filters
from shared.git.journal import journal_state
from shared.git.readiness import check_repository
from shared.git.repository import find_repository
from shared.known_secrets import is_secret_name
from shared.mode import memory, sessions
from shared.strategy_record import WORKFLOW as STRATEGY
from shared.strategy_record import damage_of
from state import store
from state.database import Database, Run
from state.errors import Refused
from state.stages import ACTIVE, CANCELLED, COMPLETED, IDLE, PAUSED

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from orchestrator.upkeep.kept_files import Kept
    from shared.git.command import Git
    from shared.place.level import Level
    from state.errors import Problem

OK, NOTE, PROBLEM = "OK", "note", "problem"
_STALE_HOURS = 24
_SHOWN = 5  # of files that git tracks and whose names say that they hold secrets


class Finding(NamedTuple):
    """One result of examining the machine."""

    what: str
    state: str
    # How to fix it, empty if all is well.
    way_out: str = ""
    # What to do where nothing is wrong and it could be better.
    hint: str = ""

    @property
    def mark(self) -> str:
        """How it stands in one word: OK, a note, or a problem."""
        return PROBLEM if self.way_out else NOTE if self.hint else OK

    @property
    def row(self) -> str:
        """The finding as a row: its mark, what, and how it is with what to do."""
        return f"{self.mark}\t{self.what}\t" + " → ".join(filter(None, self[1:]))


def examine(folder: str, state_dir: str | None, level: Callable[[], Level]) -> list[Finding]:
    """Return the findings on this machine, on the repository around `folder` and on its runs.

    `level` waits for the answer to what holds shell commands here.
    """
    git = version()
    # An old git fails at what it is asked here, which would say nothing about the repository.
    repository = _repository(folder) if git >= OLDEST else []
    rest = [*_stale_sessions(time.time()), *repository, *_runs(folder, state_dir)]
    return [*_machine(git), _place(level()), *rest]


def _runs(folder: str, state_dir: str | None) -> list[Finding]:
    path = (
        resources.database_path(os.path.realpath(state_dir))
        if state_dir
        else resources.repository_database(folder)
    )
    gone = path if state_dir else lost_database(folder)
    if gone and not resources.is_database(gone):
        state = f"{gone} is gone; plans are left"
        return [Finding("database", state, resources.command("repair"))]
    if path is None:
        return [Finding("runs", "none yet"), *_worktrees(folder)]
    return _database(path)


def _machine(git: tuple[int, ...]) -> list[Finding]:
    shown = ".".join(map(str, git))
    oldest = ".".join(map(str, OLDEST))
    old = f"install git {oldest} or newer" if git < OLDEST else ""
    return [
        Finding("python", f"{sys.version.split()[0]} ({sys.executable})"),
        Finding("git", shown, old),
        Finding("sqlite", sqlite3.sqlite_version),
    ]


def _place(level: Level) -> Finding:
    """Report what holds shell commands while planning; planning works at each level."""
    what = "shell commands while planning"
    if level.holds:
        return Finding(what, level.sentence())
    return Finding(what, level.held(), hint=level.way or "planning works so too; see docs/place.md")


def _stale_sessions(now: float) -> list[Finding]:
    """Report sessions that hooks hold though nobody goes on: idle for a day, or forgotten."""
    found = []
    for session in sessions.all_sessions():
        if session.session != session.agent and sessions.is_published(session.agent):
            continue
        what = f"session {session.agent}"
        hours = (now - sessions.last_call(session.agent)) / 3600
        gone = _gone(session)
        if gone:
            state = f"stays read-only, since what remembers its plan is gone: {gone}"
            found.append(Finding(what, state, hint=memory.way_out(session)))
        elif hours >= _STALE_HOURS:
            state = f"plans in {session.repository}, without a call for {hours / 24:.0f} days"
            found.append(Finding(what, state, hint=f"go on, or {way_out(session)}"))
    return found


def _gone(session: sessions.Session) -> str:
    with contextlib.suppress(Refused):  # it is only locked
        return memory.Memory(session).gone
    return ""


def way_out(session: sessions.Session) -> str:
    """Return the command that ends a session's planning, and where it is to be typed."""
    if session.run_id and session.state_dir:
        return resources.command("cancel", state_dir=session.state_dir)
    return f"in that folder: {resources.command('cancel', '--agent', session.agent)}"


def _config(git: Git) -> Finding:
    """Report that no file of the repository says by which commands a change is verified.

    Whether all of it is as it should be is for `planner config show`, which loads far more.
    """
    for name in resources.CONFIG_FILES:
        found = git.attempt("cat-file", "blob", f"HEAD:{name}")
        if found.returncode == 0:
            break
    try:
        table = bounded_toml.parse(found.stdout) if found.returncode == 0 else None
    except ValueError as error:
        return Finding(name, f"at HEAD {error}", "correct it and commit that")
    verify = (table or {}).get("verify")
    if isinstance(verify, dict) and verify.get("commands"):
        return Finding(name, "names verify commands")
    state = "is missing at HEAD" if table is None else "has no [verify] commands at HEAD"
    return Finding(name, f"{state}; each run chooses its own", hint=resources.command("init"))


def _repository(folder: str) -> list[Finding]:
    try:
        repository = find_repository(folder)
    except Refused as refusal:
        return _startable(refusal.problems)
    git = repository.git
    problems = [
        *check_repository(repository),
        *check_filters(repository, resources.user_config_path()),
    ]
    return [*_startable(problems), _config(git), *_tracked_secrets(git)]


def _startable(problems: Sequence[Problem]) -> list[Finding]:
    if not problems:
        return [Finding("repository", "a run can start here")]
    ways = (": ".join(filter(None, (p.allowed, p.retry))) for p in problems)
    texts = (p.problem if p.kind == "refused" and "." not in p.at else f"{p.at}: {p.problem}"
             for p in problems)  # fmt: skip
    return [Finding("repository", text, way) for text, way in zip(texts, ways, strict=True)]


def _tracked_secrets(git: Git) -> list[Finding]:
    """Report tracked files that look like secrets: the place shows them, as every clone does."""
    tracked = map(os.fsdecode, git.names("ls-files", "-z", "--full-name", ":/"))
    found = [path for path in tracked if is_secret_name(os.path.basename(path))]
    if not found:
        return []
    shown = ", ".join(map(ascii, found[:_SHOWN]))
    more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    state = f"git tracks {shown}{more}, so commands may read them"
    return [Finding("secrets", state, hint="git rm --cached FILE, where one holds a secret")]


def _database(path: str) -> list[Finding]:
    try:
        database = Database(path)
        damage = database.check()
        runs = database.runs()
    except Refused as refusal:
        way = resources.command("repair")
        way += "; the plans in the state directories are whole without it"
        # A link, a full disk or a missing right is not for a repair.
        return [
            Finding("database", f"{p.at} {p.problem}", p.allowed)
            if p.kind == "refused"
            else Finding("database", p.problem, way)
            for p in refusal.problems
        ]
    state = f"{path}, {counted(len(runs), 'run')}" if not damage else "; ".join(damage)
    found = [Finding("database", state, resources.command("repair") if damage else "")]
    under_way = (IDLE, ACTIVE, PAUSED)
    found += [f for run in runs if run.status in under_way for f in _run(database, run)]
    found += [f for run in runs if run.status == COMPLETED for f in _completed(run)]
    found += _light(database)
    ended = any(run.status in (COMPLETED, CANCELLED) for run in runs)
    return found + (_space(database) if ended else [])


def _space(database: Database) -> list[Finding]:
    """Report what ended runs take that a prune would free; nothing is wrong with that."""
    # Not at the top: it loads what changes a repository, and mostly nothing is there to prune.
    from orchestrator.run.age import DEFAULT_AGE, seconds_of
    from orchestrator.upkeep.prune import taken

    number, size = taken(database, seconds_of(DEFAULT_AGE))
    if not number:
        return []
    text = f"{counted(number, 'run')} that ended more than {DEFAULT_AGE} ago: {size / 1e6:.1f} MB"
    return [Finding("space", text, hint=resources.command("prune"))]


def _run(database: Database, run: Run) -> list[Finding]:
    name = f"run {run.run_id}"
    if not os.path.isdir(run.state_dir):
        state = f"the run's state directory {run.state_dir} is gone"
        return [Finding(name, state, resources.command("repair"))]
    if damaged := damaged_files(database, run):
        state = f"{_named(damaged, run.state_dir)}; lost is {damaged[0].lost}"
        return [Finding(name, state, resources.command("repair"))]
    at = f"{run.workflow} step {run.step}"
    journal = journal_state(resources.journal_path(run.state_dir))
    if journal in ("applying", "undoing"):
        ways = " or ".join(
            resources.command(*words, state_dir=run.state_dir)
            for words in (("exec", "apply"), ("undo",))
        )
        return [Finding(name, f"{at}, `exec apply` or `undo` was interrupted", ways)]
    if damage := damage_of(run.state_dir, begun=run.workflow == STRATEGY and run.step > 1):
        return [Finding(name, f"strategy.json: {damage}", resources.command("repair"))]
    if run.workflow == STRATEGY:
        return [Finding(name, f"{at}, before any plan")]
    return _plan(run, name, at)


def _completed(run: Run) -> list[Finding]:
    if not (damaged := damaged_ended(run)):
        return []
    state = f"{_named(damaged, run.state_dir)}; lost is {damaged[0].lost}"
    return [Finding(f"run {run.run_id}", state, resources.command("repair"))]


def _light(database: Database) -> list[Finding]:
    """Report settings of plans without a run that are damaged or gone."""
    kept = damaged_light(database)
    if kept is None:
        return []
    state = _named([kept], os.path.dirname(kept.path))
    return [Finding("light plan", state, resources.command("repair"))]


def _named(files: Sequence[Kept], folder: str) -> str:
    """Return the names of files of a folder and that they are damaged, or gone."""
    said = {"damaged": True, "gone": False}
    names = {
        word: [os.path.relpath(k.path, folder) for k in files if os.path.lexists(k.path) == there]
        for word, there in said.items()
    }
    return "; ".join(f"{', '.join(own)}: {word}" for word, own in names.items() if own)


def _plan(run: Run, name: str, at: str) -> list[Finding]:
    path = resources.plan_path(run.state_dir)
    if not os.path.exists(path):
        return [
            Finding(name, f"{at}, no plan yet", f"{resources.command('start')} with the same words")
        ]
    try:
        store.read_plan(path)
    except Refused as refusal:
        return [Finding(name, f"plan.json: {p.problem}", _restore(run)) for p in refusal.problems]
    return [Finding(name, at)]


def _restore(run: Run) -> str:
    kept = [n for n in sorted(os.listdir(run.state_dir)) if n.startswith("plan.r")]
    older = f"{kept[-1]} is the revision before; " if kept else ""
    way = resources.command("repair")
    there = os.path.isdir(resources.worktree_path(run.state_dir))
    left = "the worktree still holds the changes; " if there else ""
    return f"{older}{left}to set plan.json aside: {way}"


def _worktrees(folder: str) -> list[Finding]:
    """Report git's records of worktrees that went with all that we knew of their runs."""
    from orchestrator.upkeep.prune import prune_worktrees  # as above

    with contextlib.suppress(Refused):
        if gone := prune_worktrees(None, find_repository(folder).root, dry_run=True):
            text = f"git has records of {len(gone)} that are gone, such as {gone[0]}"
            return [Finding("worktrees", text, hint=resources.command("prune"))]
    return []
