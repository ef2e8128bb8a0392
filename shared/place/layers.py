"""Mounts overlays, folders and files into the tree that becomes the root of the place."""

from __future__ import annotations

import os

from shared.place import kernel
from shared.place.masks import Masks, copy_rights

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    from collections.abc import Mapping

    from shared.place.covers import Cover
    from shared.place.values import Place

# Where memory is mounted while the tree is built; it covers the /tmp of the machine.
_BASE = "/tmp"  # noqa: S108 – not that of the machine
ROOT, _MEMORY, EMPTY = f"{_BASE}/root", f"{_BASE}/memory", f"{_BASE}/empty"
_NOTHING = f"{_BASE}/nothing"
QUIET = kernel.NO_SETUID | kernel.NO_DEVICES


class Layers:
    """The mounts of one place; all that is written in it goes to one memory of limited size."""

    def __init__(self, place: Place, sources: list[str], covers: Mapping[str, Cover]) -> None:
        # The open folder in memory that takes what is written in the repository.
        self.written = -1
        self._repository = place.repository
        self._covers = covers
        self._count = 0
        self._masks = Masks(place)
        # What each of the folders that are mounted one by one has to hide.
        self._hidden = {path: self._masks.take(path) for path in sorted(sources, reverse=True)}
        limits = place.limits
        options = f"mode=755,size={limits.written},nr_inodes={limits.files}"
        kernel.mount("tmpfs", _BASE, "tmpfs", QUIET, options)
        for folder in (ROOT, _MEMORY, EMPTY):
            os.mkdir(folder)
        with open(_NOTHING, "xb"):
            pass
        # Of its own, so that what is shown of it cannot be written.
        kernel.mount("tmpfs", EMPTY, "tmpfs", QUIET | kernel.READ_ONLY, "mode=755,size=4k")
        kernel.mount("tmpfs", ROOT, "tmpfs", QUIET, "mode=755,size=16m")

    def hides(self, path: str) -> bool:
        """Return whether `path` itself is absent."""
        return self._masks.hides(path)

    def overlay(self, source: str, path: str, *, writable: bool) -> None:
        """Lay an overlay over the folder `source`, seen at `path`; writing is lost or denied."""
        self._count += 1
        layer = f"{_MEMORY}/{self._count}"
        os.mkdir(layer)
        lower = self._mask(source, path, f"{layer}/mask")
        if path in self._covers:
            os.mkdir(f"{layer}/cover")
            self._covers[path].lay(source, f"{layer}/cover")
            lower.insert(-1, f"{layer}/cover")
        if writable:
            for name in ("new", "work"):
                os.mkdir(f"{layer}/{name}")
            found = os.stat(source)
            copy_rights(found, f"{layer}/new")
            os.utime(f"{layer}/new", ns=(found.st_atime_ns, found.st_mtime_ns))
            new = f",upperdir={layer}/new,workdir={layer}/work"
        else:
            # Without an upper folder there have to be two lower ones.
            lower += [EMPTY] * (len(lower) == 1)
            new = ""
        options = f"lowerdir={':'.join(lower)}{new},userxattr"
        kernel.mount("overlay", ROOT + path, "overlay", QUIET, options)
        if path == self._repository:
            self.written = os.open(f"{layer}/new", os.O_RDONLY | os.O_DIRECTORY)

    def bind(self, source: str | int, path: str, attributes: int = kernel.READ_ONLY) -> None:
        """Show a file or folder with the mounts below it at `path`; what is hidden seems empty.

        `source` may be an open mount that is attached nowhere yet.
        """
        if isinstance(source, int):
            kernel.attach(source, ROOT + path)
        else:
            kernel.mount(source, ROOT + path, "", kernel.BIND | kernel.RECURSIVE)
        kernel.restrict_mount(ROOT + path, attributes | QUIET)
        for name in self._to_hide(path):
            if os.path.lexists(ROOT + name) and not os.path.islink(ROOT + name):
                self.bind(EMPTY if os.path.isdir(ROOT + name) else _NOTHING, name)

    def fresh(self, path: str, mode: int) -> None:
        """Show an empty folder in memory at `path`."""
        os.chmod(self._empty(path), mode)

    def empty(self, source: str, path: str) -> None:
        """Show instead of the folder `source` one in memory, with its rights."""
        folder = self._empty(path)
        copy_rights(os.stat(source), folder)

    def _empty(self, path: str) -> str:
        self._count += 1
        folder = f"{_MEMORY}/{self._count}"
        os.mkdir(folder)
        kernel.mount(folder, ROOT + path, "", kernel.BIND)
        return folder

    def _mask(self, source: str, path: str, layer: str) -> list[str]:
        """Return the lower folders of an overlay: one that hides, if there is something to hide."""
        found = self._to_hide(path)
        if not found:
            return [source]
        os.mkdir(layer)
        self._masks.lay(found, path, source, layer)
        return [layer, source]

    def _to_hide(self, path: str) -> list[str]:
        found = self._hidden.get(path)
        return self._masks.take(path) if found is None else found


def make_target(path: str, *, folder: bool) -> None:
    """Make the folder or file at `path` over which something is mounted, if it is not there yet."""
    target = ROOT + path
    if os.path.lexists(target):
        return
    if folder:
        os.makedirs(target, exist_ok=True)
        return
    os.makedirs(os.path.dirname(target), exist_ok=True)
    with open(target, "xb"):
        pass
