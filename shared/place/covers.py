"""Lays other files over a folder in the place, such as the files of a plan over the user's."""

from __future__ import annotations

import os
import stat
import time

from shared.place.masks import copy_rights, folders_of, mark_absent

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    from shared.place.values import Covering

_SECOND_NS = 1_000_000_000


class Cover:
    """Files that are opened before the tree is built: then the folder they lie in is out of sight.

    They are copied into memory, since no overlay may lie over a folder and over one inside it.
    """

    def __init__(self, covering: Covering) -> None:
        folder = os.open(covering.files, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        self._files = f"/proc/self/fd/{folder}"
        self._gone = covering.gone

    def lay(self, source: str, layer: str) -> None:
        """Make `layer` cover the folder `source` with the files, all of the present time."""
        copy_rights(os.stat(source), layer)
        self._lay_folder("", source, layer)
        for path in self._gone:
            for folder in folders_of(path):
                self._make_folder(folder, source, layer)
            mark_absent(os.path.join(layer, path))

    def _lay_folder(self, folder: str, source: str, layer: str) -> None:
        with os.scandir(os.path.join(self._files, folder)) as found:
            entries = [*found]
        for entry in entries:
            path = os.path.join(folder, entry.name)
            target = os.path.join(layer, path)
            if entry.is_symlink():
                os.symlink(os.readlink(entry.path), target)
            elif entry.is_dir():
                if any(os.scandir(entry.path)):
                    self._make_folder(path, source, layer)
                    self._lay_folder(path, source, layer)
            else:
                import shutil  # not at the top: entering would take a third longer

                shutil.copyfile(entry.path, target)
                os.chmod(target, stat.S_IMODE(entry.stat().st_mode))
                _keep_apart(os.path.join(source, path), target)

    def _make_folder(self, path: str, source: str, layer: str) -> None:
        target = os.path.join(layer, path)
        if os.path.isdir(target):
            return
        os.mkdir(target)
        for original in (os.path.join(source, path), os.path.join(self._files, path)):
            if os.path.isdir(original) and not os.path.islink(original):
                copy_rights(os.stat(original), target)
                return


def _keep_apart(covered: str, target: str) -> None:
    """Make sure that a file differs by size or second from the one that it covers.

    By these two Python tells whether what it has compiled is current.
    """
    try:
        before = os.lstat(covered)
    except OSError:
        return
    now = os.stat(target)
    if before.st_size == now.st_size and int(before.st_mtime) == int(now.st_mtime):
        later = time.time_ns() + _SECOND_NS
        os.utime(target, ns=(later, later))
