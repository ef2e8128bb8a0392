"""Make a run go on without a damaged file that was set aside (PC-10)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from developer.verify.trees import users_tree
from orchestrator.run.settings import write_settings
from shared import resources
from shared.config import load_config
from shared.requirements_record import WORKFLOW as REQUIREMENTS
from shared.user_config import limited, load_user_config
from shared.workspace import base_of
from state import store
from state.actors import UNPROVEN
from state.files import write_json

if TYPE_CHECKING:
    from shared.run import State


def restore(state: State, path: str) -> None:
    """Write the file at `path` anew where that can be, or end the run that cannot do without it."""
    here = state.state_dir
    if path == resources.run_config_path(here):
        restore_settings(state)
    if path == resources.scene_path(here):
        write_json(path, users_tree(state.repository))
    if state.run.workflow == REQUIREMENTS and path == resources.requirements_record_path(here):
        with state.database:
            state.move("cancel", UNPROVEN, detail="lifecycle.json was damaged")


def restore_settings(state: State) -> None:
    """Write the settings of a run as `start` read them from its base commit."""
    base, repository = base_of(store.load_plan(state.plan_path)), state.repository
    commit = base.snapshot or base.commit
    settings = limited(load_config(repository.git, commit), load_user_config())
    write_settings(state, repository, settings, commit)
