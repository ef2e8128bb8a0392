"""The scratch worktree: made, repaired, prepared and removed beside the user's own tree (PL-32).

The user's index, stash and refs are never touched, and no hook of theirs runs here.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shlex
import time
from typing import TYPE_CHECKING, NamedTuple

from shared.git.command import Git
from shared.git.files import refusing, remove_tree
from shared.git.repository import PLANNER, within
from state.errors import Problem, Refused
from state.files import write_atomic

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from shared.git.repository import Repository

# Stands in git's own folder of a worktree once that is complete; holds the commit it was made at.
_MADE = "planner-made-at"
_LOCK_WAIT_S = 1.0


class Worktree(NamedTuple):
    """A worktree and git's own folder for it; `open_worktree` returns it."""

    path: str
    admin: str

    @property
    def git(self) -> Git:
        """Git in the worktree, also where its `.git` file is gone or leads elsewhere."""
        return Git(self.admin, self.path)

    @property
    def index_file(self) -> str:
        """The worktree's own index file."""
        return os.path.join(self.admin, "index")

    @property
    def made_at(self) -> str | None:
        """The commit that the worktree was made at, None where we did not make it."""
        return _made_at(self.admin)


class Linked(NamedTuple):
    """What of the user's tree now shows in the worktree, and what they have not got."""

    linked: list[str]
    missing: list[str]


@refusing()
def make_worktree(repo: Repository, path: str, commit: str) -> None:
    """Make a worktree at `path` with `commit` detached, or find or repair the one that is there.

    Work that lies in it is never lost: only one that was never complete is made anew. One made
    for another commit is Refused (conflict).
    """
    path = os.path.abspath(path)
    commit = repo.git.text("rev-parse", "--verify", "--end-of-options", f"{commit}^{{commit}}")
    admin = _admin(repo, path)
    if admin is None and os.path.isfile(os.path.join(path, ".git")):
        admin = _reconnect(repo, path, commit)
    made_at = _made_at(admin)
    if admin is not None and made_at is not None and _is_folder(path):
        if made_at != commit:
            text = f"the worktree there was made for commit {made_at[:12]}, not {commit[:12]}"
            raise Refused("conflict", path, text, allowed="one commit per worktree")
        clear_stale_locks(admin)
        point(Worktree(path, admin))
        return
    remove_worktree(repo, path)
    _create(repo, path, commit)


def _create(repo: Repository, path: str, commit: str) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    repo.git.run("worktree", "add", "--detach", "--no-checkout", "-f", path, commit)
    admin = _admin(repo, path)
    if admin is None:
        raise Refused("internal", path, "git made a worktree and does not know it")
    git = Worktree(path, admin).git
    if os.path.exists(os.path.join(admin, "config.worktree")):
        # Git copies the user's sparse checkout; here every file is wanted.
        git.run("config", "--worktree", "core.sparseCheckout", "false")
    git.run("read-tree", "--reset", "-u", commit)
    write_atomic(os.path.join(admin, _MADE), commit.encode() + b"\n")


@refusing()
def remove_worktree(repo: Repository, path: str) -> None:
    """Remove the worktree at `path` and git's record of it; other worktrees' records stay.

    Refused where a folder stands there that is no worktree of this repository.
    """
    path = os.path.abspath(path)
    admin = _admin(repo, path)
    if admin is None and os.path.lexists(path) and not _is_ours(repo, path):
        raise Refused("refused", path, "the folder there is no worktree of this repository")
    remove_tree(path)
    if admin is not None:
        remove_tree(admin)


def _is_ours(repo: Repository, path: str) -> bool:
    target = _git_file(path)
    folder = os.path.join(repo.common_dir, "worktrees")
    inside = target is not None and os.path.dirname(target) == os.path.realpath(folder)
    return inside or (os.path.isdir(path) and not os.listdir(path))


def _git_file(path: str) -> str | None:
    """Return the folder that the worktree's `.git` file names, None where there is no such file."""
    try:
        with open(os.path.join(path, ".git"), "rb") as file:
            text = file.read()
    except OSError:
        return None
    if not text.startswith(b"gitdir: ") or b"\0" in text:
        return None
    target = os.fsdecode(text.removeprefix(b"gitdir: ").rstrip(b"\r\n"))
    return os.path.realpath(os.path.join(path, target))


