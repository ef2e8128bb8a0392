"""Finds what the place must not show: secrets of users, untracked ones of a project.

A project is walked once and its folders are remembered; a later walk lists those alone that have
changed since. The same walk finds where the project leads.
"""

from __future__ import annotations

import os
import time

from shared import known_secrets, secret_walk
from shared.paths import followed
from shared.place import leads
from shared.place.cache import recall, remember
from shared.place.git_folders import git_folder

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    # By path of a file of git's settings: what it holds without credentials, whether that differs,
    # and what else it names.
    Settings = dict[str, tuple[bytes, bool, list[str]]]

# Folders that are looked at before each command, the nearest to the root first; the others are
# looked at again after so many seconds.
_NEAR = 1_500
_FRESH_S = 300.0
_LARGEST_CONFIG = 1 << 20
_MODULES = 200
_CONFIGS = 400  # files of git settings, with those that they include
# Settings that name a file or folder which git reads; none of them holds a secret.
_NAMING = ("excludesfile", "attributesfile", "hookspath", "template", "templatedir")


def secrets_of_user(environment: Mapping[str, str]) -> list[str]:
    """Return the existing secret paths of this user and of the system."""
    home = followed(environment.get("HOME", "/"))
    named = known_secrets.secrets_of_user({**environment, "HOME": home})
    return [*named, *filter(os.path.lexists, known_secrets.SYSTEM)]


def survey(project: str) -> tuple[list[str], list[str]]:
    """Return the untracked files with secrets in a project, and the paths that its files name."""
    kept, also = recall("project", project), leads.noted(project)
    near = secret_walk.scan(project, kept.get("near"), _NEAR, also=also)
    deep, looked, now = kept.get("deep", [[], []]), kept.get("looked", 0.0), time.time()
    complete = 1 + sum(len(folders) for _, _, folders, _ in near.values()) == len(near)
    if not complete and not 0 <= now - looked < _FRESH_S:
        whole = secret_walk.scan(project, near, also=also)
        deep, looked = [secret_walk.secret_files(whole), _noted(whole)], now
    found = sorted({*secret_walk.secret_files(near), *deep[0]})
    noted = sorted({*_noted(near), *deep[1]})
    read = leads.named_paths((os.path.join(project, n) for n in noted), kept.get("read", {}))
    untracked, index = kept.get("untracked", []), _index_mark(project)
    if found != kept.get("found") or index != kept.get("index"):
        untracked = _untracked(project, found)
    values = {"near": near, "deep": deep, "looked": looked, "found": found, "untracked": untracked,
              "index": index, "read": read}  # fmt: skip
    if any(kept.get(name) != value for name, value in values.items()):
        remember("project", project, values)
    return [os.path.join(project, name) for name in untracked], leads.all_named(read)


def git_settings(paths: list[str], home: str) -> Settings:
    """Read files of git's settings, those that they include too."""
    shown: Settings = {}
    for path in filter(os.path.isfile, paths):
        try:
            with open(path, encoding="utf-8", errors="surrogateescape", newline="") as file:
                text = file.read(_LARGEST_CONFIG)
        except PermissionError:  # nor can the command read it
            continue
        # More come to the end of the list while it is read.
        included, used = _named_in(text, path, home)
        paths += included[: max(0, _CONFIGS - len(paths))]
        cleaned = known_secrets.without_credentials(text)
        shown[path] = (cleaned.encode("utf-8", "surrogateescape"), cleaned != text, used)
    return shown


def settings_of_user(environment: Mapping[str, str]) -> list[str]:
    """Return where git looks for settings of the user and of the system."""
    home = environment.get("HOME", "/")
    paths = [os.path.join(home, name) for name in (".gitconfig", ".config/git/config")]
    return [*paths, environment.get("GIT_CONFIG_GLOBAL", ""), "/etc/gitconfig"]


def without_credentials(settings: Settings) -> dict[str, bytes]:
    """Return by real path what to show instead of git settings that hold credentials."""
    return {followed(p): text for p, (text, changed, _) in settings.items() if changed}


def settings_below(folders: Iterable[str]) -> list[str]:
    """Return the files of settings in git folders, those of submodules and worktrees too."""
    paths = list[str]()
    for folder in folders:
        paths += [os.path.join(folder, name) for name in ("config", "config.worktree")]
        for name in ("modules", "worktrees"):
            paths += _configs_of_modules(os.path.join(folder, name))
    return paths


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
        return secret_walk.without_tracked(find_repository(repository).git, found)
    except Refused:
        return found


def _noted(found: secret_walk.Found) -> list[str]:
    return [os.path.join(folder, name) for folder in found for name in found[folder][3]]


def _named_in(text: str, path: str, home: str) -> tuple[list[str], list[str]]:
    """Return the files that git settings include, whatever the condition, and others they name."""
    included, found = False, (list[str](), list[str]())
    for line in text.splitlines():
        section, closed, rest = line.strip().rpartition("]")
        if section.startswith("["):
            included = section[1:].lower().startswith(("include", "includeif"))
        within = rest if closed and section.startswith("[") else line
        setting, equals, value = within.partition("=")
        name = setting.strip().lower()
        if equals and ((included and name == "path") or name in _NAMING):
            named = value.strip().strip('"')
            named = f"{home}{named[1:]}" if named.startswith("~/") else named
            absolute = os.path.join(os.path.dirname(followed(path)), named)
            found[name != "path"].append(os.path.normpath(absolute))
    return found


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
