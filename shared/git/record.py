"""Find, make and repair git's record of a worktree: its folder in the repository's git folder.

Git does not sync all of its files: after a power cut each may be empty, zeros, half or missing.
What is in them is known, so they are written anew; the files of the worktree stay.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import time
from typing import TYPE_CHECKING

from shared.git.files import remove_tree
from shared.paths import real_path
from state.files import write_atomic

if TYPE_CHECKING:
    from shared.git.repository import Repository

# In git's own folder of a worktree once the worktree is complete; holds the commit of its base.
MADE = "planner-made-at"
# The same beside the worktree, since git's folder goes when anybody prunes git's worktrees.
BESIDE = ".made-at"
_LOCK_WAIT_S = 1.0
_ID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_REF = re.compile(r"ref: refs/[^\0\n]+")
_SKIPS_HASH = ("index.skipHash", "feature.manyFiles")
_WHOLE_TREE = b"[core]\n\tsparseCheckout = false\n"


def find_record(repo: Repository, path: str) -> str | None:
    """Return git's own folder for the worktree at `path`, even if the worktree was deleted."""
    folder = os.path.join(repo.common_dir, "worktrees")
    wanted = os.path.join(real_path(path), ".git")
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
        admin = os.path.join(folder, name)
        recorded = _recorded(admin)
        if recorded and os.path.join(real_path(os.path.dirname(recorded)), ".git") == wanted:
            return admin
    return None


def _recorded(admin: str) -> str:
    """Return the `.git` file's path in git's record, empty without a record or a path in it."""
    text = read_text(os.path.join(admin, "gitdir"))
    return os.path.join(admin, text) if text and os.path.basename(text) == ".git" else ""


def recorded_path(admin: str) -> str:
    """Return the folder of the worktree that git's record describes, empty without a record."""
    return os.path.dirname(_recorded(admin))


def is_in_use(admin: str) -> bool:
    """Return whether the worktree described by git's record `admin` still exists on disk."""
    return os.path.exists(_recorded(admin))


def new_record(repo: Repository, path: str, commit: str) -> str:
    """Make git's record of the worktree at `path`, with `commit` as HEAD; return its folder."""
    folder = os.path.join(repo.common_dir, "worktrees")
    os.makedirs(folder, exist_ok=True)
    # One name per worktree, so that what a crash leaves is found again; whole, then renamed.
    name = "planner-" + hashlib.sha256(os.fsencode(path)).hexdigest()[:12]
    new, admin = os.path.join(repo.common_dir, name), os.path.join(folder, name)
    while os.path.isdir(admin) and is_in_use(admin):
        admin += "-"
    remove_tree(new)
    remove_tree(admin)
    os.mkdir(new)
    texts = {"HEAD": commit, "commondir": "../..", "gitdir": os.path.join(path, ".git")}
    for part, text in {**texts, MADE: commit}.items():
        write_line(os.path.join(new, part), text)
    os.rename(new, admin)
    return admin


def repair_record(repo: Repository, path: str, admin: str, commit: str) -> bool:
    """Write anew what is damaged of git's record of a worktree that was made at `commit`.

    Returns whether the index is to be filled again; a damaged one is removed.
    """
    if read_commit(os.path.join(admin, MADE)) is None:
        write_line(os.path.join(admin, MADE), commit)
    if not _recorded(admin):
        write_line(os.path.join(admin, "gitdir"), os.path.join(path, ".git"))
    shared = read_text(os.path.join(admin, "commondir"))
    if not shared or real_path(os.path.join(admin, shared)) != real_path(repo.common_dir):
        write_line(os.path.join(admin, "commondir"), "../..")
    at = read_text(os.path.join(admin, "HEAD"))
    if not (_ID.fullmatch(at) or _REF.fullmatch(at)):
        write_line(os.path.join(admin, "HEAD"), commit)
    own = os.path.join(admin, "config.worktree")
    if os.path.exists(own) and not repo.git.ok("config", "--file", own, "--list"):
        write_atomic(own, _WHOLE_TREE, 0o644)
    if _has_whole_index(repo, admin):
        return False
    clear_stale_locks(admin)
    with contextlib.suppress(FileNotFoundError):
        os.unlink(os.path.join(admin, "index"))
    return True


def _has_whole_index(repo: Repository, admin: str) -> bool:
    """Return whether a record's index ends with the checksum of what comes before."""
    try:
        with open(os.path.join(admin, "index"), "rb") as file:
            data = file.read()
    except FileNotFoundError:
        return False
    found = hashlib.new(repo.object_format, usedforsecurity=False)
    end = len(data) - found.digest_size
    if end <= 0 or not data.startswith(b"DIRC"):
        return False
    if not any(data[end:]):
        return any(repo.git.is_on(key, default=False) for key in _SKIPS_HASH)
    found.update(memoryview(data)[:end])
    return found.digest() == data[end:]


def base_of_worktree(path: str, admin: str | None) -> str | None:
    """Return the commit that the planner recorded as a worktree's base, None if none is left."""
    recorded = read_commit(os.path.join(admin, MADE)) if admin else None
    return recorded or read_commit(path + BESIDE)


def read_commit(path: str) -> str | None:
    """Return the commit's id that a file holds, None without the file or where it is damaged."""
    text = read_text(path)
    return text if _ID.fullmatch(text) else None


def read_text(path: str) -> str:
    """Return a file's line without its end, empty without the file or where it holds zeros."""
    with contextlib.suppress(OSError), open(path, "rb") as file:
        text = os.fsdecode(file.read().rstrip(b"\r\n"))
        return "" if "\0" in text else text
    return ""


def write_line(path: str, text: str) -> None:
    """Write a file of git's record, which is one line, and sync it."""
    write_atomic(path, os.fsencode(text) + b"\n", 0o644)


def clear_stale_locks(admin: str) -> None:
    """Remove the lock files that a killed git left in the worktree's git folder.

    A running git holds its lock for a moment only: a lock that stays for a second is stale.
    """
    locks = [os.path.join(admin, name) for name in ("index.lock", "HEAD.lock")]
    deadline = time.monotonic() + _LOCK_WAIT_S
    while any(map(os.path.exists, locks)) and time.monotonic() < deadline:
        time.sleep(0.05)
    for lock in locks:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(lock)
