"""Move the scratch worktree to another base commit and keep the plan's changes in it (PL-28)."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from shared.git.change import apply_patches
from shared.git.lending import clean, forget
from shared.git.snapshot import IDENTITY
from shared.git.worktree import clear_stale_locks, make_worktree, open_worktree, set_made_at

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shared.git.change import Change
    from shared.git.repository import Repository
    from shared.git.vault import Vault


def carry_over(
    repo: Repository,
    worktree: str,
    vault: Vault,
    old: str,
    changes: Sequence[Change],
    new: str,
) -> list[str]:
    """Move the worktree from base commit `old` to `new`, merging the plan's changes into `new`.

    Returns the paths with conflicts: they hold conflict markers, which every check refuses. Run
    again after a crash, it starts again; the content comes from the patches.
    """
    if not os.path.isdir(worktree):
        make_worktree(repo, worktree, new)
    tree = open_worktree(repo, worktree)
    clear_stale_locks(tree.admin)
    with vault.fresh_index(GIT_OBJECT_DIRECTORY=repo.objects) as index:
        index.run("read-tree", old)
        apply_patches(index, changes)
        held = index.text("write-tree")
    git = tree.git
    git = git.having("rerere.enabled=false", **IDENTITY)
    saved = git.text("commit-tree", held, "-p", old, "-m", "the plan on its former base")
    git.run("update-ref", "--no-deref", "HEAD", new)
    git.run("read-tree", "--reset", "-u", new)
    clean(repo.root, worktree, git)
    git.attempt("cherry-pick", "--no-commit", "--allow-empty", saved)
    conflicts = git.names("diff", "--name-only", "--diff-filter=U", "-z")
    git.run("read-tree", "--reset", new)
    set_made_at(tree, new)
    forget(tree.admin)
    return [os.fsdecode(name) for name in conflicts]
