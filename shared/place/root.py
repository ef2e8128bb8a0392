"""Builds the file tree that a command in the place sees, and makes it the process's root.

Everything is read-only through overlays, so that sockets and pipes of others are not the real ones.
Writing goes to memory: in the repository, its git folders, the home, /tmp, /run and /dev/shm.
"""

from __future__ import annotations

import os
import stat

from shared.place import kernel
from shared.place.covers import Cover
from shared.place.git_folders import git_folders
from shared.place.layers import QUIET, ROOT, Layers, make_target
from shared.place.system import OWN, PRIVATE, make_devices, make_kernel_files, make_private

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from shared.place.values import Place

# Below a home that other file systems are mounted in: what tools write to.
TOOL_FOLDERS = (
    ".cache", ".config", ".local/share", ".local/state", ".cargo", ".rustup", ".npm", ".node-gyp",
    ".nvm", ".yarn", ".pnpm-store", ".bun", ".deno", ".m2", ".gradle", ".ivy2", ".sbt", ".java",
    ".sdkman", ".android", "go", ".gem", ".bundle", ".rbenv", ".composer", ".nuget", ".dotnet",
    ".pub-cache", ".stack", ".cabal", ".ghcup", ".opam", ".julia", ".conda", ".pyenv", ".asdf",
    ".ccache",
)  # fmt: skip
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
        # For each folder whose changes vanish, the open folder in memory that takes them.
        self.written: dict[str, int] = {}

    def build(self) -> None:
        """Build the tree and make it this process's root; raises OSError where that fails."""
        place = self._place
        self._check()
        kernel.mount("", "/", "", kernel.RECURSIVE | kernel.PRIVATE)
        overlaid = {*self._homes(), place.repository, *git_folders(place.repository)}
        overlaid = {path for path in overlaid if not _lies_in(path, place.kept)}
        shown = {path for path in (*place.shown, place.home) if _lies_in(path, PRIVATE)}
        shown = {path for path in shown if not _lies_in(path, (*overlaid, *place.kept))}
        wanted = {*overlaid, *place.kept, *place.protected, *shown}
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
            source = f"/proc/self/fd/{sources[path]}"
            make_target(path, folder=os.path.isdir(source))
            if path in overlaid:
                self._layers.overlay(source, path, writable=True)
            elif path in place.kept:
                self._layers.bind(self._mounts.get(path, source), path, 0)
            elif not os.path.isdir(source):
                self._layers.bind(source, path)
            else:
                self._seal(path, source)
        make_kernel_files(self._layers, place.limits.threads)
        kernel.make_root(ROOT)
        kernel.restrict_mount("/", kernel.READ_ONLY | QUIET, below=False)
        self.written = self._layers.written

    def _check(self) -> None:
        """Raise OSError, with the reason, if no overlay can be laid over the repository."""
        repository = self._place.repository
        for mounted in self._below(repository):
            raise OSError(f"a file system is mounted below the repository, at {mounted}")
        for path in (repository, f"{repository}/.git"):
            # With our own id alone mapped, no file of another can be copied when it is changed.
            if os.geteuid() and os.path.exists(path) and os.stat(path).st_uid != os.geteuid():
                raise OSError(f"{path} belongs to another user")

    def _homes(self) -> list[str]:
        """Return the folders of the home in which writing vanishes: the home itself if we may."""
        home = self._place.home
        if not self._below(home):
            return [home]
        tools = (os.path.join(home, name) for name in TOOL_FOLDERS)
        real = (path for path in tools if os.path.isdir(path) and os.path.realpath(path) == path)
        return [path for path in real if path not in self._kinds and not self._below(path)]

    def _below(self, path: str) -> list[str]:
        """Return where something is mounted below `path`."""
        beginning = f"{path.rstrip('/')}/"
        return [mounted for mounted in self._kinds if mounted.startswith(beginning)]

    def _cover(self, path: str) -> None:
        """Show what lies at `path` read-only, unless it is gone since it was listed."""
        if self._layers.hides(path):
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


def _lies_in(path: str, folders: Iterable[str]) -> bool:
    return any(path == folder or path.startswith(f"{folder}/") for folder in folders)


def _open(path: str) -> int:
    return os.open(path, os.O_PATH | os.O_CLOEXEC)
