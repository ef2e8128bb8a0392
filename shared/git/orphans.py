"""Find git's records of scratch worktrees that are gone, and commits that no branch holds."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

from shared.git.files import refusing, remove_tree
from shared.git.record import recorded_path

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from shared.git.repository import Repository


def orphaned_worktrees(
    repo: Repository, ours: Iterable[str], live: Collection[str]
) -> dict[str, str]:
    """Return by path git's records of worktrees below `ours` whose folder is gone.

    Those below a folder of `live` stay, and so do all worktrees of other people.
    """
    folder = os.path.join(repo.common_dir, "worktrees")
    found: dict[str, str] = {}
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
        admin = os.path.join(folder, name)
        path = recorded_path(admin)
        mine = path and any(path.startswith(f"{own}{os.sep}") for own in ours)
        used = any(path.startswith(f"{own}{os.sep}") for own in live)
        if mine and not used and not os.path.lexists(path):
            found[path] = admin
    return found


@refusing()
def forget_worktrees(found: Mapping[str, str]) -> None:
    """Remove these records of worktrees that are gone, unless somebody has locked one."""
    for admin in found.values():
        if not os.path.exists(os.path.join(admin, "locked")):
            with contextlib.suppress(FileNotFoundError):
                remove_tree(admin)


def is_kept(repo: Repository, commit: str) -> bool:
    """Return whether a branch, a tag or another ref holds a commit."""
    words = ("--count=1", "--format=%(refname)", f"--contains={commit}")
    done = repo.git.attempt("for-each-ref", *words, "refs/heads", "refs/tags", "refs/remotes")
    return done.returncode == 0 and bool(done.stdout.strip())
