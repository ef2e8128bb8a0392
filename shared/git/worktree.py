"""Make, open, repair and remove the scratch worktree beside the user's own files (PL-32).

The user's index, stash and refs are never touched, and no hook of the user's runs here.
"""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING, NamedTuple

from shared.git.files import refusing, remove_behind, remove_tree
from shared.git.git_file import read_git_file, repair_git_file
from shared.git.record import (
    BESIDE,
    MADE,
    base_of_worktree,
    clear_stale_locks,
    find_record,
    is_in_use,
    new_record,
    read_commit,
    repair_record,
    write_line,
)
from shared.paths import real_path
from state.errors import Refused
from state.files import write_atomic
from state.working_files import WorkingFiles

if TYPE_CHECKING:
    from shared.git.command import Git
    from shared.git.repository import Repository

# Beside a lost worktree while its files are written again: without them they look removed.
REFILLING = ".refilling"
_LARGE_INDEX_BYTES = 1_000_000  # about 10,000 files
# Many files are written several times faster so; git before 2.32 does not know the setting.
_CHECKOUT = ("checkout.workers=4",)


class Worktree(NamedTuple):
    """A git worktree of the user's repository."""

    path: str
    # Where git keeps its record of it.
    admin: str
    repo: Repository

    @property
    def git(self) -> Git:
        """Git commands in the worktree, whatever its `.git` names; filters run in the place."""
        return self.repo.git_in(self.path, self.admin).having(*_CHECKOUT)

    @property
    def index_file(self) -> str:
        """The path of the worktree's own git index file."""
        return os.path.join(self.admin, "index")

    @property
    def head(self) -> str | None:
        """What its HEAD file holds: a commit's id only if HEAD is detached there."""
        return read_commit(os.path.join(self.admin, "HEAD"))

    @property
    def made_at(self) -> str | None:
        """The base commit that the planner recorded for the worktree, or None without one."""
        return base_of_worktree(self.path, self.admin)


@refusing()
def make_worktree(repo: Repository, path: str, commit: str) -> None:
    """Create a worktree at `path` with `commit` as detached HEAD, or repair an existing one.

    Work in it is never lost: only a worktree that was never complete is made again. One made for
    another commit is Refused (conflict).
    """
    path = os.path.abspath(path)
    commit = repo.git.text("rev-parse", "--verify", "--end-of-options", f"{commit}^{{commit}}")
    admin = find_record(repo, path)
    if admin is None and os.path.isfile(os.path.join(path, ".git")):
        admin = _reconnect(repo, path, commit)
    made_at = base_of_worktree(path, admin)
    if admin is not None and made_at is not None and _is_real_folder(path):
        if made_at != commit:
            text = f"this worktree was made for commit {made_at[:12]}, not for {commit[:12]}"
            raise Refused(
                "conflict", path, text, allowed="use another folder for the worktree of this commit"
            )
        clear_stale_locks(admin)
        _repair(repo, path, admin, commit)
        return
    remove_worktree(repo, path)
    _create(repo, path, commit)


def _is_real_folder(path: str) -> bool:
    return os.path.isdir(path) and not os.path.islink(path)


def _create(repo: Repository, path: str, commit: str) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    repo.git.run("worktree", "add", "--detach", "--no-checkout", "-f", path, commit)
    admin = find_record(repo, path)
    if admin is None:
        text = "git made a worktree but has no record of it"
        raise Refused("internal", path, text, "run the same command again")
    tree = Worktree(path, admin, repo)
    git = tree.git
    if os.path.exists(os.path.join(admin, "config.worktree")):
        # Git copies the user's sparse checkout; here every file is wanted.
        git.run("config", "--worktree", "core.sparseCheckout", "false")
    git.run("read-tree", "--reset", "-u", commit)
    set_made_at(tree, commit)


def _reconnect(repo: Repository, path: str, commit: str) -> str:
    """Restore git's record of a worktree that was moved, or whose record was pruned.

    Git makes the record first, so a worktree without one holds somebody's work: the files stay,
    and only the index is filled again.
    """
    old = read_git_file(path)
    name = os.path.basename(old) if old else ""
    admin = os.path.join(repo.common_dir, "worktrees", name)
    if name and os.path.isdir(admin) and not is_in_use(admin):
        write_line(os.path.join(admin, "gitdir"), os.path.join(path, ".git"))
    else:
        admin = new_record(repo, path, commit)
    _repair(repo, path, admin, commit)
    return admin


def _repair(repo: Repository, path: str, admin: str, commit: str) -> None:
    """Repair all by which git knows a worktree whose files are there."""
    is_emptied = repair_record(repo, path, admin, commit)
    repair_git_file(path, admin)
    if is_emptied:
        Worktree(path, admin, repo).git.run("read-tree", "--reset", commit)


@refusing()
def remove_worktree(repo: Repository, path: str) -> None:
    """Remove the worktree at `path` and git's record of it; other worktrees' records stay.

    Refused for a folder that is not a worktree of this repository.
    """
    path = os.path.abspath(path)
    admin = find_record(repo, path)
    if admin is None and os.path.lexists(path) and not _is_ours(repo, path):
        text = "this folder is not a worktree of this repository"
        raise Refused(
            "refused", path, text, "move the folder away, then run the same command again"
        )
    large = admin is not None and _is_large(admin) and _is_real_folder(path)
    (remove_behind if large else remove_tree)(path)
    remove_tree(path + BESIDE)
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path + REFILLING)
    if admin is not None:
        remove_tree(admin)


