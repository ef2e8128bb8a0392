"""A private git folder stands in for the scratch worktree's own while a formatter or hook runs.

A hook that stages what it reformatted writes index and objects. Here these are copies below a
private folder, so that no command of the project needs to write into the user's git folder.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
from typing import TYPE_CHECKING, NamedTuple

from shared.git.files import remove_tree
from shared.git.git_file import repair_git_file
from shared.git.scratch import scratch, sweep
from shared.git.vault import alternates

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shared.git.command import Git
    from shared.git.repository import Repository
    from shared.git.worktree import Worktree

# Git reads these from the repository's own config file only, never from one that it includes.
# Left out are those that describe the layout of a folder, for ours is the plain one.
_LAYOUT = frozenset({"extensions.worktreeconfig", "extensions.refstorage"})


class StandIn(NamedTuple):
    """What is lent: the folder that commands may write to, and the index in it."""

    private: str
    index_file: str


@contextlib.contextmanager
def stand_in(repo: Repository, tree: Worktree) -> Iterator[StandIn]:
    """Have git work on copies in the worktree.

    The copies are removed afterwards and the worktree's `.git` file names its own folder again.
    After a kill `open_worktree` does that.
    """
    beside = os.path.dirname(tree.path)
    sweep(beside)
    with scratch(beside) as private:
        folder = os.path.join(private, "git")
        _make(repo, tree.admin, folder)
        try:
            _point_away(tree, folder)
            yield StandIn(private, os.path.join(folder, "index"))
        finally:
            _point_back(tree, private)
            with contextlib.suppress(OSError):
                remove_tree(private)


def staged(repo: Repository, index: str, tree: str) -> list[bytes]:
    """Return the raw rows, path after path, in which a stand-in's index differs from `tree`."""
    try:
        plain = stat.S_ISREG(os.lstat(index).st_mode)
    except FileNotFoundError:
        return []
    if not plain:
        return []
    words = ("diff-index", "--cached", "-z", "--raw", "--no-abbrev", "--no-renames", tree)
    # Not the worktree's git: its settings are whatever the hook has made of them.
    done = repo.git.having(GIT_INDEX_FILE=index).attempt(*words)
    return done.stdout.split(b"\0")[:-1] if done.returncode == 0 else []


def take_over(git: Git, rows: list[bytes]) -> list[str]:
    """Bring what a hook had staged into git's index, and return the paths.

    The blobs stay behind: what is captured is read from the worktree, only names and x bits from
    the index.
    """
    lines = []
    for meta, name in zip(rows[0::2], rows[1::2], strict=True):
        mode, blob = meta.split(b" ")[1:4:2]
        lines.append((b"0" if mode == b"000000" else mode) + b" " + blob + b"\t" + name + b"\0")
    if lines:
        git.attempt("update-index", "--replace", "-z", "--index-info", stdin=b"".join(lines))
    return [os.fsdecode(name) for name in rows[1::2]]


def _make(repo: Repository, admin: str, place: str) -> None:
    for folder in ("objects/info", "refs", "info"):
        os.makedirs(os.path.join(place, folder))
    for name in ("exclude", "attributes"):
        _copy(os.path.join(repo.common_dir, "info", name), os.path.join(place, "info", name))
    _copy(os.path.join(repo.common_dir, "shallow"), os.path.join(place, "shallow"))
    for name in os.listdir(admin):
        if name in {"HEAD", "index"} or name.startswith("sharedindex."):
            _copy(os.path.join(admin, name), os.path.join(place, name))
    os.symlink(os.path.join(repo.common_dir, "hooks"), os.path.join(place, "hooks"))
    os.symlink(os.path.join(admin, "modules"), os.path.join(place, "modules"))
    refs = repo.git.run("for-each-ref", "--format=%(objectname) %(refname)")
    _write(place, "packed-refs", refs)
    _write(place, "objects/info/alternates", alternates(repo.objects))
    _write(place, "config", _settings(repo, admin))


def _settings(repo: Repository, admin: str) -> bytes:
    """Return a config file that takes over the user's settings by including theirs."""
    shared = os.path.join(repo.common_dir, "config")
    wanted = r"^(extensions\..*|core\.repositoryformatversion)$"
    found = repo.git.attempt("config", "--file", shared, "-z", "--get-regexp", wanted)
    lines = []
    for row in found.stdout.split(b"\0")[:-1]:
        key, _, value = row.partition(b"\n")
        if key.decode() not in _LAYOUT:
            section, _, name = key.partition(b".")
            lines.append(b"[%s]\n%s = %s\n" % (section, name, _quoted(value)))
    included = (shared, os.path.join(admin, "config.worktree"))
    lines += [b"[include]\npath = %s\n" % _quoted(os.fsencode(path)) for path in included]
    # Last, so that it counts: a split index would leave half of itself where nobody looks.
    lines.append(b"[core]\nbare = false\nsplitIndex = false\n")
    return b"".join(lines)


def _quoted(value: bytes) -> bytes:
    value = value.replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n")
    return b'"' + value + b'"'


def _write(place: str, name: str, data: bytes) -> None:
    with open(os.path.join(place, name), "xb") as file:
        file.write(data)


def _copy(source: str, target: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        shutil.copyfile(source, target)


def _point_away(tree: Worktree, folder: str) -> None:
    """Make the worktree's `.git` a link to `folder`.

    A link, since of a file git tells every program that it starts by GIT_DIR.
    """
    # Made outside of the worktree, where a killed one's would be captured as a file of the plan.
    new = f"{folder}-link"
    os.symlink(folder, new)
    os.replace(new, os.path.join(tree.path, ".git"))


def _point_back(tree: Worktree, private: str) -> None:
    """Have the worktree name its own git folder again, whatever a hook put in that place."""
    path = os.path.join(tree.path, ".git")
    if os.path.isdir(path) and not os.path.islink(path):
        os.rename(path, os.path.join(private, "git-of-the-hook"))
    repair_git_file(tree.path, tree.admin)
