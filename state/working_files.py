"""Removes, moves and copies the files of a working tree, in which anything may change meanwhile.

What is found at the end of a path is taken for itself, a link too; on the way no link is followed.
"""

from __future__ import annotations

import os
import stat

from state.beneath import Beneath
from state.errors import Refused
from state.files import unusable
from state.removal import remove_all, remove_hollow

_FILE = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_PIECE = 1 << 20


class WorkingFiles(Beneath):
    """The files below a folder that others change, by paths relative to it or in it.

    The folder's own path holds no link, or what takes its place would be changed instead.
    """

    __slots__ = ()
    follows_root = False

    def reach(self, path: str) -> os.stat_result | None:
        """Return the same as `status`, and None also if a link leads to the path or a file is."""
        try:
            folder, name = self.opened(path)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise unusable(path, error) from None
        try:
            return os.stat(name, dir_fd=folder, follow_symlinks=False)
        except FileNotFoundError:
            return None
        finally:
            os.close(folder)

    def unlink(self, path: str, kept: str = "") -> None:
        """Remove a file or a link itself, if it is there; a link that leads to `kept` stays."""

        def unlink(folder: int, name: str) -> None:
            mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
            if not (kept and stat.S_ISLNK(mode) and os.readlink(name, dir_fd=folder) == kept):
                os.unlink(name, dir_fd=folder)

        self._at(path, unlink, None)

    def remove_all(self, path: str, theirs: str = "") -> None:
        """Remove a file, a link itself, or a folder with all that is in it, if it is there.

        Links that lead to the same path below the folder `theirs` stay.
        """

        def remove(folder: int, name: str) -> None:
            try:
                remove_all(folder, name, theirs and os.path.join(theirs, *self._names(path)))
            except OSError as error:
                text = f"{error.strerror or error}; a part of the folder may be removed"
                allowed = "make sure that nothing else writes there, then run the same again"
                raise Refused("refused", path, text, allowed) from None

        self._at(path, remove, None)

    def take_away(self, path: str) -> None:
        """Remove a file, or a link itself, if it is there, and the folders that it leaves empty."""
        there = self.reach(path)
        if there is not None and not stat.S_ISDIR(there.st_mode):
            self.unlink(path)
            self.remove_empty(os.path.dirname(path))

    def remove_empty(self, path: str) -> None:
        """Remove a folder, then those around it, as long as they are empty."""
        names = self._names(path) if path else []
        for depth in range(len(names), 0, -1):
            try:
                self._at(os.path.join(*names[:depth]), lambda f, n: os.rmdir(n, dir_fd=f))
            except Refused:  # something is in it
                return

    def move(self, old: str, new: str) -> None:
        """Give a file, a link itself or a folder another path, in folders that are there."""

        def move(source: int, name: str) -> None:
            def place(target: int, other: str) -> None:
                os.rename(name, other, src_dir_fd=source, dst_dir_fd=target)

            self._at(new, place)

        self._at(old, move)

    def set_executable(self, path: str, *, executable: bool) -> None:
        """Let all who may read a file execute it too, or nobody."""

        def change(folder: int, name: str) -> None:
            opened = os.open(name, _FILE, dir_fd=folder)
            try:
                bits = os.fstat(opened).st_mode & 0o777
                os.fchmod(opened, bits | (bits & 0o444) >> 2 if executable else bits & ~0o111)
            finally:
                os.close(opened)

        self._at(path, change)

    def copy(self, path: str, target: str) -> None:
        """Copy a file, or a link itself, to a new path in a folder outside that is there.

        Of the rights only whether its owner may execute it. What is neither is not copied.
        """

        def copy(folder: int, name: str) -> None:
            mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
            if stat.S_ISLNK(mode):
                os.symlink(os.readlink(name, dir_fd=folder), target)
            elif stat.S_ISREG(mode):
                opened = os.open(name, _FILE, dir_fd=folder)
                new = os.open(target, _NEW, 0o600 | mode & 0o100)
                with open(opened, "rb", buffering=0) as old, open(new, "wb") as copied:
                    while piece := old.read(_PIECE):
                        copied.write(piece)

        self._at(path, copy, None)

    def take(self, source: str, path: str) -> None:
        """Move a file, or a link itself, from outside to a path in a folder that is there.

        It takes the place of a file, a link, or a folder in which there are only folders.
        """

        def take(folder: int, name: str) -> None:
            remove_hollow(folder, name)
            os.replace(source, name, dst_dir_fd=folder)

        self._at(path, take)

    def make_folder(self, path: str) -> None:
        """Make a folder in one that is there, not for long: a crash may lose it."""
        self._at(path, lambda folder, name: os.mkdir(name, dir_fd=folder))

    def link(self, path: str, target: str) -> None:
        """Make a link in a folder that is there, not for long: a crash may lose it."""
        self._at(path, lambda folder, name: os.symlink(target, name, dir_fd=folder))
