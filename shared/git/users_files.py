"""Compare the user's files with the plan, in the form in which git would commit the files."""

from __future__ import annotations

import contextlib
import os
import shlex
import stat
from typing import TYPE_CHECKING, NamedTuple

from shared.git.change import GITLINK, LINK, Entry, ends, listed
from shared.git.copies import copied
from shared.git.few_paths import fill_index, tree_and_rules
from shared.git.stage import stage_names
from state.errors import Problem
from state.working_files import WorkingFiles

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from shared.git.change import Change
    from shared.git.command import Git
    from shared.git.repository import Repository
    from shared.git.vault import Vault

REVISE = "planner plan revise"


def to_stash(path: str) -> str:
    """Return the words that tell a user how to put aside their own work on one file."""
    return f"to stash: git stash push --include-untracked -- {pathspec(path)}"


def pathspec(path: str) -> str:
    """Return the word by which a user names exactly one file to git, from any folder."""
    return shlex.quote(f":(top,literal){path}")


class Blocked(str):
    """The reason, in words for a person, why a path can't be read or written as a file."""

    __slots__ = ()


def check_before(
    repo: Repository,
    vault: Vault,
    changes: Sequence[Change],
    there: Mapping[str, Entry] | None = None,
) -> list[Problem]:
    """Return a problem for each planned file that is not in its state before the plan (PL-26)."""
    wanted = {path: end.before for path, end in ends(changes).items()}
    return _compare(repo, states_before(repo, vault, changes, there), wanted)


def states_before(
    repo: Repository,
    vault: Vault,
    changes: Sequence[Change],
    there: Mapping[str, Entry] | None = None,
) -> dict[str, Entry | Blocked | None]:
    """Return the mode and blob that git would commit at each planned path, before an apply."""
    planned = ends(changes)
    wanted = {path: end.before for path, end in planned.items()}
    removed = {path for path, end in planned.items() if end.after is None}
    added = {path for path, end in planned.items() if end.after is not None}
    return read_states(repo, vault, wanted, PathChanges(removed, added), there=there)


def check_tree(
    repo: Repository,
    vault: Vault,
    changes: Sequence[Change],
    there: Mapping[str, Entry] | None = None,
) -> list[Problem]:
    """Return a problem for each planned file that is not in its state after the plan (PL-29)."""
    wanted = {path: end.after for path, end in ends(changes).items()}
    return _compare(repo, read_states(repo, vault, wanted, there=there), wanted)


def compare_at(
    repo: Repository,
    vault: Vault,
    wanted: Mapping[str, Entry | None],
    root: str,
    there: Mapping[str, Entry],
) -> list[Problem]:
    """Return a problem for each file below `root` that git would commit other than as `wanted`."""
    return _compare(repo, read_states(repo, vault, wanted, root=root, there=there), wanted)


class PathChanges(NamedTuple):
    """The paths that the plan removes, which make room for others, and the paths that it writes."""

    removed: Collection[str] = ()
    # The changed files too.
    added: Collection[str] = ()


NOTHING = PathChanges()


def read_states(
    repo: Repository,
    vault: Vault,
    wanted: Mapping[str, Entry | None],
    changes: PathChanges = NOTHING,
    root: str | None = None,
    there: Mapping[str, Entry] | None = None,
) -> dict[str, Entry | Blocked | None]:
    """Return the mode and blob that git would commit at each wanted path of the user's tree.

    Git reads the files through an index that holds these paths of HEAD and, over them, what is
    wanted, so filters and line ends work as for a file that is already as wanted. Objects go into
    the vault. A folder where a file is `added` counts as nothing if every file in it is `removed`.
    `there` is what `tree_and_rules` says of HEAD, if known. Another `root` is a folder of ours.
    """
    files = WorkingFiles(root or repo.root)
    there = tree_and_rules(repo.git, "HEAD", wanted) if there is None else there
    links = [path for path, entry in there.items() if entry.mode == GITLINK]
    states: dict[str, Entry | Blocked | None] = {}
    present: list[str] = []
    for path in wanted:
        found = _look_above(files, path, wanted, changes, links)
        if found is True:
            found = _look_there(files, path, wanted, changes)
        if found is True:
            present.append(path)
        states[path] = found if isinstance(found, Blocked) else None
    if present:
        with vault.scratch() as folder:
            git = quarantined(repo, vault, os.path.join(folder, "index"), files.root)
            fill_index(git, there, wanted, repo.zero)
            names = [os.fsencode(path) for path in present]
            with contextlib.nullcontext(git) if root else copied(git, names, folder) as lent:
                stage_names(lent, (), names)
            now = listed(git)
        states |= {path: now.get(path) for path in present}
    return states


