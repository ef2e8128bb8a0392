"""Breaks changed code files for one run and mends them, also after a kill or a power cut (PL-34).

A file is not copied but moved aside and back: what returns is the very file. The list of them is
on disk before the first is moved, so that whoever comes next can bring back every one.
"""

from __future__ import annotations

import json
import os
import shutil
import stat
import time
from typing import TYPE_CHECKING

from state.files import parse_json, read_bytes, sync_folder, unusable, write_atomic

if TYPE_CHECKING:
    from collections.abc import Iterable

# Endings of files that a parser or compiler reads.
_ENDINGS = """
bash c cc cjs clj cljs cpp cr cs cts cxx d dart erl ex exs f90 fs fsx go groovy h hh hpp hrl hs hxx
inc java jl js jsx kt kts lua m mjs ml mli mm mts nim nix php pl pm ps1 py pyi pyx r rb rs scala sh
sol sql svelte swift tcl ts tsx v vb vue zig zsh
"""
CODE = frozenset(_ENDINGS.split())

# No language has a use for this, at the start of a file, outside any comment or string.
BROKEN = b")))((( this file is unparsable on purpose, for one run; `planner plan verify` mends it\n"
_OPENED = {"php": b"<?php ", "inc": b"<?php ", "vue": b"<script>", "svelte": b"<script>"}


def is_code(path: str) -> bool:
    """Return whether the file's name says that a parser or compiler reads it."""
    return _extension(path) in CODE


def break_files(folder: str, worktree: str, paths: Iterable[str]) -> list[str]:
    """Make files of the worktree unparsable and return which; `folder` keeps the originals.

    Links and what lies behind one are left alone, since the bytes are not the worktree's.
    """
    chosen = [path for path in paths if _is_plain(worktree, path)]
    if not chosen:
        return []
    os.makedirs(folder, mode=0o700, exist_ok=True)
    note = {"worktree": worktree, "files": chosen}
    # Plain ASCII, so that names that are no UTF-8 survive.
    write_atomic(_marker(folder), json.dumps(note).encode())
    sync_folder(os.path.dirname(folder))
    for number, path in enumerate(chosen):
        _break(os.path.join(worktree, path), _kept(folder, number))
    return chosen


def mend_files(folder: str) -> list[str]:
    """Bring every broken file back and return the paths at which something else had been put.

    That something stays beside `folder` under a name of its own. Repeating it after a crash ends
    right. Refused where the system does not let us.
    """
    try:
        return _mend_all(folder)
    except OSError as error:
        raise unusable(str(error.filename or folder), error) from None


def _mend_all(folder: str) -> list[str]:
    if not os.path.exists(_marker(folder)):
        shutil.rmtree(folder, ignore_errors=True)
        return []
    note = parse_json(read_bytes(_marker(folder)), _marker(folder))
    worktree, paths = note["worktree"], note["files"]
    if not os.path.isdir(worktree):
        return []
    displaced = []
    for number, path in enumerate(paths):
        if os.path.lexists(_kept(folder, number)):
            place = os.path.join(worktree, path)
            displaced += [path] if _set_aside(place, f"{folder}-{time.time_ns()}") else []
            _mend(place, _kept(folder, number))
    os.unlink(_marker(folder))
    shutil.rmtree(folder)
    return displaced


def is_broken(folder: str) -> bool:
    """Return whether files of a worktree are broken at this moment, or were when a run died."""
    return os.path.exists(_marker(folder))


def _marker(folder: str) -> str:
    return os.path.join(folder, "files.json")


def _kept(folder: str, number: int) -> str:
    return os.path.join(folder, str(number))


def _extension(path: str) -> str:
    return os.path.splitext(path)[1].removeprefix(".").lower()


def _is_plain(worktree: str, path: str) -> bool:
    place = os.path.join(worktree, path)
    parent = os.path.dirname(place)
    inside = os.path.realpath(parent) == os.path.join(
        os.path.realpath(worktree), *path.split("/")[:-1]
    )
    return inside and os.path.lexists(place) and stat.S_ISREG(os.lstat(place).st_mode)


def _break(place: str, kept: str) -> None:
    before = os.lstat(place)
    text = _broken_text(place)
    if len(text) == before.st_size:
        # Python takes a cached file for current by size and second.
        text += b"\n"
    os.rename(place, kept)
    descriptor = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(text)
        os.fchmod(descriptor, stat.S_IMODE(before.st_mode))


def _broken_text(path: str) -> bytes:
    return _OPENED.get(_extension(path), b"") + BROKEN


def _set_aside(place: str, aside: str) -> bool:
    """Move what a command wrote over a broken file out of the way; nothing is thrown away."""
    try:
        with open(place, "rb") as file:
            found = file.read(2 * len(BROKEN))
        # What a kill left of a broken file is its beginning.
        if BROKEN in found or _broken_text(place).startswith(found):
            return False
        os.rename(place, aside)
    except FileNotFoundError:
        return False
    except IsADirectoryError:
        os.rename(place, aside)
    return True


def _mend(place: str, kept: str) -> None:
    os.makedirs(os.path.dirname(place), exist_ok=True)
    # What was built from the broken file is older than this, so that build tools build it anew.
    os.utime(kept)
    os.replace(kept, place)
    sync_folder(os.path.dirname(place))
