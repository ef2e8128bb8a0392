"""Open the repositories, the worktree and the settings that a run works with."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

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

    A scratch worktree that somebody removed is made again; that is Refused once, by name. That of a
    run that has ended is gone for good.
    """
    repository, vault = open_repository(state)
    if is_lost(repository, state.worktree):
        check_not_ended(state)
        _make_again(state, repository, vault)
    return Workspace(repository, vault, state.worktree, config_of(state))


def _make_again(state: State, repository: Repository, vault: Vault) -> None:
    plan = store.load_plan(state.plan_path)
    base, changes = base_of(plan), plan_changes(plan)
    done = refill(repository, state.worktree, vault, base.snapshot or base.commit, changes)
    link(repository, state.worktree, config_of(state).link)
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
    raise Refused.of([Problem("conflict", state.worktree, text, allowed)], kept)


def open_repository(state: State) -> tuple[Repository, Vault]:
    """Return the user's repository and the run's own bare repository beside it, the vault."""
    repository = state.repository
    vault = open_vault(repository, resources.vault_path(state.state_dir))
    return repository, replace(vault, rebuilt=state.rebuilt)


def open_tree(state: State, milestone: str | None = None) -> Worktree:
    """Open the run's scratch worktree, or that of a milestone, and return it."""
    return open_worktree(open_workspace(state).repository, tree_of(state, milestone))


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