def _is_large(admin: str) -> bool:
    """Return whether a worktree has so many files that removing them takes seconds."""
    with contextlib.suppress(OSError):
        return os.path.getsize(os.path.join(admin, "index")) > _LARGE_INDEX_BYTES
    return False


def _is_ours(repo: Repository, path: str) -> bool:
    """Return whether a folder unknown to git was a worktree of this repository, or is empty."""
    target = read_git_file(path)
    folder = os.path.join(repo.common_dir, "worktrees")
    named = target is not None and os.path.dirname(target) == real_path(folder)
    return named or (os.path.isdir(path) and not os.listdir(path))


@refusing()
def open_worktree(repo: Repository, path: str) -> Worktree:
    """Return the worktree at `path`; repair its `.git` file and git's record of the worktree.

    Refused where it is not one of the repository's.
    """
    path = os.path.abspath(path)
    if os.path.islink(path):
        text = "the worktree's path is a symbolic link"
        raise Refused("refused", path, text, "use a folder that is not a symbolic link")
    if os.path.lexists(path) and not os.path.isdir(path):
        text = "this is not a folder, but stands where the worktree was"
        allowed = "move it away, then run the same command again: the worktree is made again"
        raise Refused("refused", path, text, allowed)
    admin = find_record(repo, path)
    if admin is None:
        admin = _restore_record(repo, path)
    elif os.path.isdir(path):
        base = base_of_worktree(path, admin)
        if base is not None:
            _repair(repo, path, admin, base)
        else:
            repair_git_file(path, admin)
    return Worktree(path, admin, repo)


def _restore_record(repo: Repository, path: str) -> str:
    """Make git's record of a worktree again: its files are there, and its base is known."""
    commit = read_commit(path + BESIDE)
    if commit is None or read_git_file(path) is None or not _is_real_folder(path):
        text = "there is no worktree of the repository at this path"
        raise Refused("not_found", path, text, "have it made again", "planner start")
    if not repo.git.ok("cat-file", "-e", f"{commit}^{{commit}}"):
        raise base_is_gone(path, commit)
    return _reconnect(repo, path, commit)


def base_is_gone(path: str, commit: str) -> Refused:
    """Return the Refused for a worktree whose base commit is no longer in the repository."""
    text = f"git no longer has commit {commit[:12]}, from which this worktree was made"
    allowed = "fetch that commit, or copy your work out of this folder and start a new run"
    return Refused("not_found", path, text, allowed, "planner start")


def is_lost(repo: Repository, path: str) -> bool:
    """Return whether the worktree's files, or all that told of the worktree, were removed."""
    if os.path.lexists(path) and not _is_real_folder(path):
        return False
    if os.path.exists(path + REFILLING):
        return True  # whoever wrote its files again was killed
    if not os.path.isdir(path):
        return True
    admin = find_record(repo, path)
    if base_of_worktree(path, admin) is None:
        return True
    if read_git_file(path) is not None:
        return False
    return admin is None or _is_emptied(Worktree(path, admin, repo))


def _is_emptied(tree: Worktree) -> bool:
    """Return whether most of a worktree's files are gone: somebody removed it and wrote anew."""
    names = tree.git.attempt("ls-files", "-z").stdout.split(b"\0")[:-1]
    files = WorkingFiles(tree.path)
    there = sum(files.reach(os.fsdecode(name)) is not None for name in names)
    return 2 * there < len(names)


@refusing()
def restore_record(repo: Repository, path: str, commit: str) -> Worktree:
    """Make the folder, `.git` file and record of a lost worktree, with `commit` as its HEAD.

    What files there are stay, and no file is written.
    """
    os.makedirs(path, exist_ok=True)
    admin = find_record(repo, path) or new_record(repo, path, commit)
    clear_stale_locks(admin)
    repair_record(repo, path, admin, commit)
    repair_git_file(path, admin)
    tree = Worktree(path, admin, repo)
    tree.git.run("update-ref", "--no-deref", "HEAD", commit)
    tree.git.run("read-tree", "--reset", commit)
    set_made_at(tree, commit)
    return tree


def made_at(repo: Repository, worktree: str) -> str | None:
    """Return the base commit that the planner recorded for the worktree, or None without one."""
    if not _is_real_folder(worktree):
        return None
    return base_of_worktree(worktree, find_record(repo, worktree))


def set_made_at(tree: Worktree, commit: str) -> None:
    """Record `commit` as the base of the worktree."""
    data = commit.encode() + b"\n"
    write_atomic(tree.path + BESIDE, data)
    write_atomic(os.path.join(tree.admin, MADE), data)


@refusing()
def set_executable(tree: Worktree, path: str, *, executable: bool) -> None:
    """Set or clear the executable bit of a file in the worktree.

    Where the file system has no such bits, git's index holds it.
    """
    files, git = WorkingFiles(tree.path), tree.git
    files.set_executable(path, executable=executable)
    if not git.is_on("core.fileMode", default=True):
        # A capture takes only the bit from here, so the content needs no filter.
        blob = git.text("hash-object", "-w", "--no-filters", "--stdin", stdin=files.read(path))
        entry = f"{'100755' if executable else '100644'} {blob}\t{path}\0".encode()
        git.run("update-index", "--add", "--replace", "-z", "--index-info", stdin=entry)
