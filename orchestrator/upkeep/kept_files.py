"""Find the damaged ones of the files that a run keeps, set them aside, say what is lost (PC-10).

Plan, strategy and database are in `repair`; what lies in the user's folders is not ours.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from developer.verify.trees import users_tree
from orchestrator.run.settings import write_settings
from shared import approval, candidates, requirements_record, resources, tree_runs
from shared.config import load_config
from shared.requirements_record import WORKFLOW as REQUIREMENTS
from shared.user_config import limited, load_user_config
from shared.workspace import base_of
from state import store
from state.actors import UNPROVEN
from state.errors import Refused
from state.files import write_json
from state.kept_files import read_kept
from state.kept_settings import read_settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from shared.run import State
    from state.database import Run


class Kept(NamedTuple):
    """A file that a run keeps, what is lost with it, and what still works without it."""

    path: str
    # Refused (`invalid`) where the file is damaged.
    read: Callable[[], object]
    lost: str
    way: str


def damaged_files(run: Run) -> list[Kept]:
    """Return the files of a run that are there and cannot be read as we have written them."""
    found = []
    for kept in _files(run):
        try:
            if os.path.lexists(kept.path):
                kept.read()
        except Refused as refusal:
            if refusal.problems[0].kind == "invalid":
                found.append(kept)
    return found


def _files(run: Run) -> Iterator[Kept]:
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
    yield from _approved(run, step)
    config = resources.run_config_path(here)
    way = f"its settings are read from its base commit again: {step}"
    yield Kept(config, lambda: read_settings(config), f"nothing of run {name}", way)


def _approved(run: Run, step: str) -> Iterator[Kept]:
    """Yield what an approval, an apply and the requirements lane leave in a run's folder."""
    here, name = run.state_dir, run.run_id
    yield Kept(
        approval.path_in(here),
        lambda: approval.of_run(here),
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


def restored(state: State, kept: Kept) -> None:
    """Do what makes a run go on without a file that was set aside."""
    if kept.path == resources.run_config_path(state.state_dir):
        restore_settings(state)
    if kept.path == resources.scene_path(state.state_dir):
        write_json(kept.path, users_tree(state.repository))
    if state.run.workflow == REQUIREMENTS and kept.path.endswith("lifecycle.json"):
        with state.database:
            state.move("cancel", UNPROVEN, detail="lifecycle.json was damaged")


def restore_settings(state: State) -> None:
    """Write the settings of a run as `start` read them from its base commit."""
    base, repository = base_of(store.load_plan(state.plan_path)), state.repository
    commit = base.snapshot or base.commit
    settings = limited(load_config(repository.git, commit), load_user_config())
    write_settings(state, repository, settings, commit)
