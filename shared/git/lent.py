"""Restore a scratch worktree that an older planner has used for a commit and was killed (SD-9).

Otherwise a later capture would take for the plan what others have committed since its base.
"""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

from shared.git.copies import reset, restore
from shared.git.worktree import open_worktree

if TYPE_CHECKING:
    from shared.git.repository import Repository

# In git's own folder of the worktree while it was lent; holds the tree to give back.
_LENT = "planner-lent-tree"


def give_back(repo: Repository, worktree: str) -> None:
    """Restore the worktree's content saved before a commit; do nothing if none is saved."""
    tree = open_worktree(repo, worktree)
    marker, base = os.path.join(tree.admin, _LENT), tree.made_at
    try:
        with open(marker, encoding="ascii") as file:
            held = file.read().strip()
    except FileNotFoundError:
        return
    if base is not None:
        tree.git.run("update-ref", "--no-deref", "HEAD", base)
    reset(tree.git, held)
    restore(tree.git)
    os.unlink(marker)


def forget(admin: str) -> None:
    """Drop the saved worktree content, so that the worktree keeps its present files."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(os.path.join(admin, _LENT))
