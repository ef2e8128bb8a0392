"""Read and repair the files by which a worktree finds its git folder, and that the user's own.

Without it they would find the user's repository, which lies around the run.
"""

from __future__ import annotations

import os
import shlex

from shared.git.scratch import scratch, sweep
from shared.paths import real_path
from state.errors import Refused
from state.files import write_atomic

# More than any path: a hook may have put a file of any size there.
_LONGEST = 1 << 16


def read_git_file(worktree: str) -> str | None:
    """Return the git folder that the worktree's `.git` file names, or None without such a file."""
    # Not through a link, and without waiting at a pipe: a hook may have put either there.
    flags = os.O_NOFOLLOW | os.O_NONBLOCK
    path = os.path.join(worktree, ".git")
    try:
        with open(path, "rb", opener=lambda name, given: os.open(name, given | flags)) as file:
            text = file.read(_LONGEST) or b""
    except OSError:
        return None
    if not text.startswith(b"gitdir: ") or b"\0" in text:
        return None
    target = os.fsdecode(text.removeprefix(b"gitdir: ").rstrip(b"\r\n"))
    return real_path(os.path.join(worktree, target))


def common_dir(git_dir: str) -> str:
    """Return the git folder that this one, of a linked worktree, shares; else this one itself."""
    try:
        with open(os.path.join(git_dir, "commondir"), "rb") as file:
            shared = os.fsdecode(file.read().rstrip(b"\r\n"))
    except FileNotFoundError:
        return git_dir
    return real_path(os.path.join(git_dir, shared))


def repair_git_file(worktree: str, admin: str) -> None:
    """Make the worktree's `.git` file name `admin`, git's own folder for that worktree.

    A repository there instead of the file is somebody's work: Refused.
    """
    path = os.path.join(worktree, ".git")
    if read_git_file(worktree) == real_path(admin):
        return
    if os.path.isdir(path) and not os.path.islink(path):
        if os.listdir(path):
            raise _in_the_way(path)
        os.rmdir(path)
    # Written outside the worktree: if we are killed, the next capture must not find it there.
    beside = os.path.dirname(worktree)
    sweep(beside)
    with scratch(beside) as folder:
        new = os.path.join(folder, "git")
        write_atomic(new, b"gitdir: " + os.fsencode(admin) + b"\n", 0o644)
        os.replace(new, path)


def _in_the_way(path: str) -> Refused:
    aside = os.path.dirname(path) + "-git"
    while os.path.lexists(aside):
        aside += "-"
    text = "a git repository stands where the worktree's .git file belongs"
    retry = f"mv -- {shlex.quote(path)} {shlex.quote(aside)}"
    return Refused(
        "conflict", path, text, "move that repository away, then run the same command again", retry
    )