def quarantined(repo: Repository, vault: Vault, index: str, root: str) -> Git:
    """Return a Git with the user's settings that stores its objects in the planner's repository.

    Whatever its working tree, filters start at the root of the user's, where their programs lie.
    """
    return repo.git.in_tree(root).on_index(index, GIT_OBJECT_DIRECTORY=vault.objects)


def _look_above(
    files: WorkingFiles,
    path: str,
    wanted: Mapping[str, Entry | None],
    changes: PathChanges,
    links: Sequence[str],
) -> bool | Blocked:
    """Return whether all parent folders of `path` exist, or a Blocked if one is no folder."""
    parts = path.split("/")
    for depth in range(1, len(parts)):
        parent = "/".join(parts[:depth])
        if parent in links:
            return Blocked(f"it lies in the submodule {parent}")
        there = files.reach(parent)
        if there is None:
            return False
        if not stat.S_ISDIR(there.st_mode):
            replaced = wanted[path] is None and wanted.get(parent) is not None
            what = "a symbolic link" if stat.S_ISLNK(there.st_mode) else "not a folder"
            blocked = Blocked(f"{parent}, where it should lie, is {what}")
            return False if replaced or parent in changes.removed else blocked
    return True


def _look_there(
    files: WorkingFiles, path: str, wanted: Mapping[str, Entry | None], changes: PathChanges
) -> bool | Blocked:
    """Return whether a file or link is at `path`, or a Blocked if something else is."""
    there = files.reach(path)
    if there is None:
        return False
    if stat.S_ISREG(there.st_mode) or stat.S_ISLNK(there.st_mode):
        return True
    if not stat.S_ISDIR(there.st_mode):
        return Blocked("at this path is something that is neither a file nor a link")
    if wanted[path] is None and path not in changes.added:
        return False
    left = _unplanned(files, path, changes.removed)
    return Blocked(f"at this path is a folder with {left} in it") if left else False


def _unplanned(files: WorkingFiles, folder: str, removed: Collection[str]) -> str | None:
    """Return one file below `folder` that the plan does not remove, or None if there is none."""
    for name in files.names(folder):
        path = f"{folder}/{name}"
        there = files.reach(path)
        if there is not None and stat.S_ISDIR(there.st_mode):
            if left := _unplanned(files, path, removed):
                return left
        elif path not in removed:
            return path
    return None


def _compare(
    repo: Repository,
    states: Mapping[str, Entry | Blocked | None],
    wanted: Mapping[str, Entry | None],
) -> list[Problem]:
    return [
        Problem("refused", path, difference(states[path], entry))
        for path, entry in wanted.items()
        if not same(repo, states[path], entry)
    ]


def same(repo: Repository, state: Entry | Blocked | None, entry: Entry | None) -> bool:
    """Return whether a file is as `entry` says; its mode counts where the file system has modes."""
    if isinstance(state, Blocked) or state is None or entry is None:
        return state == entry
    if state == entry:
        return True
    # Where the file system knows no x bit or no links, the mode on disk says nothing.
    key = "core.symlinks" if LINK in {state.mode, entry.mode} else "core.fileMode"
    return state.blob == entry.blob and not is_set(repo, key)


def is_set(repo: Repository, key: str) -> bool:
    """Return whether the git setting `key`, which is on by default, is on."""
    return repo.git.is_on(key, default=True)


def difference(state: Entry | Blocked | None, entry: Entry | None) -> str:
    """Return in words how a file differs from the `entry` that the plan expects."""
    if isinstance(state, Blocked):
        return f"is not as planned: {state}"
    if state is None:
        return f"is missing; the plan expects {_words(entry)}"
    if entry is None:
        return f"is {_words(state)}; the plan expects no file at this path"
    return f"is {_words(state)}; the plan expects {_words(entry)}"


def _words(entry: Entry | None) -> str:
    return f"blob {entry.blob[:12]} with mode {entry.mode}" if entry else "nothing"
