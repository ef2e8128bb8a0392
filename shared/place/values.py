"""What one run in the place is given: folders, what lasts, environment and limits."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    Hidden = tuple[tuple[str, ...], dict[str, bytes]]

_MEBIBYTE = 1 << 20
_THREADS_OF_A_PROCESS = 4


class Limits:
    """When a run is ended: seconds, processes, bytes of memory, written to files, and of output.

    There may be `threads` in all processes together.
    """

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
        self.threads = _THREADS_OF_A_PROCESS * processes
        self.memory = memory
        self.written = written
        self.output = output


class Covering:
    """What lies over a folder in the place: the files below `files`, and paths that are hidden.

    Everything in it has the present time, so that build tools see that it is new.
    """

    __slots__ = ("files", "gone")

    def __init__(self, files: str, gone: Sequence[str] = ()) -> None:
        self.files = files
        self.gone = gone


class Place:
    """A repository as a command in the place sees it, and what of the command's writing lasts.

    `folder` is where the command starts, `repository` the root of the working tree, `home` the
    user's home folder. Writing lasts below `kept` alone. `protected`, which the command sees where
    writing otherwise vanishes, cannot be written; nor can `shown`, the user's folders of which the
    place otherwise has an empty one of its own, such as /tmp. `hidden` are files and folders that
    are absent; `replaced` has by path what a file seems to hold, `covered` by folder what lies over
    it. `look` finds more of both when the place is entered; what is `allowed` is never hidden. With
    `network` the command is in the machine's network, with `input` it reads our standard input.
    """

    __slots__ = (
        "allowed", "covered", "environment", "folder", "hidden", "home", "input", "kept", "limits",
        "look", "loopback", "network", "protected", "replaced", "repository", "shown",
    )  # fmt: skip

    def __init__(self, folder: str, repository: str, environment: Mapping[str, str]) -> None:
        self.folder = folder
        self.repository = os.path.realpath(repository)
        self.environment = environment
        self.home = os.path.realpath(environment.get("HOME") or os.path.expanduser("~"))
        self.protected: tuple[str, ...] = ()
        self.kept: tuple[str, ...] = ()
        self.shown: tuple[str, ...] = ()
        self.hidden: tuple[str, ...] = ()
        self.replaced: Mapping[str, bytes] = {}
        self.allowed: Collection[str] = ()
        self.look: Callable[[], Hidden] = lambda: ((), {})
        self.covered: Mapping[str, Covering] = {}
        self.loopback = True
        self.network = False
        self.input = False
        self.limits = Limits()

    def find_hidden(self) -> Hidden:
        """Return all that is absent, and by path what a file seems to hold."""
        found, replaced = self.look()
        hidden = (path for path in (*self.hidden, *found) if path not in self.allowed)
        return tuple(hidden), {**self.replaced, **replaced}
