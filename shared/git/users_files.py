"""What stands in the user's tree where the plan will write, as git would commit it."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, NamedTuple

from shared.git.change import LINK, Entry, ends, index_lines, listed
from shared.git.repository import submodules
from state.errors import Problem

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from shared.git.change import Change
    from shared.git.command import Git
    from shared.git.repository import Repository
    from shared.git.vault import Vault

REVISE = "planner plan revise"


class Blocked(str):
    """Why a path can't be read or written as a file: words for a person."""

    __slots__ = ()


def check_before(repo: Repository, vault: Vault, changes: Sequence[Change]) -> list[Problem]:
    """Return a problem for each planned file that is not as the plan found it (PL-26)."""
    planned = ends(changes)
    wanted = {path: end.before for path, end in planned.items()}
    going = {path for path, end in planned.items() if end.after is None}
    arriving = {path for path, end in planned.items() if end.after is not None}
    states = read_states(repo, vault, wanted, Way(going, arriving))
    return _compare(repo, states, wanted, REVISE)


def check_tree(repo: Repository, vault: Vault, changes: Sequence[Change]) -> list[Problem]:
    """Return a problem for each planned file that is not as the plan leaves it (PL-29)."""
    wanted = {path: end.after for path, end in ends(changes).items()}
    return _compare(repo, read_states(repo, vault, wanted), wanted, "")


def compare_at(
    repo: Repository, vault: Vault, wanted: Mapping[str, Entry | None], root: str
) -> list[Problem]:
    """Return a problem for each path below `root` that git would not commit as wanted."""
    return _compare(repo, read_states(repo, vault, wanted, root=root), wanted, "")


class Way(NamedTuple):
    """What the changes do to paths: files that are `going` make room for those `arriving`."""

    going: Collection[str] = ()
    arriving: Collection[str] = ()


NOTHING = Way()


def read_states(
    repo: Repository,
    vault: Vault,
    wanted: Mapping[str, Entry | None],
    way: Way = NOTHING,
    root: str | None = None,
) -> dict[str, Entry | Blocked | None]:
    """Return what git would commit at each wanted path below `root`, by default the user's tree.

    Git reads the files through an index that holds HEAD and, over it, what is wanted: filters and
    line ends then work as for a file that is as it should be. Objects go into the vault. A folder
    in the way of an arriving file counts as nothing when only files in it are `going`.
    """
    root = root or repo.root
    links = submodules(repo, "HEAD")
    states: dict[str, Entry | Blocked | None] = {}
    present: list[str] = []
    for path in wanted:
        found = _look_above(root, path, wanted, way, links)
        if found is True:
            found = _look_there(root, path, wanted, way)
        if found is True:
            present.append(path)
        states[path] = found if isinstance(found, Blocked) else None
    if present:
        now = _hashed(repo, vault, wanted, present, root)
        states |= {path: now.get(path) for path in present}
    return states


def _hashed(
    repo: Repository,
    vault: Vault,
    wanted: Mapping[str, Entry | None],
    present: Sequence[str],
    root: str,
) -> dict[str, Entry]:
    with vault.scratch() as folder:
        git = quarantined(repo, vault, os.path.join(folder, "index"), root)
        git.run("read-tree", "HEAD")
        seed = index_lines(wanted, repo.zero)
        git.run("update-index", "--add", "--replace", "-z", "--index-info", stdin=seed)
        names = "".join(f"{path}\0" for path in present).encode("utf-8")
        git.run("update-index", "--add", "--remove", "--replace", "-z", "--stdin", stdin=names)
        return listed(git)


def quarantined(repo: Repository, vault: Vault, index: str, root: str) -> Git:
    """Return git as the user has it set up, on `index` and `root`, writing objects to the vault."""
    return repo.git_in(root).on_index(index, GIT_OBJECT_DIRECTORY=vault.objects)


def _look_above(
    root: str, path: str, wanted: Mapping[str, Entry | None], way: Way, links: Sequence[str]
) -> bool | Blocked:
    """Return whether the folders of `path` are there, or what is in their way."""
    parts = path.split("/")
    for depth in range(1, len(parts)):
        parent = "/".join(parts[:depth])
        if parent in links:
            return Blocked(f"it lies in the submodule {parent}")
        mode = _mode(os.path.join(root, parent))
        if mode is None:
            return False
        if not stat.S_ISDIR(mode):
            replaced = wanted[path] is None and wanted.get(parent) is not None
            what = "a symbolic link" if stat.S_ISLNK(mode) else "no folder"
            blocked = Blocked(f"{parent}, where it should lie, is {what}")
            return False if replaced or parent in way.going else blocked
    return True


def _look_there(
    root: str, path: str, wanted: Mapping[str, Entry | None], way: Way
) -> bool | Blocked:
    """Return whether a file or link stands at `path`, or what else does."""
    mode = _mode(os.path.join(root, path))
    if mode is None:
        return False
    if stat.S_ISREG(mode) or stat.S_ISLNK(mode):
        return True
    if not stat.S_ISDIR(mode):
        return Blocked("something that is neither file nor link stands there")
    if wanted[path] is None and path not in way.arriving:
        return False
    left = _unplanned(root, path, way.going)
    return Blocked(f"a folder stands there, with {left}") if left else False


def _mode(path: str) -> int | None:
    try:
        return os.lstat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None


def _unplanned(root: str, folder: str, going: Collection[str]) -> str | None:
    """Return a file below `folder` that no change removes, None where there is none."""
    for at, folders, files in os.walk(os.path.join(root, folder)):
        here = os.path.relpath(at, root)
        linked = [name for name in folders if os.path.islink(os.path.join(at, name))]
        for name in (*files, *linked):
            path = os.path.join(here, name)
            if path not in going:
                return path
    return None


def _compare(
    repo: Repository,
    states: Mapping[str, Entry | Blocked | None],
    wanted: Mapping[str, Entry | None],
    retry: str,
) -> list[Problem]:
    return [
        Problem("refused", path, _difference(states[path], entry), retry=retry)
        for path, entry in wanted.items()
        if not _same(repo, states[path], entry)
    ]


def _same(repo: Repository, state: Entry | Blocked | None, entry: Entry | None) -> bool:
    if isinstance(state, Blocked) or state is None or entry is None:
        return state == entry
    if state == entry:
        return True
    # Where the file system knows no x bit or no links, the mode on disk says nothing.
    key = "core.symlinks" if LINK in {state.mode, entry.mode} else "core.fileMode"
    return state.blob == entry.blob and not is_set(repo, key)


def is_set(repo: Repository, key: str) -> bool:
    """Return whether a setting that is on by default is on."""
    return repo.git.attempt("config", "--type=bool", key).stdout.strip() != b"false"


def _difference(state: Entry | Blocked | None, entry: Entry | None) -> str:
    if isinstance(state, Blocked):
        return f"not as planned: {state}"
    if state is None:
        return f"missing; the plan expects {_words(entry)}"
    if entry is None:
        return f"stands there as {_words(state)}; the plan expects nothing at this path"
    return f"is {_words(state)}; the plan expects {_words(entry)}"


def _words(entry: Entry | None) -> str:
    return f"blob {entry.blob[:12]} with mode {entry.mode}" if entry else "nothing"
