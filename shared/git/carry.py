"""Move the scratch worktree to another base commit and keep the plan's changes in it (PL-28)."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from shared.git.change import apply_patches
from shared.git.command import version
from shared.git.copies import reset, restore
from shared.git.failure import error_text, failed
from shared.git.lent import forget
from shared.git.merged import MERGES_TREES
from shared.git.record import clear_stale_locks
from shared.git.snapshot import IDENTITY
from shared.git.worktree import make_worktree, open_worktree, set_made_at
from state.working_files import WorkingFiles

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shared.git.change import Change
    from shared.git.command import Git
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
    git = tree.git.having("rerere.enabled=false", **IDENTITY)
    git.run("update-ref", "--no-deref", "HEAD", new)
    if version() >= MERGES_TREES:
        conflicts = _merge(repo, git, old, held, new)
    else:
        conflicts = _pick(repo, git, old, held, new)
    git.run("read-tree", "--reset", new)
    set_made_at(tree, new)
    forget(tree.admin)
    return [os.fsdecode(name) for name in conflicts]


def _merge(repo: Repository, git: Git, old: str, held: str, new: str) -> list[bytes]:
    """Give the worktree the merge of two git trees that go on from the commit `old`."""
    start = git.text("commit-tree", f"{old}^{{tree}}", "-m", "the former base")
    # Git marks conflicts with the names that it is given, which so say what they are.
    sides = [
        git.text("commit-tree", tree, "-p", start, "-m", text) + f"^{{/{text}}}"
        for tree, text in ((f"{new}^{{tree}}", "the new base"), (held, "the plan"))
    ]
    words = ("merge-tree", "--write-tree", "-z", "--name-only", "--no-messages")
    done = git.attempt(*words, *sides)
    if done.returncode not in {0, 1} or not done.stdout:
        text = error_text(done.stderr, done.returncode)
        raise failed("git merge-tree", text, "fix what git says, then run the command again")
    merged, *conflicts = done.stdout.split(b"\0")[:-1]
    reset(git, merged.decode())
    clean(repo.root, git)
    restore(git)
    return [name for name in conflicts if name]


def _pick(repo: Repository, git: Git, old: str, held: str, new: str) -> list[bytes]:
    """Do the same by a git that merges in a worktree alone, where it opens files by their paths."""
    saved = git.text("commit-tree", held, "-p", old, "-m", "the plan on its former base")
    reset(git, new)
    clean(repo.root, git)
    restore(git)
    git.attempt("cherry-pick", "--no-commit", "--allow-empty", saved)
    return git.names("diff", "--name-only", "--diff-filter=U", "-z")


def clean(root: str, git: Git) -> None:
    """Remove the worktree's untracked files that git does not ignore.

    Links to the same path of the user's tree `root` stay. Git only lists: what is removed lies in
    the worktree itself, at a path where git tracks no file.
    """
    files = WorkingFiles(git.root or "")
    for name in map(os.fsdecode, git.names("ls-files", "-z", "--others", "--exclude-standard")):
        if name.endswith("/"):
            files.remove_all(name.rstrip("/"), root)
        else:
            files.unlink(name, os.path.join(root, name))
