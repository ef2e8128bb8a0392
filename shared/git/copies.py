"""Lend git copies of a worktree's files, and lay there what it gives: git itself opens none (PP-9).

Git opens by path, and another program may swap a folder of the worktree and a link at any moment:
then git would read a file that the place hides, or write over one of the user's.
"""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

from shared.git.few_paths import folders_of
from shared.git.scratch import scratch, sweep
from state.beneath import Beneath

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from shared.git.command import Git


@contextlib.contextmanager
def copied(git: Git, names: Iterable[bytes], beside: str = "") -> Iterator[Git]:
    """Yield a Git for the same index whose working tree holds copies of these files alone.

    The attributes of git that rule the files are there too. What is gone is not there. The copies
    lie in `beside`, a folder of ours; without one beside the worktree.
    """
    paths = [*map(os.fsdecode, names)]
    folders = folders_of(paths)
    rules = {os.path.join(folder, ".gitattributes") for folder in ("", *folders)}
    with _within(beside or _beside(git)) as copies:
        for folder in sorted(folders):
            os.mkdir(os.path.join(copies, folder))
        files = Beneath(git.root or "")
        for path in {*paths, *rules}:
            files.copy(path, os.path.join(copies, path))
        yield git.in_tree(copies)


def lay(git: Git, paths: Collection[str]) -> None:
    """Write files of git's index into its worktree, each whole or not at all, whatever ends it."""
    with _within(_beside(git)) as folder:
        names = b"".join(os.fsencode(path) + b"\0" for path in paths)
        git.run("checkout-index", "-z", "--stdin", f"--prefix={folder}/", stdin=names)
        files = Beneath(git.root or "")
        for path in paths:
            if above := os.path.dirname(path):
                files.make_folders(above)
            files.take(os.path.join(folder, path), path)


def _beside(git: Git) -> str:
    """Return the folder around git's worktree, in which only we write."""
    return os.path.dirname(git.root or "")


@contextlib.contextmanager
def _within(folder: str) -> Iterator[str]:
    """Yield a new folder in a folder of ours, without those that killed commands have left."""
    sweep(folder)
    with scratch(folder) as new:
        yield new
