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
def copied(git: Git, names: Iterable[bytes]) -> Iterator[Git]:
    """Yield a Git for the same index whose working tree holds copies of these files alone.

    The attributes of git that rule the files are there too. What is gone is not there.
    """
    paths = [*map(os.fsdecode, names)]
    folders = folders_of(paths)
    rules = {os.path.join(folder, ".gitattributes") for folder in ("", *folders)}
    with _beside(git) as beside:
        for folder in sorted(folders):
            os.mkdir(os.path.join(beside, folder))
        files = Beneath(git.root or "")
        for path in {*paths, *rules}:
            files.copy(path, os.path.join(beside, path))
        yield git.in_tree(beside)


def lay(git: Git, paths: Collection[str]) -> None:
    """Write files of git's index into its worktree, each whole or not at all, whatever ends it."""
    with _beside(git) as folder:
        names = b"".join(os.fsencode(path) + b"\0" for path in paths)
        git.run("checkout-index", "-z", "--stdin", f"--prefix={folder}/", stdin=names)
        files = Beneath(git.root or "")
        for path in paths:
            if above := os.path.dirname(path):
                files.make_folders(above)
            files.take(os.path.join(folder, path), path)


@contextlib.contextmanager
def _beside(git: Git) -> Iterator[str]:
    """Yield a new folder beside git's worktree, in which only we write."""
    beside = os.path.dirname(git.root or "")
    sweep(beside)
    with scratch(beside) as folder:
        yield folder