def _admin(repo: Repository, path: str) -> str | None:
    """Return git's folder for the worktree at `path`, also when the worktree itself is gone."""
    folder = os.path.join(repo.common_dir, "worktrees")
    wanted = os.path.join(os.path.realpath(path), ".git")
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
        admin = os.path.join(folder, name)
        with contextlib.suppress(OSError), open(os.path.join(admin, "gitdir"), "rb") as file:
            place = os.fsdecode(file.read().rstrip(b"\r\n"))
            found = os.path.join(admin, place)
            folder_there = os.path.realpath(os.path.dirname(found))
            if os.path.join(folder_there, ".git") == wanted:
                return admin
    return None


def set_made_at(admin: str, commit: str) -> None:
    """Note the commit that the worktree, whose git folder is `admin`, now stands on."""
    write_atomic(os.path.join(admin, _MADE), commit.encode() + b"\n")


def _made_at(admin: str | None) -> str | None:
    if admin is None:
        return None
    with contextlib.suppress(OSError), open(os.path.join(admin, _MADE), encoding="ascii") as file:
        return file.read().strip()
    return None


def _reconnect(repo: Repository, path: str, commit: str) -> str | None:
    """Give back git's record of a worktree that was moved, or whose record was pruned.

    A record exists from the first moment of making one, so without it the files are somebody's
    work: they stay, and only the index is filled anew.
    """
    old = _git_file(path)
    name = os.path.basename(old) if old else ""
    admin = os.path.join(repo.common_dir, "worktrees", name)
    if name and os.path.isdir(admin) and not _claimed(admin):
        write_atomic(os.path.join(admin, "gitdir"), os.fsencode(os.path.join(path, ".git")) + b"\n")
    else:
        admin = _new_record(repo, path, commit)
    write_atomic(os.path.join(path, ".git"), b"gitdir: " + os.fsencode(admin) + b"\n")
    if not os.path.exists(os.path.join(admin, "index")):
        Worktree(path, admin).git.run("read-tree", "--reset", commit)
    return admin


def _claimed(admin: str) -> bool:
    """Return whether a worktree stands where the record says."""
    try:
        with open(os.path.join(admin, "gitdir"), "rb") as file:
            return os.path.exists(os.path.join(admin, os.fsdecode(file.read().rstrip(b"\r\n"))))
    except OSError:
        return False


def _new_record(repo: Repository, path: str, commit: str) -> str:
    folder = os.path.join(repo.common_dir, "worktrees")
    os.makedirs(folder, exist_ok=True)
    # One name per worktree, so that what a crash leaves is found again; whole, then renamed.
    name = "planner-" + hashlib.sha256(os.fsencode(path)).hexdigest()[:12]
    new, admin = os.path.join(repo.common_dir, name), os.path.join(folder, name)
    while os.path.isdir(admin) and _claimed(admin):
        admin += "-"
    remove_tree(new)
    remove_tree(admin)
    os.mkdir(new)
    texts = {"HEAD": commit, "commondir": "../..", "gitdir": os.path.join(path, ".git")}
    for part, text in {**texts, _MADE: commit}.items():
        write_atomic(os.path.join(new, part), os.fsencode(text) + b"\n", 0o644)
    os.rename(new, admin)
    return admin


@refusing()
def open_worktree(repo: Repository, path: str) -> Worktree:
    """Return the worktree at `path`, its `.git` file put right for whoever else works there.

    Refused where it is not one of the repository's.
    """
    path = os.path.abspath(path)
    if os.path.islink(path):
        raise Refused("refused", path, "a link stands in the worktree's place", "the folder itself")
    admin = _admin(repo, path)
    if admin is None:
        raise Refused("not_found", path, "no worktree of the repository is there")
    tree = Worktree(path, admin)
    if os.path.isdir(path):
        point(tree)
    return tree


