"""Open the repositories, the worktree and the settings that a run works with."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from shared import resources
from shared.builders import first_of
from shared.config import Config
from shared.git.links import link
from shared.git.refill import refill
from shared.git.vault import open_vault
from shared.git.worktree import is_lost, open_worktree
from shared.plan_file import check_not_ended
from state import store
from state.changes import plan_changes
from state.errors import Problem, Refused

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shared.git.change import Change
    from shared.git.refill import Refilled
    from shared.git.repository import Repository
    from shared.git.vault import Vault
    from shared.git.worktree import Worktree
    from shared.run import State
    from state.models import Base, Plan


SHOWN = 10


class Workspace(NamedTuple):
    """The user's repository, the run's bare repository, its scratch worktree and settings."""

    repository: Repository
    vault: Vault
    worktree: str
    config: Config


def open_workspace(state: State) -> Workspace:
    """Open a run's repositories and settings; call it once, since opening runs git.

    A scratch worktree that somebody removed is made again; that is Refused once, by name. One that
    was put away while its plan waits, which holds all of it, is made again without a word. That of
    a run that has ended is gone for good.
    """
    repository, vault = open_repository(state)
    workspace = Workspace(repository, vault, state.worktree, config_of(state))
    if is_lost(repository, state.worktree):
        check_not_ended(state)
        plan = store.load_plan(state.plan_path)
        base, changes = base_of(plan), plan_changes(plan)
        commit = base.snapshot or base.commit
        if plan.frozen_at is None:
            make_again(workspace, state.worktree, commit, changes)
        _fill_again(workspace, state.worktree, commit, changes)
    return workspace


def make_again(work: Workspace, path: str, commit: str, changes: Sequence[Change] = ()) -> NoReturn:
    """Make a lost worktree of the run or of a milestone again, at `commit` with captured changes.

    Then raise the Refused that says so, since what was not captured is missing.
    """
    done = _fill_again(work, path, commit, changes)
    files = ", ".join(first_of(done.changed, SHOWN)) or "none yet"
    left = ", ".join(first_of(done.left, SHOWN))
    kept = (
        f"the worktree, made again: {done.written} files of the base and of the changes captured "
        f"last (changed: {files})"
    )
    if left:
        kept += f"; these are otherwise on the new base, and their changes are missing: {left}"
    text = "the worktree was removed, with what was not captured of it"
    allowed = "write there what is missing of your work, then run the same command again"
    raise Refused.of([Problem("conflict", path, text, allowed)], kept)


def _fill_again(work: Workspace, path: str, commit: str, changes: Sequence[Change]) -> Refilled:
    done = refill(work.repository, path, work.vault, commit, changes)
    link(work.repository, path, work.config.link)
    return done


def open_repository(state: State) -> tuple[Repository, Vault]:
    """Return the user's repository and the run's own bare repository beside it, the vault."""
    repository = state.repository
    vault = open_vault(repository, resources.vault_path(state.state_dir))
    return repository, replace(vault, rebuilt=state.rebuilt)


def open_tree(state: State, milestone: str | None = None) -> Worktree:
    """Open the run's scratch worktree, or that of a milestone, and return it."""
    workspace, path = open_workspace(state), tree_of(state, milestone)
    if is_lost(workspace.repository, path):
        text = "this milestone's worktree was removed, with what was not captured of it"
        raise Refused("not_found", path, text, "have it made again", state.command("exec", "next"))
    return open_worktree(workspace.repository, path)


def tree_of(state: State, milestone: str | None) -> str:
    """Return the path of a milestone's worktree, without one that of the run; Refused if none."""
    if milestone is None:
        return state.worktree
    path = resources.milestone_worktree_path(state.state_dir, milestone)
    known = [*map(os.path.basename, resources.worktrees(state.state_dir)[1:])]
    if milestone not in known:
        text = "this milestone is not being written now"
        allowed = ", ".join(known) or "none is; leave --milestone out"
        raise Refused("not_found", milestone, text, allowed)
    return path


def base_of(plan: Plan) -> Base:
    """Return the base commit that the plan starts from; Refused if the plan names none."""
    if plan.base is None:
        raise Refused(
            "refused",
            "base",
            "the plan names no base, the commit that its changes start from",
            "use a plan that `planner start` made",
        )
    return plan.base


def config_of(state: State) -> Config:
    """Return the project's settings that `start` read from the base commit."""
    return Config.from_json(state.config["config"])
