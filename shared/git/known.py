"""What git has said of a repository, kept for one command as long as it holds."""

from __future__ import annotations

import os
import stat

# What tells a file or folder from another that is put into its place, or a file from what it was.
Mark = tuple[int, int, int] | None

# Scopes of git's settings: the repository's file, also by what it includes, and a worktree's.
_OWN = ("local", "worktree")


def mark_of(path: str) -> Mark:
    """Return the mark of a file or folder, None if there is none."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    # The times of a folder say nothing: git itself makes files in its own all the time.
    changed = 0 if stat.S_ISDIR(found.st_mode) else found.st_ctime_ns
    return found.st_dev, found.st_ino, changed


def marks_of(*paths: str) -> tuple[Mark, ...]:
    """Return the mark of each of these files and folders."""
    return tuple(map(mark_of, paths))


class Known:
    """The git settings of a repository, and facts about its objects."""

    __slots__ = ("_files", "facts", "own", "settings")

    def __init__(self) -> None:
        # About objects that are named by ids.
        self.facts: dict[tuple[object, ...], bytes] = {}
        self.settings: dict[str, str] = {}
        # Key and value of each that the repository itself says, not the user.
        self.own: tuple[tuple[str, str], ...] = ()
        self._files: dict[str, Mark] = {}

    @property
    def holds(self) -> bool:
        """Whether the settings were read, and each file that they come from is as it was then."""
        return bool(self._files) and all(mark_of(p) == mark for p, mark in self._files.items())

    def read(self, listed: bytes, folder: str) -> None:
        """Keep what `git config --list --show-scope --show-origin -z` prints in a folder."""
        rows = os.fsdecode(listed).split("\0")
        scopes, origins, entries = rows[:-1:3], rows[1::3], rows[2::3]
        files = [row.removeprefix("file:") for row in origins if row.startswith("file:")]
        paths = [os.path.join(folder, path) for path in files] or [folder]
        self._files = {path: mark_of(path) for path in paths}
        pairs = [row.partition("\n")[::2] for row in entries]
        self.settings = dict(pairs)
        self.own = tuple(p for scope, p in zip(scopes, pairs, strict=True) if scope in _OWN)
