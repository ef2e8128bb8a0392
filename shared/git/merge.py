"""Bring the work of several worktrees together in one, and name its content by a commit (PL-27)."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from shared.git.change import ends, index_lines, listed
from shared.git.copies import lay
from shared.git.few_paths import folders_of
from shared.git.files import refusing
from shared.git.record import clear_stale_locks
from shared.git.snapshot import IDENTITY
from shared.git.stage import stage_all
from shared.git.worktree import open_worktree
from state.errors import Refused
from state.working_files import WorkingFiles

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from shared.git.change import Change
    from shared.git.repository import Repository
    from shared.git.worktree import Worktree


@refusing()
def merge_changes(
    repo: Repository, worktree: str, changes: Sequence[Change], leave_out: Iterable[str] = ()
) -> list[str]:
    """Write the changes made in another worktree into this one; return the paths in conflict.

    A path is in conflict if this worktree holds neither the content before the change nor the one
    after it; then nothing is written. Repeated after a crash, it ends the same.
    """
    tree = open_worktree(repo, worktree)
    _stage(repo, tree, leave_out)
    wanted, now = ends(changes), listed(tree.git)
    conflicts = [
        path
        for path, end in wanted.items()
        if now.get(path) not in (end.before, end.after)
        or (end.after and any(_is_in_the_way(tree.path, f) for f in folders_of([path]) - {*wanted}))
    ]
    if conflicts:
        return conflicts
    left = {path: end.after for path, end in wanted.items()}
    tree.git.run("update-index", "-z", "--index-info", stdin=index_lines(left, repo.zero))
    files = WorkingFiles(tree.path)
    for path in (path for path, entry in left.items() if entry is None):
        files.unlink(path)
        files.remove_empty(os.path.dirname(path))
    lay(tree.git, [path for path, entry in left.items() if entry is not None])
    return []


def _is_in_the_way(worktree: str, folder: str) -> bool:
    """Tell if a file or a link has a folder's name; a link could lead out of the worktree."""
    place = os.path.join(worktree, folder)
    return os.path.islink(place) or os.path.isfile(place)


@refusing()
def commit_of(repo: Repository, worktree: str, leave_out: Iterable[str] = ()) -> str:
    """Return a commit that holds the worktree's files: its base, or a child of it on no branch.

    The same content gives the same commit.
    """
    tree = open_worktree(repo, worktree)
    base, held = _stage(repo, tree, leave_out)
    if held == tree.git.text("rev-parse", f"{base}^{{tree}}"):
        return base
    settled = tree.git.having("i18n.commitEncoding=UTF-8", **IDENTITY)
    return settled.text("commit-tree", held, "-p", base, "-m", "What earlier milestones wrote")


def _stage(repo: Repository, tree: Worktree, leave_out: Iterable[str]) -> tuple[str, str]:
    """Put the worktree's files into its index; return the commit of its base, and its tree."""
    base = tree.made_at
    if base is None:
        text = "this worktree was never complete"
        raise Refused("not_found", tree.path, text, "make it again", "planner start")
    clear_stale_locks(tree.admin)
    left = tuple(name.rstrip("/").encode() for name in leave_out)
    at = tree.git.text("rev-parse", f"{base}^{{tree}}")
    return base, stage_all(tree.git, tree.index_file, at, repo.zero, left)[1]
