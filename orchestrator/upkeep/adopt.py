"""Make the database row of a frozen plan that has none: copied here, or its database lost."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from orchestrator.run.start import new_run
from orchestrator.upkeep.restore import restore_settings
from shared import approval, drift, resources
from shared.drift import tree_of
from shared.git.change import ends
from shared.git.journal import journal_state
from shared.git.proof import compare_trees
from shared.git.rebuilt import refuse_other_patches
from shared.git.repository import find_repository
from shared.plan_file import check_frozen
from shared.run import State
from state.changes import plan_changes
from state.database import Database
from state.errors import Refused
from state.files import Lock
from state.stages import IDLE

if TYPE_CHECKING:
    from typing import Any

    from shared.git.repository import Repository
    from state.models import Plan


def adopt(state_dir: str, folder: str) -> State:
    """Return the run of a frozen plan, with a new row in the database where there is none.

    What was approved is forgotten with a lost database. A plan that is committed already is taken
    up as completed, so that it can be undone.
    """
    real = os.path.realpath(state_dir)
    root = find_repository(folder).root
    database = Database(resources.database_path(real), create=True)
    with Lock(resources.lock_path(real), "adopt"), database:
        run = database.run_at(real) or new_run(database, os.path.basename(real), "", root, real)
        state = State(real, database, run)
        plan = check_frozen(state)
        if run.status == IDLE:
            _take_up(state, plan)
    return state


def _take_up(state: State, plan: Plan) -> None:
    repository, changes = state.repository, plan_changes(plan)
    refuse_other_patches(repository.git, changes)
    depth = "full" if changes else "intent"
    values: dict[str, Any] = {
        "workflow": "executor", "digest": plan.digest, "revision": plan.revision,
        "request": plan.overview.title, "depth": depth,
    }  # fmt: skip
    commit = _committed_as(state, repository, plan)
    if commit:
        state.move("close", "host", detail=commit, step=9, commit_id=commit, **values)
        return
    if not os.path.lexists(resources.run_config_path(state.state_dir)):
        restore_settings(state)
    drift.take(tree_of(state))
    state.move("adopt", "host", step=1, **values)


def _committed_as(state: State, repository: Repository, plan: Plan) -> str:
    """Return the commit that holds an applied plan, empty if none of HEAD's does."""
    if journal_state(resources.journal_path(state.state_dir)) != "applied":
        return ""
    words = ("--first-parent", "-n20", "--fixed-strings", "--format=%H")
    log = repository.git.text("log", *words, f"--grep=Plan-Digest: {plan.digest}", "HEAD", "--")
    planned = ends(plan_changes(plan))
    for commit in [*filter(None, [_noted(state, plan)]), *log.split()]:
        if not repository.git.ok("merge-base", "--is-ancestor", f"{commit}^", "HEAD"):
            continue
        found = compare_trees(repository, f"{commit}^", commit)
        if all(found.get(path) == end for path, end in planned.items()):
            return commit
    return ""


def _noted(state: State, plan: Plan) -> str:
    try:
        found = approval.load(approval.path_in(state.state_dir))
    except Refused:
        return ""
    return (found.commit or "") if found.digest == plan.digest else ""
