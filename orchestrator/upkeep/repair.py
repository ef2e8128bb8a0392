"""Set damaged files of the planner aside, say what was lost and how to go on (PC-10).

Nothing is deleted: a file that cannot be read is renamed beside its place.
"""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING, NamedTuple

from orchestrator.run.settings import light_settings, write_light_settings
from orchestrator.upkeep.adopt import adopt
from orchestrator.upkeep.kept_files import damaged_ended, damaged_files, damaged_light
from orchestrator.upkeep.restore import restore, restore_settings
from orchestrator.upkeep.unknown_runs import is_unknown, lost_database, unknown_runs
from shared import plan_refs, resources
from shared.git.journal import journal_state
from shared.git.kept import KEPT_FILES, damaged_parts, is_kept
from shared.git.private import renew
from shared.git.repository import repository_at
from shared.requirements_record import WORKFLOW as REQUIREMENTS
from shared.run import State
from shared.strategy_record import CHAT, damage_of
from shared.strategy_record import WORKFLOW as STRATEGY
from state import store
from state.actors import UNPROVEN
from state.connection import DAMAGED
from state.database import Database
from state.errors import Refused
from state.files import read_bytes, write_atomic
from state.frozen_bytes import digest_of
from state.stages import ACTIVE, COMPLETED, EXECUTING, IDLE, PAUSED

if TYPE_CHECKING:
    from collections.abc import Callable

    from orchestrator.upkeep.kept_files import Kept
    from state.database import Run


class SetAside(NamedTuple):
    """A damaged file: where it lies now, what was lost with it, and how to go on."""

    path: str
    lost: str
    way_out: str


def repair(folder: str, state_dir: str | None) -> list[SetAside]:
    """Set aside what is damaged of the database and of the plans under way; [] if all is well.

    Frozen plans that the database does not know, since it was lost, are taken up again.
    """
    path = (
        resources.database_path(os.path.realpath(state_dir))
        if state_dir
        else resources.repository_database(folder) or lost_database(folder)
    )
    if path is None:
        return []
    found: list[SetAside] = []
    if resources.is_database(path) and _is_damaged(path):
        found.append(_set_database_aside(path))
    found += _repair_files(os.path.dirname(os.path.dirname(path)))
    if os.path.isfile(path):
        database = Database(path)
        runs = database.runs(IDLE, ACTIVE, PAUSED)
        found += [one for run in runs for one in _repair_plan(database, run)]
        found += [one for run in runs for one in _repair_strategy(run)]
        found += [one for run in runs for one in _repair_kept(database, run, damaged_files)]
        for run in database.runs(COMPLETED):
            found += _repair_kept(database, run, lambda _, run: damaged_ended(run))
        found += _repair_light(database)
    homes = [os.path.realpath(state_dir)] if state_dir else unknown_runs(path)
    return found + [_take_up(home, path) for home in homes if is_unknown(home, path)]


def _take_up(home: str, database: str) -> SetAside:
    """Make a run of a plan that the database does not know, if the plan is frozen."""
    missing = "" if os.path.isfile(database) else "the database was missing; "
    lost = f"{missing}what it knew of the run: its approval, audit and events"
    try:
        frozen = store.load_plan(resources.plan_path(home)).frozen_at is not None
        state = adopt(home, home) if frozen else None
    except Refused as refusal:
        return SetAside(home, lost, f"its plan cannot be taken up: {refusal.problems[0].problem}")
    if state is None:
        words = "start a run anew with the same words, then copy the plan into it"
        copy = resources.command("plan", "import", resources.plan_path(home))
        return SetAside(home, lost, f"{words}: {copy}; the worktree still holds the changes")
    if state.run.status == COMPLETED:
        return SetAside(home, lost, f"it is committed; to undo it: {state.command('undo')}")
    way = f"it is taken up again; the next step: {state.command('step', 'executor')}"
    if journal_state(resources.journal_path(home)) in ("applying", "applied"):
        way += f"; it is applied; to undo that: {state.command('undo')}"
    return SetAside(home, lost, way)


def _is_damaged(path: str) -> bool:
    """Return whether the database cannot be read; one of a newer planner or of others is whole."""
    try:
        database = Database(path)
        broken = database.check()
        database.close()
    except Refused as refusal:
        if DAMAGED in refusal.problems[0].problem:
            return True
        raise
    return bool(broken)


def _set_database_aside(path: str) -> SetAside:
    moved = _move_aside(path)
    for tail in ("-journal", "-wal", "-shm"):
        if os.path.exists(path + tail):
            os.replace(path + tail, moved + tail)
    copies = [f"{path}.v{n}" for n in range(1, 100) if os.path.isfile(f"{path}.v{n}")]
    lost = "runs, approvals, audit and events of this repository"
    older = f"; {copies[-1]} is a copy from before an upgrade" if copies else ""
    way = "the plans in the state directories are whole; those that are frozen are taken up again"
    return SetAside(moved, f"{lost}{older}", way)


