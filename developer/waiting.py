"""Puts the worktree of a plan that waits for its approval away, and finds the plan's tree without.

The user's own test runner would find the copies of their tests there and run them too.
"""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

from developer.capture import captured_still
from developer.verify.lock import undisturbed
from shared.git.few_paths import rebuild
from shared.git.worktree import remove_worktree
from shared.workspace import base_of, open_repository
from state.changes import plan_changes
from state.errors import Refused

if TYPE_CHECKING:
    from shared.run import State
    from state.models import Plan


def put_away(state: State, plan: Plan, *, compared: bool = False) -> None:
    """Remove the run's worktree while a frozen plan waits that holds all of it.

    `open_workspace` makes it again. One that holds something else stays, which is looked up unless
    it has just been `compared`, and so does what cannot be removed: nobody waits for it.
    """
    with contextlib.suppress(OSError, Refused):
        if compared or (os.path.isdir(state.worktree) and captured_still(state, plan)):
            discard(state)


def discard(state: State) -> None:
    """Remove the run's worktree, whatever it holds; Refused while something works in it."""
    with undisturbed(state.state_dir):
        remove_worktree(state.repository, state.worktree)


def is_away(state: State, plan: Plan) -> bool:
    """Return whether a frozen plan waits without a worktree."""
    return plan.frozen_at is not None and not os.path.isdir(state.worktree)


def frozen_tree(state: State, plan: Plan) -> str:
    """Return the git tree of a frozen plan, with its objects in the user's repository."""
    repository, vault = open_repository(state)
    base, changes = base_of(plan), plan_changes(plan)
    return rebuild(vault, base.snapshot or base.commit, changes, into=repository.objects)
