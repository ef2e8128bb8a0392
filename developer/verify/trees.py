"""Asks git about the file trees that a verification compares."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from shared.git.change import Entry
from shared.git.few_paths import replace_at, tree_at
from shared.git.record import clear_stale_locks
from shared.git.repository import PLANNER, repository_at, within
from shared.git.snapshot import IDENTITY
from shared.git.stage import stage_all
from shared.git.worktree import open_worktree

if TYPE_CHECKING:
    from collections.abc import Iterable

    from developer.verify.job import Job
    from shared.git.command import Git
    from shared.git.repository import Repository

SHOWN_NAMES = 10
# How `git status` marks a file that git does not track.
UNTRACKED = "??"

# The state of a path in `git status`, with its size and time.
Listed = tuple[str, int, int]


def current_tree(job: Job) -> str:
    """Return the git tree id of the scratch worktree's present files, as a capture sees them."""
    repository = repository_at(job.repository, job.opened)
    tree = open_worktree(repository, job.worktree)
    clear_stale_locks(tree.admin)
    left_out = [name.encode() for name in job.config.link]
    return stage_all(tree.git, tree.index_file, job.base_tree, repository.zero, left_out)[1]


def committed_tree(job: Job, tree: str) -> str:
    """Return the git tree `tree` with stand-ins of our own files that the commit will add (CM-1).

    Stand-ins, since the plan, which is one of the files, holds what verification finds.
    """
    git = repository_at(job.repository, job.opened).git
    store = ("hash-object", "-w", "--no-filters", "--stdin")
    beside = {p: Entry("100644", git.text(*store, stdin=stand_in(p))) for p in job.beside}
    return replace_at(git, tree, beside) if beside else tree


def commit_of(job: Job, tree: str) -> str:
    """Return a commit of a git tree on the base, whose parent it is; the base if it has this tree.

    With it as HEAD a command finds what it will find once the plan is committed.
    """
    if tree == job.base_tree:
        return job.base_commit
    git = repository_at(job.repository, job.opened).git
    settled = git.having("i18n.commitEncoding=UTF-8", **IDENTITY)
    return settled.text("commit-tree", tree, "-p", job.base_commit, "-m", "The planned change")


def with_files_of(job: Job, tree: str, paths: Iterable[str]) -> str:
    """Return the git tree of the base in which these files are as in the git tree `tree`."""
    git, names = repository_at(job.repository, job.opened).git, [*paths]
    there = tree_at(git, tree, names)
    return replace_at(git, job.base_tree, {path: there.get(path) for path in names})


def stand_in(path: str) -> bytes:
    """Return what stands in for a file of ours while commands run."""
    return b"{}\n" if path.endswith(".json") else b"# Plan\n"


def differing(git: Git, old: str, new: str, kinds: str = "") -> list[str]:
    """Return the paths that differ between two git trees; `kinds` is git's `--diff-filter`."""
    if old == new:
        return []
    args = ["diff-tree", "-r", "-z", "--no-renames", "--name-only", f"--diff-filter={kinds}"]
    return [os.fsdecode(name) for name in git.names(*args, old, new)]


def users_tree(repository: Repository) -> dict[str, Listed]:
    """Return the files that `git status` lists in the user's own tree: state, size, time by path.

    Size and time tell a file that was changed from one that was changed again.
    """
    rows = repository.git.names(
        "status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=all",
        "--ignore-submodules=all",
    )  # fmt: skip
    found = {}
    for row in rows:
        state, path = os.fsdecode(row[:2]), os.fsdecode(row[3:])
        if not within(path, PLANNER):
            found[path] = (state, *_size_and_time(os.path.join(repository.root, path)))
    return found


def show_names(paths: Iterable[str]) -> str:
    """Return file paths as one text for a reader: odd bytes escaped, a long list shortened."""
    names = sorted(os.fsencode(path).decode("utf-8", "backslashreplace") for path in paths)
    more = f" and {len(names) - SHOWN_NAMES} more" if len(names) > SHOWN_NAMES else ""
    return ", ".join(names[:SHOWN_NAMES]) + more


def _size_and_time(path: str) -> tuple[int, int]:
    try:
        found = os.lstat(path)
    except OSError:
        return (-1, -1)
    return (found.st_size, found.st_mtime_ns)
