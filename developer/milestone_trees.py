"""The worktrees in which agents write milestones at depth intent, one for each (PL-27).

A wave's worktrees start from all that earlier milestones wrote. What an agent hands in is captured
in its own worktree and then written into the run's scratch worktree, where everything meets.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from developer.verification import job_of, tools_job
from developer.verify.at_home import AtHome
from developer.verify.confined import Confined
from developer.verify.lock import undisturbed
from developer.verify.prepare import set_up
from shared.config import commands_hash
from shared.git.capture import capture
from shared.git.change import FileChange
from shared.git.files import remove_tree
from shared.git.merge import commit_of, merge_changes
from shared.git.record import BESIDE, read_commit
from shared.git.refill import refill
from shared.git.worktree import is_lost, made_at, make_worktree, open_worktree, remove_worktree
from shared.resources import kept_work_path, milestone_worktree_path
from shared.workspace import make_again, open_workspace
from state.errors import Refused
from state.files import write_json
from state.kept_files import read_kept
from state.milestones import files_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shared.run import State
    from state.models import Milestone, Plan


class Written(NamedTuple):
    """What an agent wrote for a milestone."""

    # From the git tree `start` to `tree`.
    changes: list[FileChange]
    start: str
    tree: str


def wave_start(state: State) -> str:
    """Return the commit that a wave's worktrees start from: all that is written so far."""
    workspace = open_workspace(state)
    with undisturbed(state.state_dir):
        return commit_of(workspace.repository, workspace.worktree, workspace.config.link)


def make_tree(state: State, plan: Plan, name: str, commit: str) -> None:
    """Make the worktree of a milestone at `commit`, keeping what an earlier attempt wrote there.

    Such work is stored before the old worktree is removed, so a crash loses none of it.
    """
    workspace = open_workspace(state)
    repository, path = workspace.repository, milestone_worktree_path(state.state_dir, name)
    kept = kept_work_path(state.state_dir, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if os.path.isdir(path) and is_lost(repository, path):
        refill(repository, path, workspace.vault, read_commit(path + BESIDE) or commit, ())
    start = made_at(repository, path)
    if start is not None and not os.path.exists(kept):
        if start == commit:
            return
        found = _work(state, plan, path, hook=False).changes
        write_json(kept, [vars(change) for change in found])
    if os.path.exists(kept):
        remove_worktree(repository, path)
    make_worktree(repository, path, commit)
    _prepare(state, plan, name, path)
    if os.path.exists(kept):
        # In conflict only where the base moved: the agent writes those files again.
        changes = read_kept(kept, lambda rows: [FileChange(**row) for row in rows])
        merge_changes(repository, path, changes, workspace.config.link)
        remove_tree(kept)


def lost_trees(state: State, names: Sequence[str]) -> list[str]:
    """Return those of some milestones whose worktrees somebody has removed."""
    repository = open_workspace(state).repository
    paths = {name: milestone_worktree_path(state.state_dir, name) for name in names}
    return [name for name, path in paths.items() if is_lost(repository, path)]


def _prepare(state: State, plan: Plan, name: str, path: str) -> None:
    """Link folders and run confirmed setup commands in a milestone's worktree, without a place."""
    job = replace(job_of(state, plan), worktree=path)
    digest = commands_hash(job.config)
    if (
        (job.config.link or job.config.setup)
        and not job.in_place
        and state.database.is_confirmed(digest)
    ):
        with undisturbed(state.state_dir):
            set_up(job, path, name)


def _work(
    state: State, plan: Plan, path: str, milestone: Milestone | None = None, *, hook: bool = True
) -> Written:
    """Return what differs between a milestone's worktree and the commit that it was made at."""
    workspace = open_workspace(state)
    repository = workspace.repository
    if not os.path.isdir(path):
        raise Refused("not_found", path, "this milestone has no worktree", "", "planner exec next")
    if is_lost(repository, path):
        with undisturbed(state.state_dir):
            written = commit_of(repository, workspace.worktree, workspace.config.link)
        make_again(workspace, path, read_commit(path + BESIDE) or written)
    start = open_worktree(repository, path).made_at
    assert start is not None  # noqa: S101 – it is not lost
    tree = repository.git.text("rev-parse", f"{start}^{{tree}}")
    job = tools_job(state, plan, path) if hook else job_of(state, plan)
    job = replace(job, worktree=path, base_commit=start, base_tree=tree)
    found = capture(
        repository,
        path,
        workspace.vault,
        tree,
        runner=Confined.of(job),
        home=AtHome(job) if job.in_place else None,
        leave_out=job.config.link,
        formatters=job.config.format if hook else (),
        hook=hook,
        owned=files_of(milestone).__contains__ if milestone else None,
    )
    return Written(found.changes, tree, found.tree)


def capture_tree(state: State, plan: Plan, milestone: Milestone) -> Written:
    """Run formatters and the user's hook in a milestone's worktree; return its changes."""
    path = milestone_worktree_path(state.state_dir, milestone.id)
    return _work(state, plan, path, milestone)


def merge_tree(state: State, changes: Sequence[FileChange]) -> list[str]:
    """Write a milestone's changes into the run's worktree; return conflicts, then none is written.

    The changes of a milestone that is merged already are found there and stay.
    """
    workspace = open_workspace(state)
    with undisturbed(state.state_dir):
        return merge_changes(
            workspace.repository, workspace.worktree, changes, workspace.config.link
        )


def remove_milestone_tree(state: State, name: str) -> None:
    """Remove the worktree of a milestone that is merged."""
    path = milestone_worktree_path(state.state_dir, name)
    if os.path.lexists(path):
        remove_worktree(open_workspace(state).repository, path)
