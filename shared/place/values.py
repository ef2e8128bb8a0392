"""What one run in the place is given: folders, what lasts, environment and limits."""

from __future__ import annotations

import os

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    Hidden = tuple[tuple[str, ...], dict[str, bytes]]

_MEBIBYTE = 1 << 20
_THREADS_OF_A_PROCESS = 4


class Limits:
    """When a run is ended; sizes are in bytes."""

    __slots__ = ("memory", "output", "processes", "seconds", "threads", "written")

    def __init__(
        self,
        *,
        seconds: float = 600.0,
        processes: int = 512,
        memory: int = 4096 * _MEBIBYTE,
        written: int = 2048 * _MEBIBYTE,
        output: int = 64 * _MEBIBYTE,
    ) -> None:
        self.seconds = seconds
        self.processes = processes
        # In all processes together.
        self.threads = _THREADS_OF_A_PROCESS * processes
        self.memory = memory
        # To files.
        self.written = written
        self.output = output


class Covering:
    """What lies over a folder in the place.

    Everything in it has the present time, so that build tools see that it is new.
    """

    __slots__ = ("files", "gone")

    def __init__(self, files: str, gone: Sequence[str] = ()) -> None:
        # The files below this folder.
        self.files = files
        # Paths that are hidden.
        self.gone = gone


class Place:
    """A repository as a command in the place sees it, and what of the command's writing lasts."""

    __slots__ = (
        "allowed", "covered", "environment", "folder", "hidden", "home", "input", "kept", "limits",
        "look", "loopback", "network", "protected", "replaced", "repository", "shown",
    )  # fmt: skip

    def __init__(self, folder: str, repository: str, environment: Mapping[str, str]) -> None:
        # Where the command starts.
        self.folder = folder
        # The root of the working tree.
        self.repository = os.path.realpath(repository)
        self.environment = environment
        # The user's home folder.
        self.home = os.path.realpath(environment.get("HOME") or os.path.expanduser("~"))
        # Cannot be written; the command sees it where writing otherwise vanishes.
        self.protected: tuple[str, ...] = ()
        # Writing lasts below these alone.
        self.kept: tuple[str, ...] = ()
        # The user's folders of which the place otherwise has an empty one of its own, such as /tmp;
        # they cannot be written.
        self.shown: tuple[str, ...] = ()
        # Files and folders that are absent.
        self.hidden: tuple[str, ...] = ()
        # What a file seems to hold, by path.
        self.replaced: Mapping[str, bytes] = {}
        # What is never hidden.
        self.allowed: Collection[str] = ()
        # Finds more of `hidden` and `replaced` when the place is entered.
        self.look: Callable[[], Hidden] = lambda: ((), {})
        # What lies over a folder, by folder.
        self.covered: Mapping[str, Covering] = {}
        self.loopback = True
        # Whether the command is in the machine's network.
        self.network = False
        # Whether it reads our standard input.
        self.input = False
        self.limits = Limits()

    def find_hidden(self) -> Hidden:
        """Return all that is absent, and by path what a file seems to hold."""
        found, replaced = self.look()
        hidden = (path for path in (*self.hidden, *found) if path not in self.allowed)
        return tuple(hidden), {**self.replaced, **replaced}
