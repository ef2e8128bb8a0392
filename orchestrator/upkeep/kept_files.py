"""Find the damaged ones of the files that a run keeps, and say what is lost with each (PC-10).

Plan, strategy and database are in `repair`; what lies in the user's folders is not ours.
"""

from __future__ import annotations

import contextlib
import os
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from shared import candidates, requirements_record, resources, tree_runs
from shared.git.change import FileChange
from shared.git.journal import journal_file, load_journal
from shared.qr.kept_review import is_review_due
from shared.qr.schema import read_review
from shared.requirements_record import WORKFLOW as REQUIREMENTS
from shared.run import has_settings
from state.errors import Refused
from state.kept_files import read_kept
from state.kept_settings import read_settings
from state.phases import PHASES
from state.stages import ACTIVE, IDLE, PAUSED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from state.database import Database, Run


PLANNER = "planner"
CONTEXT_STEP = 2  # which writes context.json


class Kept(NamedTuple):
    """A file that a run keeps, what is lost with it, and what still works without it."""

    path: str
    # Refused (`invalid`) where the file is damaged.
    read: Callable[[], object]
    lost: str
    way: str
    # Whether the run cannot go on without it, so that it is missed where it is gone.
    is_due: bool = False


def damaged_files(database: Database, run: Run) -> list[Kept]:
    """Return the files of a run that cannot be read as we have written them, or are missed."""
    return _damaged(_files(database, run))


def _damaged(files: Iterable[Kept]) -> list[Kept]:
    found = []
    for kept in files:
        try:
            if os.path.lexists(kept.path):
                kept.read()
            elif kept.is_due:
                found.append(kept)
        except Refused as refusal:
            if refusal.problems[0].kind == "invalid":
                found.append(kept)
    return found


def damaged_ended(run: Run) -> list[Kept]:
    """Return what is damaged of the files that a completed run is taken back by."""
    return _damaged(_journals(run))


def damaged_light(database: Database) -> Kept | None:
    """Return the settings of plans without a run where they are damaged or gone, else None."""
    rows = [row for row in database.planning_live() if row.run_id is None]
    path = resources.run_config_path(os.path.dirname(database.path))
    way = f"its settings are read at HEAD again: {resources.command('mode', 'status')}"
    try:
        if rows:
            read_settings(path, is_due=True)
    except Refused:
        return Kept(path, lambda: None, "nothing of the light plan", way)
    return None


def _files(database: Database, run: Run) -> Iterator[Kept]:
    here, name = run.state_dir, run.run_id
    step = resources.command("step", run.workflow, state_dir=here)
    yield Kept(
        resources.candidates_path(here),
        lambda: candidates.read_found(here),
        f"the commands found to verify run {name}",
        f"the run goes on, and is verified by what is chosen or given: {step}",
    )
    yield Kept(
        resources.chosen_commands_path(here),
        lambda: candidates.read_chosen(here),
        f"the choice of commands that verify run {name}",
        f"the run goes on, and they are chosen anew: {step}",
    )
    yield Kept(
        resources.tree_runs_path(here),
        lambda: tree_runs.captured_tree(here),
        f"what was run on the files of run {name}, as evidence of its review",
        f"the run goes on; answers that name a run are asked for again: {step}",
    )
    recalled = resources.recalled_path(here)
    yield Kept(
        recalled,
        lambda: read_kept(recalled, list),
        f"what earlier plans say to the request of run {name}",
        f"the run goes on: {step}",
    )
    yield from _journals(run)
    yield from _verification(run)
    yield from _transition(run)
    yield from _approved(run, step)
    yield from _of_milestones(run)
    yield from _reviews(database, run, step)
    config = resources.run_config_path(here)
    way = f"its settings are read from its base commit again: {step}"
    lost = f"nothing of run {name}"
    yield Kept(config, lambda: read_settings(config), lost, way, has_settings(run))
    context, lane = resources.get_context_path(here), resources.lane_path(here)
    way = f"it is written again from the plan: {step}"
    designed = run.workflow == PLANNER and run.step > CONTEXT_STEP and has_settings(run)
    yield Kept(context, lambda: read_kept(context, _object), lost, way, designed)
    way = f"it is written again from what the requirements lane remembers: {step}"
    yield Kept(lane, lambda: read_kept(lane, _object), lost, way, _is_of_a_lane(database, run))


def _is_of_a_lane(database: Database, run: Run) -> bool:
    """Return whether a requirements lane says that it is implemented by a run."""
    for lane in database.runs(IDLE, ACTIVE, PAUSED):
        if lane.workflow == REQUIREMENTS and lane.run_id != run.run_id:
            with contextlib.suppress(Refused):
                if requirements_record.read_lane(lane.state_dir).run == run.state_dir:
                    return True
    return False


