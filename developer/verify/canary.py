"""Breaks changed code files to see whether the verify commands then fail; restores them (PL-34).

A file is not copied but moved aside and back, so that the very same file returns. The list of
files is on disk before the first is moved, so that any later command can restore them all.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import stat
import time
from typing import TYPE_CHECKING, Any

from shared.git.files import folder_of, write_new
from shared.resources import broken_files_path
from state.errors import Refused
from state.files import sync_folder, unusable, write_atomic
from state.kept_files import read_kept
from state.working_files import WorkingFiles

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

# Endings of files that a parser or compiler reads.
_ENDINGS = """
bash c cc cjs clj cljs cpp cr cs cts cxx d dart erl ex exs f90 fs fsx go groovy h hh hpp hrl hs hxx
inc java jl js jsx kt kts lua m mjs ml mli mm mts nim nix php pl pm ps1 py pyi pyx r rb rs scala sh
sol sql svelte swift tcl ts tsx v vb vue zig zsh
"""
CODE = frozenset(_ENDINGS.split())

# No language has a use for this, at the start of a file, outside any comment or string.
BROKEN = (
    b")))((( this file is unparsable on purpose, for one run; `planner plan verify` restores it\n"
)
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_OLD = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
_OPENED = {"php": b"<?php ", "inc": b"<?php ", "vue": b"<script>", "svelte": b"<script>"}


def is_code(path: str) -> bool:
    """Return whether a file name has an ending of program code, which verify breaks on purpose."""
    return _extension(path) in CODE


def break_files(
    folder: str, worktree: str, paths: Iterable[str], beside: Mapping[str, bytes] | None = None
) -> list[str]:
    """Make files of the worktree unparsable; return their paths; `folder` keeps the originals.

    Links, and files in linked folders, stay as they are: the bytes are not the worktree's. `beside`
    has further files by path, which are there meanwhile if nothing else is.
    """
    files = WorkingFiles(worktree)
    chosen = [path for path in paths if _is_plain(files, path)]
    added = [path for path in beside or () if _is_free(files, path)]
    if not chosen and not added:
        return []
    os.makedirs(folder, mode=0o700, exist_ok=True)
    note = {"worktree": worktree, "files": chosen, "added": added}
    # Plain ASCII, so that names that are not UTF-8 survive.
    write_atomic(_marker(folder), json.dumps(note).encode())
    sync_folder(os.path.dirname(folder))
    for number, path in enumerate(chosen):
        _break(worktree, path, _original(folder, number))
    for path in added:
        _make_folders(files, path)
        with folder_of(worktree, path) as (at, name):
            write_new(name, (beside or {})[path], 0o644, at)
    return chosen


def restore_files(folder: str) -> list[str]:
    """Restore all files that verify broke on purpose; return those that a command had overwritten.

    What the command wrote is kept beside `folder` under a new name. May be repeated after a
    crash. Refused if the system fails.
    """
    try:
        return _restore_all(folder)
    except OSError as error:
        raise unusable(str(error.filename or folder), error) from None


def _restore_all(folder: str) -> list[str]:
    if not os.path.exists(_marker(folder)):
        shutil.rmtree(folder, ignore_errors=True)
        return []
    worktree, paths, added = read_kept(_marker(folder), _from_note)
    if not os.path.isdir(worktree):
        return []
    displaced = []
    for number, path in enumerate(paths):
        if os.path.lexists(_original(folder, number)):
            aside = f"{folder}-{time.time_ns()}"
            moved = _clear_way(worktree, path, aside) or _set_aside(worktree, path, aside)
            displaced += [path] if moved else []
            _restore(worktree, path, _original(folder, number))
    for path in added:
        WorkingFiles(worktree).take_away(path)
    os.unlink(_marker(folder))
    shutil.rmtree(folder)
    return displaced


def _from_note(note: Any) -> tuple[str, list[str], list[str]]:  # noqa: ANN401 – any JSON value
    """Return the worktree, its broken files, and those that were added beside them."""
    return str(note["worktree"]), [*note["files"]], [*note.get("added", ())]


def _marker(folder: str) -> str:
    return broken_files_path(folder)


def _original(folder: str, number: int) -> str:
    return os.path.join(folder, str(number))


def _extension(path: str) -> str:
    return os.path.splitext(path)[1].removeprefix(".").lower()


def _is_plain(files: WorkingFiles, path: str) -> bool:
    there = files.reach(path)
    return there is not None and stat.S_ISREG(there.st_mode)


def _is_free(files: WorkingFiles, path: str) -> bool:
    """Return whether nothing is at a path and no link leads there."""
    try:
        return files.status(path) is None
    except Refused:
        return False


def _make_folders(files: WorkingFiles, path: str) -> None:
    if folder := os.path.dirname(path):
        files.make_folders(folder)


def _break(worktree: str, path: str, original: str) -> None:
    text = broken_text(path)
    with folder_of(worktree, path) as (at, name):
        before = os.stat(name, dir_fd=at, follow_symlinks=False)
        if len(text) == before.st_size:
            # Python decides by size and second whether its cached file is current.
            text += b"\n"
        os.rename(name, original, src_dir_fd=at)
        descriptor = os.open(name, _NEW, 0o600, dir_fd=at)
        with os.fdopen(descriptor, "wb") as file:
            file.write(text)
            os.fchmod(descriptor, stat.S_IMODE(before.st_mode))


def broken_text(path: str) -> bytes:
    """Return what a file holds that is made unparsable on purpose."""
    return _OPENED.get(_extension(path), b"") + BROKEN


def _clear_way(worktree: str, path: str, aside: str) -> bool:
    """Move away a link or file where a parent folder of `path` was: a link could lead outside."""
    try:
        with folder_of(worktree, path):
            return False
    except FileNotFoundError:
        return False
    except NotADirectoryError as error:
        with folder_of(worktree, error.filename) as (at, name):
            os.rename(name, aside, src_dir_fd=at)
        return True


def _set_aside(worktree: str, path: str, aside: str) -> bool:
    """Keep, under the name `aside`, what a command wrote over a file broken on purpose."""
    with contextlib.suppress(FileNotFoundError), folder_of(worktree, path) as (at, name):
        if _is_ours(at, name, broken_text(path)):
            return False
        os.rename(name, aside, src_dir_fd=at)
        return True
    return False


def _is_ours(at: int, name: str, broken: bytes) -> bool:
    """Return whether a file holds what was written to break it."""
    if not stat.S_ISREG(os.stat(name, dir_fd=at, follow_symlinks=False).st_mode):
        return False
    with os.fdopen(os.open(name, _OLD, dir_fd=at), "rb") as file:
        found = file.read(2 * len(BROKEN))
    # If we were killed while writing, only the first bytes of the marker are there.
    return BROKEN in found or broken.startswith(found)


def _restore(worktree: str, path: str, original: str) -> None:
    _make_folders(WorkingFiles(worktree), path)
    # Newer than what was built from the broken file, so that build tools build it again.
    os.utime(original)
    with folder_of(worktree, path) as (at, name):
        os.replace(original, name, dst_dir_fd=at)
        os.fsync(at)
