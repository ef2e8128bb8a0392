"""Lays what hides secrets over a folder: names that are absent, files that seem to hold less.

It is done by name, in a layer of an overlay: a secret that its owner replaces while a command runs
stays hidden.
"""

from __future__ import annotations

import os
import stat

from shared.paths import followed

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    from shared.place.values import Place


class Masks:
    """What is to be hidden of the real file tree, by its paths without symbolic links."""

    def __init__(self, place: Place) -> None:
        self._replaced = dict(place.replaced)
        absent = {path for name in place.hidden for path in _places(name)}
        # What lies in an absent folder is absent with it.
        self._left = {
            path for path in (*absent, *self._replaced)
            if not any(above in absent for above in _above(path))
        }  # fmt: skip
        for path in absent:
            self._replaced.pop(path, None)

    def take(self, path: str) -> list[str]:
        """Return what is to be hidden below `path`, and no longer return it for another folder."""
        below = f"{path.rstrip('/')}/"
        found = [name for name in self._left if name.startswith(below)]
        self._left.difference_update(found)
        return found

    def hides(self, path: str) -> bool:
        """Return whether `path` itself is absent."""
        return path in self._left and path not in self._replaced

    def lay(self, found: list[str], path: str, source: str, layer: str) -> None:
        """Make `layer` hide what was found below `path`, whose files are read through `source`."""
        originals = {"": os.stat(source)}
        copy_rights(originals[""], layer)
        for name in sorted(found):
            below = os.path.relpath(name, path)
            if not os.path.lexists(os.path.join(source, below)):
                continue  # where a link leads that leads nowhere
            for folder in folders_of(below):
                if folder not in originals:
                    originals[folder] = os.stat(os.path.join(source, folder))
                    os.mkdir(os.path.join(layer, folder))
                    copy_rights(originals[folder], os.path.join(layer, folder))
            self._hide(name, os.path.join(source, below), os.path.join(layer, below))
        for folder, original in originals.items():
            times = (original.st_atime_ns, original.st_mtime_ns)
            os.utime(os.path.join(layer, folder), ns=times)

    def _hide(self, name: str, original: str, copy: str) -> None:
        content = self._replaced.get(name)
        if content is None:
            mark_absent(copy)
            return
        with open(copy, "xb") as file:
            file.write(content)
        copy_rights(os.stat(original), copy)


def mark_absent(path: str) -> None:
    """Make at `path` what an overlay takes for the mark of an absent name."""
    os.mknod(path, stat.S_IFCHR, os.makedev(0, 0))


def copy_rights(found: os.stat_result, path: str) -> None:
    """Give a file of ours the rights of another, and its owner where that has a number here."""
    os.chmod(path, stat.S_IMODE(found.st_mode))
    if found.st_uid != os.geteuid() or found.st_gid != os.getegid():
        try:
            os.chown(path, found.st_uid, found.st_gid)
        except OSError:
            return


def folders_of(path: str) -> list[str]:
    """Return the folders above a relative path, the outermost first."""
    parts = path.split("/")[:-1]
    return ["/".join(parts[: count + 1]) for count in range(len(parts))]


def _places(name: str) -> list[str]:
    """Return where a path is found once its folders, then the path itself, are followed."""
    folder = followed(os.path.dirname(name))
    return [os.path.join(folder, os.path.basename(name)), followed(name)]


def _above(path: str) -> list[str]:
    return [f"/{folder}" for folder in folders_of(path[1:])]
