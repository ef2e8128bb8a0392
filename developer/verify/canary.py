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
from typing import TYPE_CHECKING

from state.files import parse_json, read_bytes, sync_folder, unusable, write_atomic

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
    chosen = [path for path in paths if _is_plain(worktree, path)]
    added = [path for path in beside or () if _is_free(worktree, path)]
    if not chosen and not added:
        return []
    os.makedirs(folder, mode=0o700, exist_ok=True)
    note = {"worktree": worktree, "files": chosen, "added": added}
    # Plain ASCII, so that names that are not UTF-8 survive.
    write_atomic(_marker(folder), json.dumps(note).encode())
    sync_folder(os.path.dirname(folder))
    for number, path in enumerate(chosen):
        _break(os.path.join(worktree, path), _original(folder, number))
    for path in added:
        os.makedirs(os.path.dirname(os.path.join(worktree, path)), exist_ok=True)
        with open(os.path.join(worktree, path), "xb") as file:
            file.write((beside or {})[path])
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
    note = parse_json(read_bytes(_marker(folder)), _marker(folder))
    worktree, paths = note["worktree"], note["files"]
    if not os.path.isdir(worktree):
        return []
    displaced = []
    for number, path in enumerate(paths):
        if os.path.lexists(_original(folder, number)):
            target = os.path.join(worktree, path)
            aside = f"{folder}-{time.time_ns()}"
            moved = _clear_way(worktree, path, aside) or _set_aside(target, aside)
            displaced += [path] if moved else []
            _restore(target, _original(folder, number))
    for path in note.get("added", ()):
        _remove(worktree, path)
    os.unlink(_marker(folder))
    shutil.rmtree(folder)
    return displaced


def _remove(worktree: str, path: str) -> None:
    """Remove a file that was there for a run only, and the folders that it leaves empty."""
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        os.unlink(os.path.join(worktree, path))
    with contextlib.suppress(OSError):
        while path := os.path.dirname(path):
            os.rmdir(os.path.join(worktree, path))


def is_broken(folder: str) -> bool:
    """Return whether files of a worktree are still broken on purpose, also by a killed process."""
    return os.path.exists(_marker(folder))


def _marker(folder: str) -> str:
    return os.path.join(folder, "files.json")


def _original(folder: str, number: int) -> str:
    return os.path.join(folder, str(number))


def _extension(path: str) -> str:
    return os.path.splitext(path)[1].removeprefix(".").lower()


def _is_plain(worktree: str, path: str) -> bool:
    target = os.path.join(worktree, path)
    there = _is_inside(worktree, path) and os.path.lexists(target)
    return there and stat.S_ISREG(os.lstat(target).st_mode)


def _is_free(worktree: str, path: str) -> bool:
    return _is_inside(worktree, path) and not os.path.lexists(os.path.join(worktree, path))


def _is_inside(worktree: str, path: str) -> bool:
    """Return whether no folder on the way to a path is a link."""
    parent = os.path.realpath(os.path.join(worktree, os.path.dirname(path)))
    return parent == os.path.join(os.path.realpath(worktree), *path.split("/")[:-1])


def _break(target: str, original: str) -> None:
    before = os.lstat(target)
    text = broken_text(target)
    if len(text) == before.st_size:
        # Python decides by size and second whether its cached file is current.
        text += b"\n"
    os.rename(target, original)
    descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(text)
        os.fchmod(descriptor, stat.S_IMODE(before.st_mode))


def broken_text(path: str) -> bytes:
    """Return what a file holds that is made unparsable on purpose."""
    return _OPENED.get(_extension(path), b"") + BROKEN


def _clear_way(worktree: str, path: str, aside: str) -> bool:
    """Move away a link or file where a parent folder of `path` was: a link could lead outside."""
    for depth in range(1, path.count("/") + 1):
        folder = os.path.join(worktree, *path.split("/")[:depth])
        if os.path.islink(folder) or os.path.isfile(folder):
            os.rename(folder, aside)
            return True
    return False


def _set_aside(target: str, aside: str) -> bool:
    """Keep, under the name `aside`, what a command wrote over a file broken on purpose."""
    try:
        with open(target, "rb") as file:
            found = file.read(2 * len(BROKEN))
        # If we were killed while writing, only the first bytes of the marker are there.
        if BROKEN in found or broken_text(target).startswith(found):
            return False
        os.rename(target, aside)
    except FileNotFoundError:
        return False
    except IsADirectoryError:
        os.rename(target, aside)
    return True


def _restore(target: str, original: str) -> None:
    os.makedirs(os.path.dirname(target), exist_ok=True)
    # Newer than what was built from the broken file, so that build tools build it again.
    os.utime(original)
    os.replace(original, target)
    sync_folder(os.path.dirname(target))