def _object(value: Any) -> dict[str, Any]:  # noqa: ANN401 – any JSON value
    return dict(value.items())


def _journals(run: Run) -> Iterator[Kept]:
    here, folders = run.state_dir, (resources.journal_path, resources.revert_journal_path)
    again = resources.command("exec", "run", state_dir=here)
    undo = resources.command("undo", state_dir=here)
    for folder in (path(here) for path in folders):
        yield Kept(
            journal_file(folder),
            partial(load_journal, folder),
            f"how far the apply or undo of run {run.run_id} had come; your files tell it",
            "it is written again from the plan and from the copies of your files beside it; "
            f"go on: {again}; or take it back: {undo}",
        )


def _verification(run: Run) -> Iterator[Kept]:
    """Yield the notes of a verification, and that of files which it has broken on purpose."""
    here = run.state_dir
    folder = resources.verification_path(here)
    again = resources.command("plan", "verify", state_dir=here)
    names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
    for path in (os.path.join(folder, name) for name in names if name.endswith(".json")):
        lost = f"a note of the verification of run {run.run_id}"
        read = partial(read_kept, path, _object)
        yield Kept(path, read, lost, f"it is verified again: {again}")
    canary = os.path.join(folder, resources.CANARY)
    broken = resources.broken_files_path(canary)
    if os.path.lexists(broken):
        tree = resources.worktree_path(here)
        yield Kept(
            canary,
            partial(read_kept, broken, lambda note: [note["worktree"], *note["files"]]),
            f"which files in {tree} run {run.run_id} had made unparsable for its verification",
            "what they held is in the folder that was set aside, and each is unparsable until it "
            f"is written again; then: {again}",
        )


def _transition(run: Run) -> Iterator[Kept]:
    path = resources.transition_path(run.state_dir)
    codepath = run.repository
    with contextlib.suppress(Refused):
        codepath = requirements_record.read_lane(run.state_dir).codepath
    start = resources.command("start", "--planning", "--codepath", codepath)
    yield Kept(
        path,
        partial(requirements_record.read_transition, path),
        f"which files of {resources.PLANNING_FOLDER}/ a killed command of run {run.run_id} still "
        "had to write",
        f"those that it wrote stay; begin again, which looks at what is there: {start}",
    )


def _reviews(database: Database, run: Run, step: str) -> Iterator[Kept]:
    for phase in PHASES:
        path = resources.review_path(run.state_dir, phase)
        lost = f"the answers of the review of {phase} of run {run.run_id}"
        way = f"the phase is handed in again, and its questions are asked anew: {step}"
        due = is_review_due(database, run, phase)
        yield Kept(path, partial(read_review, path), lost, way, due)


def _of_milestones(run: Run) -> Iterator[Kept]:
    """Yield what earlier attempts at milestones have written, while it moves to another base."""
    folder = resources.milestones_path(run.state_dir)
    again = resources.command("exec", "next", state_dir=run.state_dir)
    for found in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
        name, end = os.path.splitext(found)
        path = resources.kept_work_path(run.state_dir, name)
        if end == ".json":
            yield Kept(
                path,
                partial(read_kept, path, lambda rows: [FileChange(**row) for row in rows]),
                f"what the last attempt at milestone {name} of run {run.run_id} wrote",
                f"the milestone is written anew: {again}",
            )


def _approved(run: Run, step: str) -> Iterator[Kept]:
    """Yield what an approval, an apply and the requirements lane leave in a run's folder."""
    here, name = run.state_dir, run.run_id
    yield Kept(
        resources.approval_path(here),
        lambda: _read_approval(here),
        f"the signature of the approval of run {name}; the database knows that it is approved",
        f"the run goes on, and its approval is kept without a signature: {step}",
    )
    scene = resources.scene_path(here)
    yield Kept(
        scene,
        lambda: read_kept(scene, lambda rows: [*rows.items()]),
        f"how your tree was after the apply of run {name}",
        f"the plan stays applied; what your tree holds now counts as known: {step}",
    )
    planning = f"your requirements stay in {resources.PLANNING_FOLDER}/"
    start = resources.command("start", "--planning", "--codepath", run.repository)
    yield Kept(
        resources.requirements_record_path(here),
        lambda: requirements_record.read_lane(here),
        f"what the requirements lane {name} remembers; it is cancelled",
        f"{planning}; begin again: {start}",
    )


def _read_approval(state_dir: str) -> object:
    from shared import approval  # not at the top: it loads the models, which doctor does without

    return approval.of_run(state_dir)