def _repair_plan(database: Database, run: Run) -> list[SetAside]:
    path = resources.plan_path(run.state_dir)
    moved = ""
    if os.path.lexists(path):
        if not _is_unreadable(path) and digest_of(read_bytes(path))[1] in (None, run.digest):
            return []
        frozen = _kept_by_a_ref(run)
        if frozen is not None:
            return [_restore_plan(database, run, path, frozen)]
        if not _is_unreadable(path):
            return []
        moved = _move_aside(path)
    elif run.status == IDLE or run.workflow in (STRATEGY, REQUIREMENTS):
        return []  # it has no plan yet, or never
    elif (frozen := _kept_by_a_ref(run)) is not None:
        return [_restore_plan(database, run, path, frozen)]
    else:
        # A repair that was killed has moved it already.
        moved = _last_aside(path)
    state = State(run.state_dir, database, run)
    what = f"was damaged and is now {moved}" if moved else "was removed"
    with database:
        state.move("cancel", UNPROVEN, detail=f"plan.json {what}")
    names = sorted(os.listdir(run.state_dir)) if os.path.isdir(run.state_dir) else []
    older = [name for name in names if name.startswith("plan.r")]
    kept = f"{older[-1]} beside it is the revision before; " if older else ""
    left = "the worktree still holds the changes; " if "worktree" in names else ""
    way = f"{kept}{left}start a run anew: planner start"
    return [SetAside(moved or path, f"the plan of run {run.run_id}, which is cancelled", way)]


def _repair_strategy(run: Run) -> list[SetAside]:
    """Set aside what a choice of strategy remembers, where it is damaged: the choice begins again.

    A run that has its plan goes on without.
    """
    path = resources.strategy_path(run.state_dir)
    begun = run.workflow == STRATEGY and run.step > 1
    if not damage_of(run.state_dir, begun=begun):
        return []
    moved = _move_aside(path) if os.path.lexists(path) else path
    lane = ("--chat",) if run.lane == CHAT else ()
    again = ("start", *lane, "--codepath", run.repository, run.request)
    words = again if begun else ("step", run.workflow)
    way = resources.command(*words, state_dir=None if begun else run.state_dir)
    return [SetAside(moved, f"the goals and answers of the strategy of run {run.run_id}", way)]


def _repair_kept(
    database: Database, run: Run, damaged: Callable[[Database, Run], list[Kept]]
) -> list[SetAside]:
    """Set aside what else is damaged of the files that a run keeps; most runs go on without."""
    state, found = State(run.state_dir, database, run), []
    for kept in damaged(database, run):
        moved = _move_aside(kept.path) if os.path.lexists(kept.path) else kept.path
        restore(state, kept.path)
        found.append(SetAside(moved, kept.lost, kept.way))
    return found


def _repair_light(database: Database) -> list[SetAside]:
    """Write the settings of plans without a run anew, where they are damaged or gone."""
    kept = damaged_light(database)
    if kept is None:
        return []
    moved = _move_aside(kept.path) if os.path.lexists(kept.path) else kept.path
    home = os.path.dirname(kept.path)
    write_light_settings(home, light_settings(os.path.dirname(home)))
    return [SetAside(moved, kept.lost, kept.way)]


def _repair_files(root: str) -> list[SetAside]:
    """Set aside what is damaged of git's own files of a folder without git, and write it anew."""
    parts = damaged_parts(root) if is_kept(root) else []
    if not parts:
        return []
    folder = os.path.join(root, KEPT_FILES)
    there = [part for part in parts if os.path.lexists(os.path.join(folder, part))]
    moved = [
        _move_aside(os.path.join(folder, part), f"{folder}.{os.path.basename(part)}")
        for part in there
    ]
    renew(root, parts)
    lost = "nothing: your folder is as it is, and what was kept of its files is there"
    way = f"git's own files are written anew; go on: {resources.command('status')}"
    return [SetAside(", ".join(moved) or folder, lost, way)]


def _kept_by_a_ref(run: Run) -> bytes | None:
    """Return the bytes of a run's frozen plan from the ref that keeps them, None without one."""
    digest = run.digest or ""
    with contextlib.suppress(Refused):
        repository = repository_at(run.repository)
        for place in (plan_refs.DRAFTS, plan_refs.KEPT) if digest else ():
            kept = plan_refs.read(repository, f"{place}{digest}", digest)
            if not kept.wrong:
                return kept.data
    return None


def _restore_plan(database: Database, run: Run, path: str, data: bytes) -> SetAside:
    moved = _move_aside(path) if os.path.lexists(path) else path
    os.makedirs(run.state_dir, exist_ok=True)
    write_atomic(path, data)
    if not os.path.lexists(resources.run_config_path(run.state_dir)):
        restore_settings(State(run.state_dir, database, run))
    next_step = resources.command("step", run.workflow, state_dir=run.state_dir)
    way = f"plan.json is again as it was frozen, from its ref: {next_step}"
    if run.stage == EXECUTING and not os.path.exists(resources.journal_path(run.state_dir)):
        undo = resources.command("undo", state_dir=run.state_dir)
        way += f"; if it is applied, this takes it back: {undo}"
    return SetAside(moved, f"nothing of run {run.run_id}", way)


def _is_unreadable(path: str) -> bool:
    """Return whether a plan.json is damaged; one of a newer planner is whole and is refused."""
    try:
        store.read_plan(path)
    except Refused as refusal:
        if any(p.kind != "invalid" or store.NEWER in p.problem for p in refusal.problems):
            raise
        return True
    return False


def _last_aside(path: str) -> str:
    number = 1
    while os.path.lexists(f"{path}.damaged-{number}"):
        number += 1
    return f"{path}.damaged-{number - 1}" if number > 1 else ""


def _move_aside(path: str, beside: str = "") -> str:
    """Rename a damaged file and return its new path, which begins as `beside` or as before."""
    number = 1
    while os.path.lexists(f"{beside or path}.damaged-{number}"):
        number += 1
    moved = f"{beside or path}.damaged-{number}"
    os.replace(path, moved)
    return moved
