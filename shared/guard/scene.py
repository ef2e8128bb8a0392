"""Holds where a shell command would run, and the budget of paths that the guard looks at for it."""

from __future__ import annotations

import os
from time import process_time

from shared.guard.denial import Denied
from shared.known_secrets import SecretPlaces

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_PATHS = 10_000
MAX_SECONDS = 0.4


class Budget:
    """What one command line may cost the guard, however many patterns and folders it names.

    A path costs more where a repository has prepared long chains of links, hence the limit of
    processor time, which a busy machine does not use up.
    """

    __slots__ = ("_end", "_left")

    def __init__(self) -> None:
        self._left = MAX_PATHS
        self._end = process_time() + MAX_SECONDS

    def spend(self, paths: int = 1) -> None:
        """Count `paths` more paths that the guard looks at; Denied if these are too many."""
        self._left -= paths
        if self._left < 0 or process_time() > self._end:
            reason = "its patterns and folders are too many paths to check before it runs"
            raise Denied(reason, "name fewer files, or a folder as in `ls FOLDER`, `grep -r`, `rg`")


class Scene:
    """Where a shell command would run: its folder, the user's home, and whether input is piped in.

    `start` is the session's folder, which differs from `folder` after a `cd`. All commands of a
    line share one budget and the places of the user's secrets.
    """

    __slots__ = ("budget", "fed", "folder", "home", "real_folders", "secret_places", "start")

    def __init__(self, folder: str, environment: Mapping[str, str] = os.environ) -> None:
        self.folder = self.start = folder
        self.home = environment.get("HOME", "")
        self.fed = False
        self.budget = Budget()
        self.secret_places = SecretPlaces(environment)
        self.real_folders = dict[str, str]()

    def at(self, folder: str, *, fed: bool = False) -> Scene:
        """Return this scene for a command in `folder`; `fed` if input is piped to it."""
        scene = Scene.__new__(Scene)
        scene.folder, scene.start, scene.home, scene.fed = folder, self.start, self.home, fed
        scene.budget, scene.secret_places = self.budget, self.secret_places
        scene.real_folders = self.real_folders
        return scene
