"""Reads and writes files beneath a folder by their names, and follows no link on the way.

A repository holds whatever somebody has put there, links among it. Each folder is opened in the one
before, as one that is no link, and all is done in what was opened: what changes meanwhile cannot
lead elsewhere. Printed steps read through this module, so it imports the standard library alone.
"""

from __future__ import annotations

import errno
import os
import stat

from state.errors import Refused
from state.files import TEMPORARY, read_bytes, unusable, write_in

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    T = TypeVar("T")

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# A folder on the way may be one that cannot be listed.
_WAY = _FOLDER | getattr(os, "O_PATH", 0)
_FILE = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC

_LINK = "is a symbolic link, and what has this name is read and written in the repository itself"
_INSTEAD = "put a file or folder of its own in place of the link; then run the same command again"


class _Link(NotADirectoryError):  # noqa: N818 – nothing went wrong yet
    """A name leads elsewhere."""


class Beneath:
    """The files below a folder, by paths that are relative to it or lie in it.

    Each method raises Refused for a link at the path or on the way to it, and where the system does
    not let us.
    """

    __slots__ = ("root",)
    # The way to what a user names may begin with a link.
    follows_root = True

    def __init__(self, root: str) -> None:
        self.root = root

    def status(self, path: str) -> os.stat_result | None:
        """Return what is at a path, of a link at its end the link itself; None if nothing is."""
        return self._at(path, lambda f, n: os.stat(n, dir_fd=f, follow_symlinks=False), None)

    def exists(self, path: str) -> bool:
        """Return whether there is a file or folder."""
        return self._at(path, _status, None) is not None

    def is_file(self, path: str) -> bool:
        """Return whether there is a regular file."""
        found = self._at(path, _status, None)
        return found is not None and stat.S_ISREG(found.st_mode)

    def changed_at(self, path: str) -> float:
        """Return when a file was last changed, in seconds since 1970; 0 if there is none."""
        found = self._at(path, _status, None)
        return found.st_mtime if found else 0.0

    def read(self, path: str, most: int | None = None) -> bytes | None:
        """Return the bytes of a file, None if there is none; Refused for more than `most`."""

        def read(folder: int, name: str) -> bytes | None:
            found = _status(folder, name)
            if found is None:
                return None
            if most is not None and found.st_size > most:
                text = f"the file has {found.st_size} bytes; at most {most} are read"
                raise Refused("refused", path, text, "make it smaller")
            ours = os.O_NONBLOCK | os.O_NOFOLLOW
            return read_bytes(path, lambda _, flags: os.open(name, flags | ours, dir_fd=folder))

        return self._at(path, read, None)

    def names(self, path: str) -> list[str]:
        """Return the names of what is in a folder, in order; none if it is not there."""

        def names(folder: int, name: str) -> list[str]:
            if _status(folder, name) is None:
                return []
            inside = os.open(name, _FOLDER, dir_fd=folder)
            try:
                return sorted(os.listdir(inside))
            finally:
                os.close(inside)

        return self._at(path, names, [])

    def write(self, path: str, data: bytes, mode: int | None = None) -> None:
        """Write a file in a folder that is there; a crash leaves the old content or the new.

        `mode` is the permission bits; None keeps those of the old file, 0644 for a new one.
        """

        def write(folder: int, name: str) -> None:
            old = _status(folder, name)
            bits = mode if mode is not None else old.st_mode & 0o777 if old else 0o644
            write_in(folder, name, data, bits)
            os.fsync(folder)

        self._at(path, write)

    def remove(self, path: str) -> None:
        """Remove a file, if it is there."""

        def remove(folder: int, name: str) -> None:
            if _status(folder, name) is not None:
                os.unlink(name, dir_fd=folder)
                os.fsync(folder)

        self._at(path, remove, None)

    def rename(self, path: str, new: str) -> None:
        """Give a file another name in its folder."""

        def rename(folder: int, name: str) -> None:
            _status(folder, name)
            os.rename(name, new, src_dir_fd=folder, dst_dir_fd=folder)
            os.fsync(folder)

        self._at(path, rename)

    def make_folders(self, path: str) -> None:
        """Make a folder, and those around it, unless they are there."""

        def make(folder: int, name: str) -> None:
            if _status(folder, name) is None:
                os.mkdir(name, dir_fd=folder)
                os.fsync(folder)

        names = self._names(path)
        for depth in range(1, len(names) + 1):
            self._at(os.path.join(*names[:depth]), make)

    def sweep(self, path: str) -> None:
        """Remove the temporary files that killed writers have left in a folder."""
        for name in self.names(path):
            if name.endswith(TEMPORARY):
                self.remove(os.path.join(path, name))

    def _names(self, path: str) -> list[str]:
        """Return the names on the way from the root to a path; Refused for one outside."""
        inside = os.path.relpath(path, self.root) if os.path.isabs(path) else path
        names = inside.split(os.sep)
        if not {"", os.curdir, os.pardir}.isdisjoint(names):
            raise Refused("refused", path, f"lies outside {self.root}", "name a file in there")
        return names

    def opened(self, path: str) -> tuple[int, str]:
        """Return the opened folder of a path, for the caller to close, and the name in it.

        Raises OSError that names the folder which cannot be opened: NotADirectoryError where a link
        or a file is in its place.
        """
        *folders, name = self._names(path)
        at = self.root
        follow = os.O_NOFOLLOW if self.follows_root else 0
        opened = os.open(at, (_WAY if folders else _FOLDER) & ~follow)
        try:
            for left, folder in enumerate(folders, 1 - len(folders)):
                at = os.path.join(at, folder)
                _status(opened, folder)
                inner = os.open(folder, _WAY if left else _FOLDER, dir_fd=opened)
                os.close(opened)
                opened = inner
        except OSError as error:
            os.close(opened)
            error.filename = at
            raise
        return opened, name

    def _at(self, path: str, act: Callable[[int, str], T], *missing: T) -> T:
        """Return what `act` returns for the opened folder of a path and the name in it.

        Where the folder is not there, return `missing` if it is given.
        """
        at = ""
        try:
            folder, name = self.opened(path)
            at = os.path.join(self.root, *self._names(path))
            try:
                return act(folder, name)
            finally:
                os.close(folder)
        except _Link as link:
            raise Refused("refused", at or link.filename, _LINK, _INSTEAD) from None
        except OSError as error:
            if missing and isinstance(error, FileNotFoundError | NotADirectoryError):
                return missing[0]
            raise unusable(at or str(error.filename), error) from None


def _status(folder: int, name: str) -> os.stat_result | None:
    """Return what is at a name in an opened folder, None if nothing is; raises _Link for a link."""
    try:
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None
    if stat.S_ISLNK(found.st_mode):
        raise _Link(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
    return found
