"""Captures the code changes of the scratch git worktree into the plan."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from developer.verification import job_of
from developer.verify.confined import Confined
from developer.verify.lock import undisturbed
from developer.verify.prepare import prepare
from shared.config import commands_hash, secret_paths, write_paths
from shared.git.capture import capture
from shared.plan_file import open_plan
from shared.workspace import base_of, open_workspace
from state import store
from state.changes import attach
from state.milestones import files_of

if TYPE_CHECKING:
    from shared.git.capture import Capture
    from shared.run import State
    from shared.workspace import Workspace
    from state.models import Plan


class Captured(NamedTuple):
    """A plan with the worktree's code changes in it, what the capture found, and its workspace."""

    plan: Plan
    capture: Capture
    workspace: Workspace


def capture_into(state: State, plan: Plan) -> Captured:
    """Run formatters and the user's hook in the worktree; return the plan with its code changes."""
    workspace = open_workspace(state)
    config = workspace.config
    confirmed = state.database.is_confirmed(commands_hash(config))
    if config.format and not confirmed:
        prepare(job_of(state, plan), state.database.is_confirmed)
    planned = {file for m in plan.milestones for file in files_of(m)}
    root = workspace.repository.root
    secrets = secret_paths(config, root) if confirmed else ()
    with undisturbed(state.state_dir):
        found = capture(
            workspace.repository,
            workspace.worktree,
            workspace.vault,
            base_of(plan).tree,
            runner=Confined(tuple(write_paths(config, root)), root, tuple(secrets)),
            leave_out=config.link,
            formatters=config.format,
            owned=planned.__contains__,
        )
    return Captured(attach(plan, [vars(change) for change in found.changes]), found, workspace)


def capture_now(state: State) -> Captured:
    """Store the scratch worktree's code changes in the run's stored plan."""
    with state.lock("plan capture"):
        plan = open_plan(state)
        captured = capture_into(state, plan)
        store.save_plan(state.plan_path, captured.plan)
    return captured
