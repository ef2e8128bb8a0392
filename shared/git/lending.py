"""The scratch worktree is lent to the commit and gets its own content back when that fails.

Without it a later capture would take for the plan what others committed since its base.
"""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

from shared.git.change import rebuild
from shared.git.files import remove_tree
from shared.git.worktree import open_worktree
from state.errors import Refused
from state.files import write_atomic

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shared.git.change import Change
    from shared.git.command import Git
    from shared.git.repository import Repository
    from shared.git.vault import Vault

# In git's own folder of the worktree while it is lent; holds the tree to give back.
_LENT = "planner-lent-tree"


def lend(repo: Repository, worktree: str, vault: Vault, changes: Sequence[Change]) -> None:
    """Note what the worktree holds: the plan on its base. Noted once until it is given back."""
    tree = open_worktree(repo, worktree)
    marker, base = os.path.join(tree.admin, _LENT), tree.made_at
    if base is None or os.path.exists(marker):
        return
    try:
        held = rebuild(vault, base, changes, into=repo.objects)
    except Refused:
        return  # it was made for this commit alone, on a HEAD that is not the plan's base
    write_atomic(marker, held.encode("ascii") + b"\n")


def give_back(repo: Repository, worktree: str) -> None:
    """Bring the worktree back to what it held before it was lent; nothing where it was not."""
    tree = open_worktree(repo, worktree)
    marker, base = os.path.join(tree.admin, _LENT), tree.made_at
    try:
        with open(marker, encoding="ascii") as file:
            held = file.read().strip()
    except FileNotFoundError:
        return
    if base is not None:
        tree.git.run("update-ref", "--no-deref", "HEAD", base)
    tree.git.run("read-tree", "--reset", "-u", held)
    os.unlink(marker)


def forget(admin: str) -> None:
    """Let the worktree keep what it has now; `admin` is git's own folder of it."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(os.path.join(admin, _LENT))


def clean(worktree: str, git: Git) -> None:
    """Remove what the worktree's index does not hold, so that the next reader sees no more.

    Ignored files stay, and so do links into the user's tree.
    """
    for name in git.names("ls-files", "-z", "--others", "--exclude-standard"):
        place = os.path.join(worktree, os.fsdecode(name).rstrip("/"))
        if os.path.islink(place) and os.path.isabs(os.readlink(place)):
            continue
        if os.path.isdir(place) and not os.path.islink(place):
            remove_tree(place)
        else:
            os.unlink(place)
