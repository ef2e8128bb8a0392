"""A private git folder stands in for the scratch worktree's own while a formatter or hook runs.

A hook that stages what it reformatted writes index and objects. Here these are copies below a
private folder, so that no command of the project needs to write into the user's git folder.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import time
from typing import TYPE_CHECKING, NamedTuple

from shared.git.files import remove_tree, write_new
from shared.git.scratch import scratch, sweep
from shared.git.vault import alternates

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shared.git.command import Git
    from shared.git.repository import Repository

# Git reads these from the repository's own config file only, never from one that it includes.
# Left out are those that describe the layout of a folder, for ours is the plain one.
_LAYOUT = frozenset({"extensions.worktreeconfig", "extensions.refstorage"})


class StandIn(NamedTuple):
    """What is lent: the folder that commands may write to, and the index in it."""

    private: str
    index_file: str


@contextlib.contextmanager
def stand_in(repo: Repository, worktree: str, admin: str) -> Iterator[StandIn]:
    """Have git work on copies in the worktree, whose own git folder is `admin`.

    The copies are removed afterwards and the worktree's `.git` file is as before. After a kill
    `point_back` does that.
    """
    beside = os.path.dirname(worktree)
    sweep(beside)
    with scratch(beside) as private:
        place = os.path.join(private, "git")
        _make(repo, admin, place)
        try:
            _point_away(worktree, place)
            yield StandIn(private, os.path.join(place, "index"))
        finally:
            _point_back(worktree, admin)
            with contextlib.suppress(OSError):
                remove_tree(private)


def point_back(admin: str) -> None:
    """Have the worktree name its git folder `admin` again, where a killed capture left another."""
    try:
        with open(os.path.join(admin, "gitdir"), "rb") as file:
            name = os.path.join(admin, os.fsdecode(file.read().rstrip(b"\r\n")))
    except FileNotFoundError:
        return
    worktree = os.path.realpath(os.path.dirname(name))
    path = os.path.join(worktree, ".git")
    if not os.path.isdir(worktree) or _target(worktree, path) == os.path.realpath(admin):
        return
    if os.path.isdir(path) and not os.path.islink(path):
        # Not ours for certain, so it is kept, where no git comes upon it.
        os.rename(path, f"{worktree}-{time.time_ns()}.git")
    _point_back(worktree, admin)


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


def _target(worktree: str, path: str) -> str | None:
    """Return the git folder that the `.git` file at `path` names; None for anything else."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(descriptor, "rb") as file:
            name = file.read().removeprefix(b"gitdir: ").rstrip(b"\r\n")
    except OSError:
        return None
    return os.path.realpath(os.path.join(worktree, os.fsdecode(name)))


def _point_away(worktree: str, folder: str) -> None:
    """Make the worktree's `.git` a link to `folder`; the file that was there is kept beside it.

    A link, since of a file git tells every hook, and what that starts, by GIT_DIR.
    """
    path, new = os.path.join(worktree, ".git"), f"{worktree}-{os.getpid()}.git"
    # Made outside of the worktree, where a killed one's would be captured as a file of the plan.
    with contextlib.suppress(FileNotFoundError):
        os.unlink(new)
    os.symlink(folder, new)
    os.rename(path, _kept(worktree))
    os.rename(new, path)


def _point_back(worktree: str, admin: str) -> None:
    """Give the worktree the very `.git` file that it had, or a new one where none was kept."""
    path, kept = os.path.join(worktree, ".git"), _kept(worktree)
    if _target(worktree, kept) != os.path.realpath(admin):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(kept)
        write_new(kept, b"gitdir: " + os.fsencode(admin) + b"\n", 0o644)
    if os.path.isdir(path) and not os.path.islink(path):
        remove_tree(path)
    os.replace(kept, path)


def _kept(worktree: str) -> str:
    return f"{worktree}.git-file"
