"""Walks over a project to find its secret files, in what was installed there too.

scan(root)                      folders with their secret files
scan(root, found)               the walk again, which lists only folders that have changed
scan(root, also=wanted)         the walk that goes into what was installed, and notes more names
secret_files(found)             the paths that a walk found
without_tracked(git, paths)     the same without what is committed, which is not hidden
"""

from __future__ import annotations

import os
import time

from shared.known_secrets import is_secret_in

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from shared.git.command import Git

    # Whether a walk notes a name: the folder it lies in, relative to the root, the name, and
    # whether the folder was installed.
    Also = Callable[[str, os.DirEntry[str], bool], bool]
    # For each folder its time of change, secret files, subfolders, and what else was noted.
    Found = dict[str, tuple[int, list[str], list[str], list[str]]]

# Folders of a repository with what was installed, built or is ours: a walk leaves them out, or
# comes to them last.
LEFT_OUT = frozenset((
    ".git", ".hg", ".svn", ".planner", "node_modules", "bower_components", ".venv", "venv",
    "site-packages", ".tox", ".nox", "vendor", "Pods", "target", "__pycache__", ".gradle", ".m2",
    ".pnpm-store", ".yarn", ".eggs", "_build",
))  # fmt: skip
# Of these, what is not walked at all: ours; and in a folder of git or its like, names that people
# have not given to files.
_OURS = ".planner"
_HISTORIES = frozenset((".git", ".hg", ".svn"))
_STORES = frozenset(("objects", "refs", "logs", "lfs", "annex", "store", "pristine"))
MAX_FOLDERS = 20_000
MAX_INSTALLED = 4_000
_LARGEST_CERTIFICATES = 1 << 20
_SETTLED_NS = 50_000_000  # a folder changed later than this before a walk may change unnoticed


def scan(
    root: str,
    before: Found | None = None,
    most: int = MAX_FOLDERS,
    *,
    also: Also | None = None,
    installed: bool = False,
) -> Found:
    """Walk a repository and return what lies in each folder, relative to `root`, which is "".

    A folder that has the same time as in `before` is not listed again. Of more than `most` folders
    the walk leaves out the deepest. With `also` it goes on to what was installed or built there,
    a third of `most` at the most, as the root itself may be: of that, certificates are not secrets.
    It notes the names that `also` accepts.
    """
    found: Found = {}
    own, built = ([], [""]) if installed else ([""], list[str]())
    known, stat, join = before or {}, os.stat, os.path.join
    try:
        top = os.open(root, os.O_RDONLY)
    except OSError:
        return found
    for waiting, most_of_these in ((own, most), (built, min(MAX_INSTALLED, most // 3 + 1))):
        limit = min(most, len(found) + most_of_these)
        for folder in waiting:
            if len(found) >= limit:
                break
            try:
                # From the root on: that is most of what a walk over known folders takes.
                changed = stat(folder or ".", dir_fd=top).st_mtime_ns
                entry = known.get(folder)
                if entry is None or entry[0] != changed:
                    settled = changed < time.time_ns() - _SETTLED_NS
                    listed = _list(root, folder, also, installed=waiting is built)
                    entry = (changed if settled else 0, *listed)
            except OSError:  # removed meanwhile, or not ours to read
                continue
            found[folder] = entry
            for name in entry[2]:
                if waiting is own and name not in LEFT_OUT:
                    own.append(join(folder, name))
                elif also and name != _OURS:
                    built.append(join(folder, name))
    os.close(top)
    return found


def secret_files(found: Found) -> list[str]:
    """Return the secret files that a walk found, in order, relative to the walk's root."""
    return sorted(os.path.join(folder, name) for folder in found for name in found[folder][1])


def without_tracked(git: Git, paths: Iterable[str]) -> list[str]:
    """Return those of the paths, relative to the top of git's working tree, that git lacks."""
    wanted = list(paths)
    literal = [f":(literal,top){path}" for path in wanted]
    listed = git.run("ls-files", "-z", "--", *literal).split(b"\0") if wanted else []
    tracked = {os.fsdecode(path) for path in listed}
    return [path for path in wanted if path not in tracked]


def _list(
    root: str, folder: str, also: Also | None, *, installed: bool
) -> tuple[list[str], list[str], list[str]]:
    """Return of a folder the secret files, the subfolders, and what else is to be noted."""
    secret, folders, noted = list[str](), list[str](), list[str]()
    within = (os.path.basename(root), *folder.split("/"))
    left_out = _STORES if not _HISTORIES.isdisjoint(within) else ()
    with os.scandir(os.path.join(root, folder)) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                if entry.name not in left_out:
                    folders.append(entry.name)
                continue
            secret_here = is_secret_in(folder, entry.name)
            if secret_here and not (installed and _holds_certificates(entry)):
                secret.append(entry.name)
            if also and also(folder, entry, installed):
                noted.append(entry.name)
    return secret, folders, noted


def _holds_certificates(entry: os.DirEntry[str]) -> bool:
    """Return whether a file holds certificates alone, as packages bring those of authorities."""
    if not entry.name.endswith(".pem"):
        return False
    try:
        if not entry.is_file():
            return False
        with open(entry.path, "rb") as file:
            data = file.read(_LARGEST_CERTIFICATES)
    except OSError:
        return False
    return len(data) < _LARGEST_CERTIFICATES and b"PRIVATE KEY" not in data
