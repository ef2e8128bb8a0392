"""Rebases a plan and its scratch worktree onto the present state of the user's working tree."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

from shared.git.carry import carry_over
from shared.git.few_paths import tree_at
from shared.git.intended import check_head
from shared.git.links import link
from shared.git.repository import head, uncommitted, within
from shared.git.snapshot import snapshot
from shared.git.users_files import check_before, read_states, same
from shared.without_git import keep_up
from shared.workspace import base_of, config_of, open_repository, open_workspace
from state.changes import plan_changes
from state.errors import Refused
from state.milestones import files_of
from state.models import Base

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from shared.git.change import Change as Changed
    from shared.run import State
    from state.models import Plan


def move_base(state: State, plan: Plan, *, always: bool = False) -> Plan:
    """Rebase a plan and its scratch worktree onto the user's present tree; return the new plan.

    The worktree of a frozen plan is made again. Unless `always`, nothing moves if every planned
    file is still as the plan found it. Files in which the changes met others hold conflict markers
    and are named in the remarks.
    """
    repository, vault = open_repository(state)
    changes = plan_changes(plan)
    moved = check_before(repository, vault, changes) + check_head(repository, changes)
    behind = [] if changes else files_behind(state, plan)
    if not (moved or behind or always):
        open_workspace(state)  # the worktree was put away while the plan waited
        return plan
    return on_tree(state, plan, changes, {c.file for c in changes} or {*behind})


def files_behind(state: State, plan: Plan) -> list[str]:
    """Return the files of a plan's milestones that the user has changed since the plan's base.

    Whether it is committed does not matter, nor whether a fingerprint has it.
    """
    named = {file for milestone in plan.milestones for file in files_of(milestone)}
    repository, vault = open_repository(state)
    base = base_of(plan)
    now = tree_at(repository.git, "HEAD", named)
    known = [tree_at(repository.git, tree, named) for tree in (base.tree, base.commit)]
    behind = {file for file in named if all(now.get(file) != then.get(file) for then in known)}
    before = {file: known[0].get(file) for file in named}
    states = read_states(repository, vault, before)
    behind |= {file for file in named if not same(repository, states[file], before[file])}
    return sorted(behind)


def on_tree(state: State, plan: Plan, changes: Sequence[Changed], planned: Collection[str]) -> Plan:
    """Rebase a plan onto HEAD, or onto a snapshot of HEAD and uncommitted work; return the plan.

    A snapshot is taken if the old base was one or a planned file is uncommitted. The worktree is
    made again, with `changes` carried over.
    """
    repository, vault = open_repository(state)
    keep_up(repository)
    at, old = head(repository), base_of(plan)
    # Of a folder that git knows no file of, only the folder itself is named.
    work = [name.rstrip("/") for name in uncommitted(repository)]
    mixed = any(within(file, name) for name in work for file in planned)
    new = snapshot(repository) if mixed or old.snapshot else at.commit
    saved = new if new != at.commit else None
    away = not os.path.isdir(state.worktree)
    met = carry_over(repository, state.worktree, vault, old.snapshot or old.commit, changes, new)
    if away:
        with contextlib.suppress(Refused):  # of a folder that the new base tracks
            link(repository, state.worktree, config_of(state).link)
    tree = repository.git.text("rev-parse", f"{new}^{{tree}}")
    base = Base(commit=at.commit, branch=at.branch or old.branch, tree=tree, snapshot=saved)
    note = f"The base moved to {new[:12]}." + (
        f" The changes met others in {', '.join(met)}: settle these files." if met else ""
    )
    return plan.model_copy(update={"base": base, "remarks": (*plan.remarks, note)})
