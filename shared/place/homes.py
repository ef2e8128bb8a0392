"""Finds what the place shows of homes: the project, toolchains, caches, and nothing else.

So what is hidden there does not depend on its name. Homes, and the folders in which they lie, are
empty at first. Then the tools' folders are laid over them, whose changes vanish, and read-only what
the project's environment leads to.
"""

from __future__ import annotations

import os
import sys

from shared import known_secrets, secret_walk
from shared.paths import followed, lies_in
from shared.place import leads
from shared.place import tool_folders as listed
from shared.place.cache import recall, remember
from shared.place.secrets import survey

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from shared.place.secrets import Settings

    # By folder, its time of change and the names in it that are secrets.
    Tops = dict[str, list[Any]]

_LARGEST_FILE = 1 << 20
_MOST_LED, _MOST_LINKS = 40, 400


class Homes:
    """What the place shows of homes, for one project; all paths are real ones."""

    def __init__(self, project: str, home: str, given: Mapping[str, str]) -> None:
        self._project = project
        self._home = home
        self._given = given
        # Empty, but for what follows.
        self.emptied = emptied(project, home)
        # Folders in which writing vanishes.
        self.tools: list[str] = []
        # Folders and files that cannot be written.
        self.led: list[str] = []
        # Files that are copied, with what they seem to hold.
        self.files: dict[str, bytes] = {}
        # Where links of a home lead.
        self.links: dict[str, str] = {}
        # Secrets in what is shown, by their names.
        self.secrets: list[str] = []

    def look(
        self, secret: list[str], settings: Settings, named: list[str], wanted: list[str]
    ) -> None:
        """Find all that is shown, without what is `secret`.

        Besides tools these are git's `settings`, what the project `named` and the user `wanted`.
        """
        if not self.emptied:
            return
        hidden, kept = {*secret}, recall("homes", self._home)
        for path in dict.fromkeys((*self._tools(), *self._programs())):
            self._add_tool(path, hidden)
        others = {self._home_of(path) for path in (self._project, *self.tools)} - {"", self._home}
        self.secrets += (path for other in others for path in known_secrets.secrets_below(other))
        hidden.update(self.secrets)
        for real in map(self._real, wanted):
            if self.in_home(real) and os.path.lexists(real) and not lies_in(real, hidden):
                self._lead_to(real)
        for path, (content, *_) in settings.items():
            real = self._real(path)
            if self.in_home(real) and not self.shows(real):
                self.files[real] = content
        above = [*leads.above(self._project, self._home_of(self._project))]
        noted = [*above, *self._linked(), *self._noted_by_python()]
        read = leads.named_paths(noted, kept.get("read", {}))
        by_user = [*self._path(), *above, *leads.all_named(read)]
        by_user += (path for *_, paths in settings.values() for path in paths)
        for variable in listed.OF_PROJECTS:
            by_user += filter(os.path.isabs, self._given.get(variable, "").split(os.pathsep))
        by_project = self._follow(by_user, hidden)
        self._follow([*named, *by_project], hidden, by_user=False)
        self._keep_link_to_project()
        tops = self._name_secrets(kept.get("tops", {}))
        if read != kept.get("read") or tops != kept.get("tops"):
            remember("homes", self._home, {"read": read, "tops": tops})

    def in_home(self, path: str) -> bool:
        """Return whether a path lies where only what is found here is shown."""
        return lies_in(path, self.emptied)

    def shows(self, path: str) -> bool:
        """Return whether a path lies in what is shown."""
        return path in self.files or lies_in(path, (self._project, *self.tools, *self.led))

    def _may_show(self, real: str, hidden: set[str]) -> bool:
        """Return whether a path of a home is neither hidden, nor shown, nor holds too much."""
        whole_home = real in (*self.emptied, self._home_of(real))
        if not self.in_home(real) or whole_home or self.shows(real) or lies_in(real, hidden):
            return False
        around = lies_in(self._project, (real,))
        return not around or os.path.lexists(os.path.join(real, ".git"))

    def _add_tool(self, path: str, hidden: set[str]) -> None:
        real = self._real(path)
        if not self._may_show(real, hidden):
            return
        if os.path.isdir(real):
            self.tools.append(real)
            return
        try:
            with open(real, "rb") as file:
                content = file.read(_LARGEST_FILE + 1)
        except OSError:
            return
        if len(content) <= _LARGEST_FILE:
            self.files[real] = content

    def _real(self, path: str) -> str:
        """Return a path with its links followed; those that lie in a home are kept."""
        top = next((top for top in self.emptied if lies_in(path, (top,))), "")
        if not top or self.shows(path):
            return followed(path)
        at, left = top, path[len(top) + 1 :].split("/")
        while left and left[0]:
            at = os.path.join(at, left.pop(0))
            if os.path.islink(at):
                real = followed(at)
                if real == at:  # it leads to itself
                    return at
                self.links[at] = real
                return self._real(os.path.join(real, *left))
        return at

    def _bases(self) -> Iterator[tuple[str, str]]:
        """Yield each folder of a home in which something may be shown, and its name in the list."""
        for home in filter(None, {self._home, self._home_of(self._project)}):
            yield from ((os.path.join(home, folder), folder) for folder in listed.SHOWN)
        for variable, folder in listed.XDG.items():
            if os.path.isabs(self._given.get(variable, "")):
                yield os.path.normpath(self._given[variable]), folder

    def _home_of(self, path: str) -> str:
        """Return the home in which a path lies, that of another user too; "" if in none."""
        for top in self.emptied:
            if lies_in(path, (top,)):
                is_home = top in (self._home, *known_secrets.ROOTS)
                return (
                    top
                    if is_home
                    else os.path.join(top, path[len(top) + 1 :].split("/", maxsplit=1)[0])
                )
        return ""

    def _tools(self) -> Iterator[str]:
        for base, folder in dict.fromkeys(self._bases()):
            try:
                there = os.listdir(base)
            except OSError:
                continue
            names = sorted(listed.SHOWN[folder].intersection(there))
            yield from (os.path.join(base, name) for name in names)
        for variable in listed.VARIABLES:
            value = self._given.get(variable, "")
            if os.path.isabs(value) and os.path.isdir(value):
                yield os.path.normpath(value)
        for value in filter(os.path.isabs, self._given.get("GOPATH", "").split(os.pathsep)):
            yield from (os.path.join(value, name) for name in sorted(listed.SHOWN["go"]))

    def _programs(self) -> Iterator[str]:
        """Yield where the programs of PATH are installed, if their folder is not all of it."""
        containers = {base for base, folder in self._bases() if folder}
        for entry in self._path():
            prefix = leads.installation(entry)
            if prefix != entry and prefix not in containers:
                yield prefix

    def _path(self) -> Iterator[str]:
        """Yield the folders of PATH that lie in a home; programs of Windows could not run.

        The folders of the interpreter that runs us are among them: a command in the place may call
        us, and the caller's PATH need not name them.
        """
        theirs = [top for top in self.emptied if top.endswith("/Users")]
        own = (os.path.dirname(sys.executable), os.path.join(sys.base_prefix, "bin"))
        entries = (*self._given.get("PATH", "").split(os.pathsep), *own)
        for entry in dict.fromkeys(filter(os.path.isabs, entries)):
            if self.in_home(entry) and not lies_in(entry, theirs) and os.path.isdir(entry):
                yield os.path.normpath(entry)

    def _linked(self) -> Iterator[str]:
        """Yield links of programs and toolchains that lead elsewhere in a home."""
        folders = [*self._path(), *(os.path.join(self._home, name) for name in listed.OF_LINKS)]
        for folder in dict.fromkeys(map(followed, folders)):
            try:
                with os.scandir(folder) as entries:
                    links = [entry.path for entry in entries if entry.is_symlink()]
            except OSError:
                continue
            yield from (link for link in links[:_MOST_LINKS] if not self.shows(leads.target(link)))

    def _keep_link_to_project(self) -> None:
        """Keep the links by which the user has entered the project."""
        entered = self._given.get("PWD", "")
        if os.path.isabs(entered) and lies_in(followed(entered), (self._project,)):
            self._real(entered)

    def _noted_by_python(self) -> Iterator[str]:
        prefixes = [os.path.join(self._home, ".local"), *map(os.path.dirname, self._path())]
        prefixes += (self._given.get(name, "") for name in ("VIRTUAL_ENV", "CONDA_PREFIX"))
        name = os.path.basename(self._project)
        prefixes += (path for folder in listed.PYTHONS for path in self._each_in(folder))
        environments = (path for folder in listed.ENVIRONMENTS for path in self._each_in(folder))
        prefixes += (path for path in environments if os.path.basename(path).startswith(name))
        for prefix in dict.fromkeys(map(followed, filter(None, prefixes))):
            yield from leads.site_packages(prefix)

    def _each_in(self, folder: str) -> Iterator[str]:
        """Yield the path of each name in a folder of the home."""
        within = os.path.join(self._home, folder)
        return (os.path.join(within, name) for name in leads.names(within))

    def _follow(self, named: list[str], hidden: set[str], *, by_user: bool = True) -> list[str]:
        """Show what lies at these paths; return the paths that this names in turn.

        Of what a project names, nothing is shown that lies in a folder of the home which begins
        with a dot: these are programs' own.
        """
        further = list[str]()
        # If a project names them, more come to the end of the list while it is read.
        for path in named:
            if len(self.led) == _MOST_LED:
                break
            if self.shows(path) or not os.path.lexists(path):
                continue
            real = self._real(path)
            if not self.in_home(real) or self.shows(real):
                continue
            home = self._home_of(real)
            whole = leads.whole(real, home, self._project)
            own = whole.removeprefix(f"{home}/").startswith(".") and not by_user
            if whole and not own and self._may_show(whole, hidden):
                (further if by_user else named).extend(self._lead_to(whole))
        return further

    def _lead_to(self, real: str) -> list[str]:
        """Show a folder or file without its secrets; return the paths that it names in turn."""
        self.led.append(real)
        if not os.path.isdir(real):
            return []
        secrets, named = survey(real)
        self.secrets += secrets
        return named

    def _name_secrets(self, kept: Tops) -> Tops:
        """Find secrets at the top of tools' folders and of environments in them.

        Returns what there is by name, by folder.
        """
        found: Tops = {}
        folders = (*listed.PYTHONS, *listed.ENVIRONMENTS)
        environments = (path for folder in folders for path in self._each_in(folder))
        for tool in dict.fromkeys((*self.tools, *environments)):
            changed, names = kept.get(tool, (0, []))
            if not changed or changed != _time_of_change(tool):
                walk = secret_walk.scan(tool, None, 1, also=_nothing, installed=True)
                changed, names = walk.get("", (0, []))[:2]
            paths = (os.path.join(tool, name) for name in known_secrets.IN_ENVIRONMENTS)
            self.secrets += (os.path.join(tool, name) for name in names)
            self.secrets += filter(os.path.lexists, paths)
            found[tool] = [changed, names]
        return found


def emptied(project: str, home: str) -> tuple[str, ...]:
    """Return homes, and folders in which homes lie, by real path: those that hold not all of it."""
    drives = (name for name in leads.names(listed.WINDOWS) if len(name) == 1)
    windows = (os.path.join(listed.WINDOWS, drive, "Users") for drive in drives)
    all_tops = (home, *listed.TOPS, *known_secrets.ROOTS, *windows)
    tops = dict.fromkeys(map(followed, all_tops))
    return tuple(
        top for top in tops if top != "/" and os.path.isdir(top) and not lies_in(top, (project,))
    )


def _time_of_change(path: str) -> int:
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return 0


def _nothing(*_: object) -> bool:
    return False
