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
from state.working_files import WorkingFiles

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from shared.git.command import Git

# Say how git reads and writes the files of a folder and those below it.
_RULES = ".gitattributes"


@contextlib.contextmanager
def copied(git: Git, names: Iterable[bytes], beside: str = "") -> Iterator[Git]:
    """Yield a Git for the same index whose working tree holds copies of these files alone.

    The attributes of git that rule the files are there too. What is gone is not there. The copies
    lie in `beside`, a folder of ours; without one beside the worktree.
    """
    paths = [*map(os.fsdecode, names)]
    folders = folders_of(paths)
    rules = {os.path.join(folder, _RULES) for folder in ("", *folders)}
    with _within(beside or _beside(git)) as copies:
        for folder in sorted(folders):
            os.mkdir(os.path.join(copies, folder))
        files = WorkingFiles(git.root or "")
        for path in {*paths, *rules}:
            files.copy(path, os.path.join(copies, path))
        yield git.in_tree(copies)


def lay(git: Git, paths: Collection[str]) -> None:
    """Write files of git's index into its worktree, each whole or not at all, whatever ends it.

    Where attributes of git are among them, the other files are written as these say.
    """
    rules = [path for path in paths if os.path.basename(path) == _RULES]
    files = WorkingFiles(git.root or "")
    for part in filter(None, (rules, [path for path in paths if path not in rules])):
        with _within(_beside(git)) as folder:
            names = b"".join(os.fsencode(path) + b"\0" for path in part)
            git.run("checkout-index", "-z", "--stdin", f"--prefix={folder}/", stdin=names)
            for above in sorted({os.path.dirname(path) for path in part} - {""}):
                files.make_folders(above)
            for path in part:
                files.take(os.path.join(folder, path), path)


def reset(git: Git, tree: str) -> None:
    """Set git's index to a git tree, and remove from the worktree what only the index had.

    With `restore` after it the same as `git read-tree --reset -u`. A crash leaves what can be done
    again: what is to be removed is known until it is gone.
    """
    words = ("diff-index", "--cached", "-z", "--name-only", "--no-renames", "--diff-filter=A")
    files = WorkingFiles(git.root or "")
    for name in git.names(*words, tree):
        files.take_away(os.fsdecode(name))
    git.run("read-tree", "--reset", tree)


def restore(git: Git) -> None:
    """Write into the worktree each file that is not as git's index has it."""
    names = git.names("diff-files", "-z", "--name-only", "--ignore-submodules=all")
    if names:
        lay(git, [*map(os.fsdecode, names)])
        # Else git would read them when it runs the user's hooks, with filters outside the place.
        git.attempt("update-index", "-q", "--refresh")


def bring(git: Git, rows: Sequence[bytes], folder: str) -> None:
    """Change the worktree's files as rows of `git diff-tree --raw -z` say; git's index stays.

    `folder` is a temporary one of ours.
    """
    files, lines, paths = WorkingFiles(git.root or ""), [], []
    for meta, name in zip(rows[::2], rows[1::2], strict=True):
        _, mode, _, blob, _ = meta.split(b" ")
        if mode == b"000000":
            files.take_away(os.fsdecode(name))
        else:
            lines.append(mode + b" " + blob + b"\t" + name + b"\0")
            paths.append(os.fsdecode(name))
    if paths:
        lent = git.on_index(os.path.join(folder, "brought"))
        lent.run("update-index", "-z", "--index-info", stdin=b"".join(lines))
        lay(lent, paths)


def _beside(git: Git) -> str:
    """Return the folder around git's worktree, in which only we write."""
    return os.path.dirname(git.root or "")


@contextlib.contextmanager
def _within(folder: str) -> Iterator[str]:
    """Yield a new folder in a folder of ours, without those that killed commands have left."""
    sweep(folder)
    with scratch(folder) as new:
        yield new
