"""Captures the code changes of the scratch git worktree into the plan."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from developer.verification import job_of, tools_job
from developer.verify.at_home import AtHome
from developer.verify.confined import Confined
from developer.verify.lock import undisturbed
from developer.verify.trees import current_tree
from shared.git.capture import capture
from shared.git.few_paths import rebuild
from shared.git.large import MEBIBYTE
from shared.git.lent import give_back
from shared.git.worktree import open_worktree
from shared.plan_file import open_plan
from shared.workspace import base_of, open_workspace
from state import store
from state.changes import attach, plan_changes
from state.errors import Problem, Refused
from state.milestones import files_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from shared.git.capture import Capture
    from shared.run import State
    from shared.workspace import Workspace
    from state.models import Plan


class Captured(NamedTuple):
    """A plan with the worktree's code changes in it, the git tree they give, and its workspace."""

    plan: Plan
    tree: str
    workspace: Workspace
    # What formatters and hook did; None where an earlier capture still holds.
    capture: Capture | None = None


def capture_into(state: State, plan: Plan) -> Captured:
    """Run formatters and the user's hook in the worktree; return the plan with its code changes."""
    workspace = open_workspace(state)
    job = tools_job(state, plan)
    planned = {file for m in plan.milestones for file in files_of(m)}
    with undisturbed(state.state_dir):
        found = capture(
            workspace.repository,
            workspace.worktree,
            workspace.vault,
            base_of(plan).tree,
            runner=Confined.of(job),
            home=AtHome(job) if job.in_place else None,
            leave_out=job.config.link,
            formatters=job.config.format,
            owned=planned.__contains__,
            limit=job.config.max_patch_mb * MEBIBYTE,
        )
    _check_ignored(workspace, planned - {change.file for change in found.changes})
    changed = attach(plan, [vars(change) for change in found.changes])
    return Captured(changed, found.tree, workspace, found)


def captured_still(state: State, plan: Plan) -> Captured | None:
    """Return the plan's last capture if the worktree still holds exactly that, else None.

    No formatter and no hook runs, and no patch is made.
    """
    workspace = open_workspace(state)
    with undisturbed(state.state_dir):
        give_back(workspace.repository, workspace.worktree)
        tree = current_tree(job_of(state, plan))
    same = tree == rebuild(workspace.vault, base_of(plan).tree, plan_changes(plan))
    return Captured(plan, tree, workspace) if same else None


def _check_ignored(workspace: Workspace, files: Iterable[str]) -> None:
    """Raise Refused for planned files that were written and that git ignores."""
    there = [f for f in sorted(files) if os.path.lexists(os.path.join(workspace.worktree, f))]
    if not there:
        return
    names = "".join(f"{file}\0" for file in there).encode()
    git = open_worktree(workspace.repository, workspace.worktree).git
    rows = git.attempt("check-ignore", "-z", "-v", "--stdin", stdin=names).stdout.split(b"\0")
    fields = [os.fsdecode(field) for field in rows]
    problems = [
        Problem(
            "refused",
            file,
            f"git ignores this file (`{rule}` in {source or 'a setting'}), so it is not captured",
            "change that rule in the worktree, or take the file out of the plan: intents and tests",
        )
        for source, _line, rule, file in zip(*[iter(fields)] * 4, strict=False)
    ]
    if problems:
        raise Refused.of(problems)


def capture_now(state: State) -> Captured:
    """Store the scratch worktree's code changes in the run's stored plan."""
    with state.lock("plan capture"):
        plan = open_plan(state)
        captured = capture_into(state, plan)
        store.save_plan(state.plan_path, captured.plan)
    return captured