def point(tree: Worktree) -> None:
    """Have the worktree's `.git` file name git's folder for it.

    People, agents and hooks go by that file; without it they would act on the user's repository
    around the run. A repository of its own in the file's place is somebody's work: Refused.
    """
    place = os.path.join(tree.path, ".git")
    linked = os.path.islink(place)
    if not linked and _git_file(tree.path) == os.path.realpath(tree.admin):
        return
    if not linked and os.path.isdir(place):
        if os.listdir(place):
            raise _in_the_way(place)
        os.rmdir(place)
    write_atomic(place, b"gitdir: " + os.fsencode(tree.admin) + b"\n", 0o644)


def _in_the_way(place: str) -> Refused:
    aside = os.path.dirname(place) + "-git"
    while os.path.lexists(aside):
        aside += "-"
    text = "a repository of its own stands where the worktree's .git file belongs"
    retry = f"mv -- {shlex.quote(place)} {shlex.quote(aside)}"
    return Refused("conflict", place, text, "it put aside, then the same command again", retry)


def _is_folder(path: str) -> bool:
    return os.path.isdir(path) and not os.path.islink(path)


def made_at(repo: Repository, worktree: str) -> str | None:
    """Return the commit that the worktree was made at, None where we did not make it."""
    return _made_at(_admin(repo, worktree))


def clear_stale_locks(admin: str) -> None:
    """Remove the locks that a killed git left in a worktree's own folder.

    A living one holds its lock for a moment only: what stays unchanged for a second is stale.
    """
    locks = [os.path.join(admin, name) for name in ("index.lock", "HEAD.lock")]
    deadline = time.monotonic() + _LOCK_WAIT_S
    while any(map(os.path.exists, locks)) and time.monotonic() < deadline:
        time.sleep(0.05)
    for lock in locks:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(lock)


@refusing()
def link(repo: Repository, worktree: str, names: Iterable[str]) -> Linked:
    """Show the user's own `names` (node_modules, .venv …) in the worktree as symbolic links.

    Refused for names that leave the repository and for those that git has at the base.
    """
    wanted = list(dict.fromkeys(name.rstrip("/") for name in names))
    wrong = [name for name in wanted if not _inside(name)]
    if wrong:
        raise Refused.of(
            Problem("invalid", name, "leaves the repository", allowed="a path below its root")
            for name in wrong
        )
    done = Linked([], [])
    taken: list[str] = []
    for name in wanted:
        _link_one(repo, worktree, name, done, taken)
    if taken:
        raise Refused.of(
            Problem("conflict", name, "the repository has this path itself; it can't be a link")
            for name in taken
        )
    return done


def _link_one(repo: Repository, worktree: str, name: str, done: Linked, taken: list[str]) -> None:
    source, place = os.path.join(repo.root, name), os.path.join(worktree, name)
    if not os.path.lexists(source):
        done.missing.append(name)
        return
    if os.path.islink(place) and os.readlink(place) != source:
        os.unlink(place)  # an earlier link of ours, from before the repository was moved
    if not os.path.lexists(place):
        os.makedirs(os.path.dirname(place), exist_ok=True)
        os.symlink(source, place)
    if os.path.islink(place):
        done.linked.append(name)
    else:
        taken.append(name)


def _inside(name: str) -> bool:
    parts = name.split("/")
    plain = all(part not in {"", ".", ".."} for part in parts)
    return plain and parts[0].lower() != ".git" and not within(name, PLANNER)


@refusing()
def set_executable(tree: Worktree, paths: Sequence[str], *, executable: bool) -> None:
    """Set or clear the x bit of files in the worktree, also where the file system has none."""
    for path in paths:
        place = os.path.join(tree.path, path)
        bits = os.stat(place, follow_symlinks=False).st_mode & 0o777
        os.chmod(place, bits | (bits & 0o444) >> 2 if executable else bits & ~0o111)
    names = "".join(f"{path}\0" for path in paths).encode("utf-8")
    sign = "+x" if executable else "-x"
    tree.git.run("update-index", "--add", f"--chmod={sign}", "-z", "--stdin", stdin=names)
