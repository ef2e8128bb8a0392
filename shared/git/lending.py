"""Use the scratch worktree to make the commit, and restore its files if the commit fails.

Otherwise a later capture would take for the plan what others have committed since its base.
"""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

from shared.git.few_paths import rebuild
from shared.git.files import remove_tree
from shared.git.repository import PLANNER, within
from shared.git.worktree import open_worktree
from state.errors import Refused
from state.files import write_atomic

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

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


@contextlib.contextmanager
def users_ignored(repo: Repository, worktree: str) -> Iterator[None]:
    """Link into the worktree what git ignores in the user's tree; remove the links afterwards.

    A hook may need it: installed packages, generated files. Folders are made, and only what is in
    them is linked, since git may ignore a folder of this name and not a link.
    """
    words = ("ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory")
    made: list[str] = []
    try:
        for name in map(os.fsdecode, repo.git.names(*words)):
            source, target = os.path.join(repo.root, name), os.path.join(worktree, name)
            parent = os.path.dirname(target.rstrip("/"))
            if within(name, PLANNER) or os.path.lexists(target.rstrip("/")):
                continue
            if os.path.isdir(parent) and not os.path.islink(parent):
                made.append(target.rstrip("/"))
                _link(source, target)
        yield
    finally:
        for path in made:
            if os.path.islink(path):
                os.unlink(path)
            else:
                remove_tree(path)


def _link(source: str, target: str) -> None:
    if not source.endswith("/"):
        os.symlink(source, target)
        return
    os.mkdir(target)
    for name in os.listdir(source):
        os.symlink(os.path.join(source, name), os.path.join(target, name))


def clean(root: str, worktree: str, git: Git, *, ignored: bool = False) -> None:
    """Remove the worktree's untracked files, with `ignored` also those that git ignores.

    Links to the same path of the user's tree `root` stay.
    """
    words = ("ls-files", "-z", "--others")
    for name in git.names(*words, *(() if ignored else ("--exclude-standard",))):
        below = os.fsdecode(name).rstrip("/")
        path = os.path.join(worktree, below)
        if os.path.isdir(path) and not os.path.islink(path):
            remove_tree(path)
        elif not (os.path.islink(path) and os.readlink(path) == os.path.join(root, below)):
            os.unlink(path)
    for name in git.names(*words, "--directory") if ignored else ():
        for folder, _, _ in os.walk(os.path.join(worktree, os.fsdecode(name)), topdown=False):
            with contextlib.suppress(OSError):  # a link is in it
                os.rmdir(folder)
