"""Use the scratch worktree to make the commit, and restore its files if the commit fails.

Otherwise a later capture would take for the plan what others have committed since its base.
"""

from __future__ import annotations

import contextlib
import os
import stat
from typing import TYPE_CHECKING

from shared.git.copies import reset, restore
from shared.git.few_paths import rebuild
from shared.git.repository import PLANNER, within
from shared.git.worktree import open_worktree
from state.errors import Refused
from state.files import write_atomic
from state.working_files import WorkingFiles

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
    reset(tree.git, held)
    restore(tree.git)
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
    files, theirs = WorkingFiles(worktree), WorkingFiles(repo.root)
    with contextlib.ExitStack() as made:
        for name in map(os.fsdecode, repo.git.names(*words)):
            path = name.rstrip("/")
            if within(name, PLANNER) or not _is_free(files, path):
                continue
            source = os.path.join(repo.root, path)
            is_folder = path != name
            if is_folder:
                files.make_folder(path)
            else:
                files.link(path, source)
            made.callback(files.remove_all, path)
            for inside in theirs.names(path) if is_folder else ():
                files.link(os.path.join(path, inside), os.path.join(source, inside))
        yield


def _is_free(files: WorkingFiles, path: str) -> bool:
    """Return whether nothing is at a path and only folders lead to it."""
    above = os.path.dirname(path)
    folder = files.reach(above) if above else None
    is_reached = not above or (folder is not None and stat.S_ISDIR(folder.st_mode))
    return is_reached and files.reach(path) is None


def clean(root: str, worktree: str, git: Git, *, ignored: bool = False) -> None:
    """Remove the worktree's untracked files, with `ignored` also those that git ignores.

    Links to the same path of the user's tree `root` stay. Git only lists: what is removed lies in
    the worktree itself, at a path where git tracks no file.
    """
    chosen, files = ("--directory",) if ignored else ("--exclude-standard",), WorkingFiles(worktree)
    for name in map(os.fsdecode, git.names("ls-files", "-z", "--others", *chosen)):
        if name.endswith("/"):
            files.remove_all(name.rstrip("/"), root)
        else:
            files.unlink(name, os.path.join(root, name))
