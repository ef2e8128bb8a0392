"""Make a run go on without a damaged file that was set aside (PC-10)."""

from __future__ import annotations

import os
from hashlib import sha256
from typing import TYPE_CHECKING

from developer.verify.trees import users_tree
from orchestrator.path import going_back
from orchestrator.run.providers import load_models
from orchestrator.run.settings import (
    git_of,
    load_settings,
    write_lane_settings,
    write_settings,
)
from shared import resources
from shared.config import load_config
from shared.git.change import revert_changes
from shared.git.journal import journal_file
from shared.git.lost_journal import rebuild_journal
from shared.qr.types import LoopState
from shared.requirements_record import IN_WORK, read_lane
from shared.requirements_record import WORKFLOW as REQUIREMENTS
from shared.steps.entry_points import workflow_of
from shared.user_config import limited, load_user_config
from shared.workspace import base_of, open_repository
from state import store
from state.actors import UNPROVEN
from state.changes import plan_changes
from state.files import write_json
from state.phases import PHASES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shared.git.change import Change
    from shared.run import State
    from state.phases import Phase


def restore(state: State, path: str) -> None:
    """Write the file at `path` anew where that can be, or end the run that cannot do without it."""
    here = state.state_dir
    if path == resources.run_config_path(here):
        restore_settings(state)
    if path == resources.get_context_path(here):
        plan = store.load_plan(state.plan_path)
        task = [item.text for item in plan.task_spec]
        write_json(path, {"task_spec": task, **plan.context.model_dump(mode="json")})
    for phase in PHASES:
        if path == resources.review_path(here, phase):
            _hand_in_again(state, phase)
    if path == resources.lane_path(here):
        _restore_lane(state)
    for folder in (resources.journal_path(here), resources.revert_journal_path(here)):
        if path == journal_file(folder):
            _restore_journal(state, folder)
    if path == resources.scene_path(here):
        write_json(path, users_tree(state.repository))
    if state.run.workflow == REQUIREMENTS and path == resources.requirements_record_path(here):
        with state.database:
            state.move("cancel", UNPROVEN, detail="lifecycle.json was damaged")


def _restore_journal(state: State, folder: str) -> None:
    plan = store.load_plan(state.plan_path)
    repository, vault = open_repository(state)
    changes: Sequence[Change] = plan_changes(plan)
    if folder == resources.revert_journal_path(state.state_dir):
        changes, is_applied = revert_changes(vault, changes, repository.zero), False
    else:
        is_applied = state.run.step == max(workflow_of("impl-code").steps)
    rebuild_journal(repository, changes, folder, plan.digest or "", is_applied=is_applied)


def _hand_in_again(state: State, phase: Phase) -> None:
    """Go back to a phase's work step, which asks the questions of its review anew."""
    workflow = workflow_of(phase)
    number, run = workflow.number(phase, "execute"), state.run
    if run.digest is None and run.workflow == workflow.name and run.step > number:
        with state.database as database:
            iteration = database.phase(run, phase)[1]
            again = LoopState.of(iteration, passed=False)
            database.set_phase(run, phase, again, iteration)
            with going_back(state, "repaired"):
                state.go_to(workflow.name, number)


def _restore_lane(state: State) -> None:
    """Write again which requirements a run implements, as its lane remembers."""
    for run in state.database.runs():
        if run.workflow == REQUIREMENTS and os.path.isdir(run.state_dir):
            facts = read_lane(run.state_dir)
            if facts.run == state.state_dir:
                digest = sha256(facts.read(IN_WORK)).hexdigest()
                lane = {"planning": facts.folder, "lifecycle": run.state_dir, "sha256": digest}
                write_json(resources.lane_path(state.state_dir), lane)


def restore_settings(state: State) -> None:
    """Write the settings of a run as `start` read them from its base commit, a lane's from HEAD."""
    if state.run.workflow == REQUIREMENTS:
        codepath = read_lane(state.state_dir).codepath
        write_lane_settings(state, load_settings(codepath), load_models(git_of(codepath)))
        return
    base, repository = base_of(store.load_plan(state.plan_path)), state.repository
    commit = base.snapshot or base.commit
    settings = limited(load_config(repository.git, commit), load_user_config())
    write_settings(state, repository, settings, commit)
