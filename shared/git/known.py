"""What git has said of a repository, kept for one command as long as it holds."""

from __future__ import annotations

import os
import stat

# What tells a file or folder from another that is put into its place, or a file from what it was.
Mark = tuple[int, int, int] | None


def mark_of(path: str) -> Mark:
    """Return the mark of a file or folder, None if there is none."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    # The times of a folder say nothing: git itself makes files in its own all the time.
    changed = 0 if stat.S_ISDIR(found.st_mode) else found.st_ctime_ns
    return found.st_dev, found.st_ino, changed


class Known:
    """The git settings of a repository, and facts about its objects."""

    __slots__ = ("_files", "facts", "settings")

    def __init__(self) -> None:
        # About objects that are named by ids.
        self.facts: dict[tuple[object, ...], bytes] = {}
        self.settings: dict[str, str] = {}
        self._files: dict[str, Mark] = {}

    @property
    def holds(self) -> bool:
        """Whether the settings were read, and each file that they come from is as it was then."""
        return bool(self._files) and all(mark_of(p) == mark for p, mark in self._files.items())

    def read(self, listed: bytes, folder: str) -> None:
        """Keep what `git config --list --show-origin -z` prints in a folder."""
        rows = os.fsdecode(listed).split("\0")
        files = [row.removeprefix("file:") for row in rows[:-1:2] if row.startswith("file:")]
        paths = [os.path.join(folder, path) for path in files] or [folder]
        self._files = {path: mark_of(path) for path in paths}
        self.settings = dict(row.partition("\n")[::2] for row in rows[1::2])
