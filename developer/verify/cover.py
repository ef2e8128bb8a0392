"""Find what must lie over the user's working tree so that a given git tree is seen there (VR-2).

What the user's files already hold is not copied, so it costs one look at the working tree, as `git
status` takes it, and then the files that differ.
"""

from __future__ import annotations

import contextlib
import filecmp
import os
import shutil
import stat
from typing import TYPE_CHECKING, NamedTuple

from shared.git.change import GITLINK
from shared.git.few_paths import tree_at
from shared.git.files import refusing
from shared.git.repository import PLANNER, within
from shared.git.stage import scan

if TYPE_CHECKING:
    from collections.abc import Iterable

    from shared.git.command import Git
    from shared.git.repository import Repository
    from shared.git.stage import Scan


class Cover(NamedTuple):
    """The differing files, checked out, and the paths of the user that are hidden."""

    # The files are checked out below it.
    folder: str
    # Names those below `folder`.
    files: tuple[str, ...]
    # The paths that are hidden.
    gone: tuple[str, ...]
    # A folder with the HEAD and index that belong to the tree.
    git_files: str


@refusing()
def cover(repo: Repository, tree: str, commit: str, folder: str) -> Cover:
    """Lay below the new `folder` what differs between the user's files and the git tree `tree`.

    Uncommitted and untracked files of the user are hidden, what git ignores stays visible. `commit`
    is what HEAD is to be. Index, files and refs of the user are only read.
    """
    files, git_files = os.path.join(folder, "files"), os.path.join(folder, "git")
    for path in (folder, files, git_files):
        os.mkdir(path, 0o700)
    os.chmod(files, 0o755)  # noqa: S103 – what is checked out in it seems to be the user's
    index = os.path.join(git_files, "index")
    with contextlib.suppress(FileNotFoundError):
        # With its time, by which git knows of which files it may not trust the times.
        shutil.copy2(os.path.join(repo.git_dir, "index"), index)
    git = repo.git.on_index(index)
    found = scan(git)
    differing = _differing(git, found, tree)
    if found.unwatched:
        # What git does not look at has to come from the tree.
        differing |= found.unwatched
        os.unlink(index)
    git.run("read-tree", "--reset", tree)
    with open(os.path.join(git_files, "HEAD"), "x", encoding="ascii") as file:
        file.write(f"{commit}\n")
    there = tree_at(repo.git, tree, [*map(os.fsdecode, differing)])
    held = {os.fsencode(path) for path, entry in there.items() if entry.mode != GITLINK}
    wanted = sorted(name for name in differing if name in held)
    git.run(
        "checkout-index", "-f", "-z", "--stdin", f"--prefix={files}/",
        stdin=b"".join(name + b"\0" for name in wanted),
    )  # fmt: skip
    present = [path for path in map(os.fsdecode, wanted) if not _is_same(repo.root, files, path)]
    folders = {above for path in present for above in _above(path)}
    gone = [
        path
        for path in map(os.fsdecode, sorted(differing - held))
        if path not in folders and _is_there(repo.root, path, present)
    ]
    return Cover(files, tuple(present), tuple(gone), git_files)


def _differing(git: Git, found: Scan, tree: str) -> set[bytes]:
    """Return the paths at which the working tree may differ from `tree`."""
    rows = git.names(
        "diff-index", "--cached", "-z", "--name-only", "--no-renames", "--ignore-submodules=all",
        tree,
    )  # fmt: skip
    names = {*found.changed, *found.untracked, *rows}
    return {
        name.rstrip(b"/") for name in names if not within(os.fsdecode(name.rstrip(b"/")), PLANNER)
    }


def _is_same(root: str, files: str, path: str) -> bool:
    """Return whether the user's file already is as the one checked out, which is removed then."""
    ours, theirs = os.path.join(files, path), os.path.join(root, path)
    if not _reached(root, path) or not os.path.lexists(ours):
        return not os.path.lexists(ours)
    mine, users = os.lstat(ours).st_mode, os.lstat(theirs).st_mode
    if stat.S_IFMT(mine) != stat.S_IFMT(users):
        return False
    if stat.S_ISLNK(mine):
        same = os.readlink(ours) == os.readlink(theirs)
    else:
        same = not (mine ^ users) & 0o100 and filecmp.cmp(ours, theirs, shallow=False)
    if same:
        os.unlink(ours)
    return same


def _is_there(root: str, path: str, present: Iterable[str]) -> bool:
    """Return whether there is a file of the user to hide, and no file lies over its folder."""
    return _reached(root, path) and not any(above in present for above in _above(path))


def _reached(root: str, path: str) -> bool:
    """Return whether a file is at this path, with no link on the way to it."""
    linked = any(os.path.islink(os.path.join(root, above)) for above in _above(path))
    return not linked and os.path.lexists(os.path.join(root, path))


def _above(path: str) -> list[str]:
    parts = path.split("/")[:-1]
    return ["/".join(parts[: count + 1]) for count in range(len(parts))]
