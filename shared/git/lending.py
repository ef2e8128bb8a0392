"""Use the scratch worktree to make the commit, and restore its files if the commit fails.

Otherwise a later capture would take for the plan what others have committed since its base.
"""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

from shared.git.few_paths import rebuild
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
    """Save the scratch worktree's content before a commit is made in it, unless already saved."""
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
    tree.git.run("read-tree", "--reset", "-u", held)
    os.unlink(marker)


def forget(admin: str) -> None:
    """Drop the saved worktree content, so that the worktree keeps its present files."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(os.path.join(admin, _LENT))


def clean(worktree: str, git: Git) -> None:
    """Remove the worktree's untracked files, except those that git ignores.

    Links into the user's tree stay too.
    """
    for name in git.names("ls-files", "-z", "--others", "--exclude-standard"):
        path = os.path.join(worktree, os.fsdecode(name).rstrip("/"))
        if os.path.islink(path) and os.path.isabs(os.readlink(path)):
            continue
        if os.path.isdir(path) and not os.path.islink(path):
            remove_tree(path)
        else:
            os.unlink(path)
