"""Builds the file tree that a command in the place sees, and makes it the process's root.

Everything is read-only through overlays, so that sockets and pipes of others are not the real ones.
Writing goes to memory: in the repository, its git folders, homes, /tmp, /run and /dev/shm. Of homes
only what `Homes` found is there.
"""

from __future__ import annotations

import os
import stat

from shared.paths import lies_in
from shared.place import kernel
from shared.place.covers import Cover
from shared.place.git_folders import git_folders
from shared.place.layers import QUIET, ROOT, Layers, make_target
from shared.place.system import OWN, PRIVATE, make_devices, make_kernel_files, make_private

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    from collections.abc import Mapping

    from shared.place.values import Place

# More entries than this beside a mount are not rebuilt one by one.
_MANY = 300
# These file systems hold no sockets.
_WITHOUT_SOCKETS = {"vfat", "exfat", "msdos", "ntfs", "ntfs3", "squashfs", "iso9660", "erofs"}


class View:
    """The file tree that a command in the place sees."""

    def __init__(self, place: Place, mounts: Mapping[str, int]) -> None:
        self._place = place
        # Open mounts by the folders in which writing lasts, where there are any.
        self._mounts = mounts
        self._kinds = _mounted()
        # True if no socket of others can be reached in it, once it is built.
        self.sealed = True
        # The open folder in memory that takes what is written in the repository, once it is built.
        self.written = -1
        # The repository's git folders outside of it, in which writing goes to memory.
        self.git_folders = tuple(
            f for f in git_folders(place.repository) if not lies_in(f, place.kept)
        )

    def build(self) -> None:
        """Build the tree and make it this process's root; raises OSError where that fails."""
        place = self._place
        self._check()
        kernel.mount("", "/", "", kernel.RECURSIVE | kernel.PRIVATE)
        overlaid = {place.repository, *self.git_folders, *self._tools()}
        overlaid = {path for path in overlaid if not lies_in(path, place.kept)}
        place.emptied = tuple(path for path in place.emptied if not lies_in(path, place.kept))
        # Below these nothing of the user's is seen but what is laid there.
        bare = {*place.emptied, *PRIVATE}
        shown = {path for path in place.shown if lies_in(path, bare)}
        seen = (*overlaid, *place.kept, *place.hidden)
        shown = {path for path in shown if not lies_in(path, seen)}
        wanted = {*overlaid, *place.kept, *place.protected, *shown, *place.emptied}
        # Opened before anything is covered; what lies below /tmp is reached through these alone.
        sources = {path: _open(path) for path in wanted if os.path.exists(path)}
        covers = {path: Cover(found) for path, found in place.covered.items()}
        self._layers = Layers(place, [*sources], covers)
        for name in os.listdir("/"):
            if name not in OWN:
                self._cover(f"/{name}")
        make_private(self._layers, place.environment.get("XDG_RUNTIME_DIR", ""))
        make_devices(self._layers)
        for path in sorted(sources, key=lambda path: (len(path), path)):
            self._lay(path, f"/proc/self/fd/{sources[path]}", writable=path in overlaid)
        make_target(place.folder, folder=True)
        make_kernel_files(self._layers, place.limits.threads)
        kernel.make_root(ROOT)
        kernel.restrict_mount("/", kernel.READ_ONLY | QUIET, below=False)
        self.written = self._layers.written

    def _lay(self, path: str, source: str, *, writable: bool) -> None:
        """Lay what is to be seen at a path over what is there."""
        place = self._place
        make_target(path, folder=os.path.isdir(source))
        if path in place.emptied:
            self._layers.empty(source, path)
            self._furnish(path)
        elif writable:
            self._overlay(path, source)
        elif path in place.kept:
            self._layers.bind(self._mounts.get(path, source), path, 0)
        elif not os.path.isdir(source):
            self._layers.bind(source, path)
        else:
            self._seal(path, source)

    def _overlay(self, path: str, source: str) -> None:
        """Lay an overlay over a folder; a tool's one that can have none is shown read-only."""
        try:
            self._layers.overlay(source, path, writable=True)
        except OSError:
            if path not in self._tools():
                raise
            self._seal(path, source)

    def _furnish(self, home: str) -> None:
        """Make the links and files of a home that is empty otherwise."""
        for link, target in self._place.links.items():
            if lies_in(link, (home,)) and not os.path.lexists(ROOT + link):
                os.makedirs(os.path.dirname(ROOT + link), exist_ok=True)
                os.symlink(target, ROOT + link)
        for path, content in self._place.copied.items():
            if lies_in(path, (home,)) and not os.path.lexists(ROOT + path):
                os.makedirs(os.path.dirname(ROOT + path), exist_ok=True)
                with open(ROOT + path, "xb") as file:
                    file.write(content)

    def _check(self) -> None:
        """Raise OSError, with the reason, if no overlay can be laid over the repository."""
        repository = self._place.repository
        for mounted in self._below(repository):
            raise OSError(f"a file system is mounted below the repository, at {mounted}")
        for path in (repository, f"{repository}/.git"):
            # With our own id alone mapped, no file of another can be copied when it is changed.
            if os.geteuid() and os.path.exists(path) and os.stat(path).st_uid != os.geteuid():
                raise OSError(f"{path} belongs to another user")

    def _tools(self) -> set[str]:
        """Return the folders of tools, and what is mounted below them."""
        tools = self._place.tools
        return {*tools, *(mounted for path in tools for mounted in self._below(path))}

    def _below(self, path: str) -> list[str]:
        """Return where something is mounted below `path`."""
        beginning = f"{path.rstrip('/')}/"
        return [mounted for mounted in self._kinds if mounted.startswith(beginning)]

    def _cover(self, path: str) -> None:
        """Show what lies at `path` read-only, unless it is gone since it was listed."""
        if self._layers.hides(path) or path in self._place.emptied:
            return
        try:
            self._show(path)
        except FileNotFoundError:
            if os.path.lexists(path):
                raise

    def _show(self, path: str) -> None:
        found = os.lstat(path)
        if stat.S_ISLNK(found.st_mode):
            os.symlink(os.readlink(path), ROOT + path)
        elif stat.S_ISREG(found.st_mode):
            make_target(path, folder=False)
            self._layers.bind(path, path)
        elif stat.S_ISDIR(found.st_mode):
            os.mkdir(ROOT + path)
            os.chmod(ROOT + path, stat.S_IMODE(found.st_mode))
            if self._below(path):
                self._cover_each(path)
            else:
                source = _open(path)
                self._seal(path, f"/proc/self/fd/{source}")
                os.close(source)

    def _cover_each(self, path: str) -> None:
        """Show a folder that has mounts below it: no overlay can be laid over one."""
        try:
            names = os.listdir(path)
        except PermissionError:
            names = [""] * _MANY
        if len(names) < _MANY:
            for name in names:
                self._cover(f"{path}/{name}")
            return
        self._layers.bind(path, path)
        self.sealed = False

    def _seal(self, path: str, source: str) -> None:
        """Show a folder so that its sockets, pipes and locks are not the real ones."""
        try:
            self._layers.overlay(source, path, writable=False)
        except OSError:
            self._layers.bind(source, path)
            self.sealed = self.sealed and self._kinds.get(path) in _WITHOUT_SOCKETS


def _mounted() -> dict[str, str]:
    """Return the kind of file system by the folder at which it is mounted."""
    found = {}
    with open("/proc/self/mountinfo", "rb") as file:
        for line in file:
            before, _, after = line.partition(b" - ")
            path = before.split()[4]
            if b"\\" in path:  # a blank or the like; the decoder is slow to import
                path = path.decode("unicode_escape").encode("latin-1")
            found[os.fsdecode(path)] = os.fsdecode(after.split()[0])
    return found


def _open(path: str) -> int:
    return os.open(path, os.O_PATH | os.O_CLOEXEC)
