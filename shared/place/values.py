"""What one run in the place is given: folders, what lasts, environment and limits."""

from __future__ import annotations

import os

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from typing import Any

_MEBIBYTE = 1 << 20
_THREADS_OF_A_PROCESS = 4
_OPEN_FILES_OF_A_PROCESS = 128
# What a file in memory takes of it besides its content, at most.
_PER_FILE = 4096


class Limits:
    """When a run is ended; sizes are in bytes."""

    __slots__ = (
        "files", "memory", "open_files", "output", "processes", "seconds", "threads", "written",
    )  # fmt: skip

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
        self.open_files = _OPEN_FILES_OF_A_PROCESS * processes
        # Of the processes, and of the kernel for them.
        self.memory = memory
        # To files, and the number of these.
        self.written = written
        self.files = written // _PER_FILE
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
        "allowed", "begin", "copied", "covered", "emptied", "environment", "folder", "hidden",
        "home", "input", "kept", "limits", "links", "look", "loopback", "network", "protected",
        "replaced", "repository", "shown", "tools",
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
        # Shown where the place otherwise has an empty folder of its own, such as /tmp or a home;
        # it cannot be written.
        self.shown: tuple[str, ...] = ()
        # Homes, and folders in which homes lie: empty in the place, but for what is shown.
        self.emptied: tuple[str, ...] = ()
        # Folders of tools in these: writing there vanishes.
        self.tools: tuple[str, ...] = ()
        # Files in these, with what they seem to hold, and links with where they lead.
        self.copied: Mapping[str, bytes] = {}
        self.links: Mapping[str, str] = {}
        # Files and folders that are absent.
        self.hidden: tuple[str, ...] = ()
        # What a file seems to hold, by path.
        self.replaced: Mapping[str, bytes] = {}
        # What is never hidden, and seen as it is.
        self.allowed: Collection[str] = ()
        # Finds, when the place is entered, what is called so here: more of `hidden` and `replaced`,
        # and of homes what is shown.
        self.look: Callable[[], dict[str, Any]] = dict
        # Called, outside, with the number of the place's first process before anything runs there.
        self.begin: Callable[[int], object] = lambda _: None
        # What lies over a folder, by folder.
        self.covered: Mapping[str, Covering] = {}
        self.loopback = True
        # Whether the command is in the machine's network.
        self.network = False
        # Whether it reads our standard input.
        self.input = False
        self.limits = Limits()

    def look_around(self) -> dict[str, Any]:
        """Find what there is to show and to hide now; return the attributes that this has set."""
        found = self.look()
        hidden = (*self.hidden, *found.get("hidden", ()))
        found["hidden"] = tuple(path for path in hidden if path not in self.allowed)
        replaced = {**self.replaced, **found.get("replaced", {})}
        found["replaced"] = {p: text for p, text in replaced.items() if p not in self.allowed}
        self.take(found)
        return found

    def take(self, found: Mapping[str, Any]) -> None:
        """Set the attributes that `look_around` has returned."""
        for name, value in found.items():
            setattr(self, name, value)
