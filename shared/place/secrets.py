"""Finds what the place must not show: secrets of users, untracked ones of the repository.

The repository is walked once and its folders are remembered; a later walk lists those alone that
have changed since.
"""

from __future__ import annotations

import os
import time

from shared import known_secrets
from shared.place.cache import recall, remember
from shared.place.git_folders import git_folder

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

# Folders that are looked at before each command, the nearest to the root first; the others are
# looked at again after so many seconds.
_NEAR = 1_500
_FRESH_S = 300.0
_MANY_HOMES = 50
_LARGEST_CONFIG = 1 << 20
_MODULES = 200
_CONFIGS = 400  # files of git settings, with those that they include
_HOMES = "/home"


def secrets_of_users(environment: Mapping[str, str]) -> list[str]:
    """Return the existing secret paths of this user, and of the other homes that can be entered."""
    home = os.path.realpath(environment.get("HOME", "/"))
    named = known_secrets.secrets_of_user({**environment, "HOME": home})
    named += filter(os.path.lexists, known_secrets.SYSTEM)
    others = [other for other in _homes() if other != home and os.access(other, os.X_OK)]
    if len(others) > _MANY_HOMES:
        return [*named, *others]
    return [*named, *(path for other in others for path in _below(other))]


def secrets_of_repository(repository: str) -> list[str]:
    """Return the untracked files with secrets in a repository."""
    kept = recall("secrets", repository)
    near = known_secrets.scan(repository, kept.get("near"), _NEAR)
    deep, looked, now = kept.get("deep", []), kept.get("looked", 0.0), time.time()
    if len(near) >= _NEAR and not 0 <= now - looked < _FRESH_S:
        deep, looked = known_secrets.secret_files(known_secrets.scan(repository)), now
    found = sorted({*known_secrets.secret_files(near), *deep})
    untracked, index = kept.get("untracked", []), _index_mark(repository)
    if found != kept.get("found") or index != kept.get("index"):
        untracked = _untracked(repository, found)
    values = {"near": near, "deep": deep, "looked": looked, "found": found, "untracked": untracked,
              "index": index}  # fmt: skip
    if any(kept.get(name) != value for name, value in values.items()):
        remember("secrets", repository, values)
    return [os.path.join(repository, name) for name in untracked]


def without_credentials(folders: Iterable[str], environment: Mapping[str, str]) -> dict[str, bytes]:
    """Return by path what to show instead of git settings that hold credentials."""
    home = environment.get("HOME", "/")
    paths = [os.path.join(home, name) for name in (".gitconfig", ".config/git/config")]
    paths += [environment.get("GIT_CONFIG_GLOBAL", ""), "/etc/gitconfig"]
    for folder in folders:
        paths += [os.path.join(folder, name) for name in ("config", "config.worktree")]
        for name in ("modules", "worktrees"):
            paths += _configs_of_modules(os.path.join(folder, name))
    shown = {}
    for path in filter(os.path.isfile, paths):
        with open(path, encoding="utf-8", errors="surrogateescape", newline="") as file:
            text = file.read(_LARGEST_CONFIG)
        # More come to the end of the list while it is read.
        paths += [name for name in _included(text, path, home) if len(paths) < _CONFIGS]
        cleaned = known_secrets.without_credentials(text)
        if cleaned != text:
            shown[os.path.realpath(path)] = cleaned.encode("utf-8", "surrogateescape")
    return shown


def _index_mark(repository: str) -> list[int]:
    """Return what tells the index of a working tree from one that tracks other files."""
    try:
        found = os.stat(os.path.join(git_folder(repository), "index"))
    except OSError:
        return []
    return [found.st_ino, found.st_size, found.st_mtime_ns]


def _untracked(repository: str, found: list[str]) -> list[str]:
    if not found:
        return []
    # Not at the top: most commands need no git of ours.
    from shared.git.repository import find_repository
    from state.errors import Refused

    try:
        return known_secrets.without_tracked(find_repository(repository).git, found)
    except Refused:
        return found


def _homes() -> list[str]:
    try:
        below = [os.path.join(_HOMES, name) for name in os.listdir(_HOMES)]
    except OSError:
        below = []
    return [*below, *known_secrets.ROOTS]


def _below(home: str) -> list[str]:
    """Return the secret paths that exist below a home; its own names are listed only once."""
    try:
        there = {*os.listdir(home)}
    except OSError:
        there = {name.partition("/")[0] for name in known_secrets.HOME}
    wanted = (name for name in known_secrets.HOME if name.partition("/")[0] in there)
    return list(filter(os.path.lexists, (os.path.join(home, name) for name in wanted)))


def _included(text: str, path: str, home: str) -> Iterator[str]:
    """Yield the files that git settings include, whether or not their condition holds here."""
    included = False
    for line in text.splitlines():
        section, closed, rest = line.strip().rpartition("]")
        if section.startswith("["):
            included = section[1:].lower().startswith(("include", "includeif"))
        name, equals, value = (rest if closed and section.startswith("[") else line).partition("=")
        if included and equals and name.strip().lower() == "path":
            named = value.strip().strip('"')
            named = f"{home}{named[1:]}" if named.startswith("~/") else named
            yield os.path.join(os.path.dirname(os.path.realpath(path)), named)


def _configs_of_modules(folder: str) -> Iterator[str]:
    """Yield the settings files of submodules, those in other working trees too.

    Names of submodules may contain slashes.
    """
    waiting = [folder]
    for count, at in enumerate(waiting):
        if count == _MODULES:
            return
        try:
            names = os.listdir(at)
        except OSError:
            continue
        if "HEAD" in names:
            yield os.path.join(at, "config")
            names = ["modules"] if "modules" in names else []
        waiting += [os.path.join(at, name) for name in names]
