"""Stage what belongs to completed requirements: the plan's files and the planning folder (RL-9)."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, NamedTuple

from orchestrator.requirements_lane.temporary import is_temporary
from shared import archive
from shared.git.change import Entry, ends, listed
from shared.git.copies import copied
from shared.git.proof import Staged
from shared.git.repository import PLANNER, within
from shared.git.stage import refresh_names, stage_names
from shared.known_secrets import is_secret_in
from state.changes import plan_changes
from state.errors import Problem, Refused
from state.working_files import WorkingFiles

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from shared.git.repository import Repository
    from shared.requirements_record import Lane
    from shared.run import State
    from state.models import Plan


class Sorted(NamedTuple):
    """The changed files of a repository: to be staged, left to the user, left out as temporary."""

    ours: list[str]
    others: list[str]
    left_out: list[str]


def planned_files(run: State | None, plan: Plan | None) -> set[str]:
    """Return the files of an applied plan, but those accepted to differ, and the plan's copy."""
    if run is None or plan is None:
        return set()
    accepted = run.database.deviations(run.run)
    files = {path for path in ends(plan_changes(plan)) if not accepted.get(path)}
    return {*files, *archive.paths(run)}


def ignored_files(repository: Repository) -> list[str]:
    """Return what git ignores in the working tree, a whole folder as one path that ends in `/`."""
    rows = repository.git.names(
        "status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=normal",
        "--ignored=traditional", "--ignore-submodules=all",
    )  # fmt: skip
    names = (os.fsdecode(row[3:]) for row in rows if row.startswith(b"!!"))
    return sorted(n for n in names if not within(n, PLANNER) and n.isprintable())


def sort_changed(
    repository: Repository, facts: Lane, planned: Collection[str], aside: Collection[str]
) -> Sorted:
    """Return the changed files, sorted; `planned` are to be staged, those `aside` are not shown.

    What git ignores is not among them.
    """
    folder = os.path.relpath(facts.folder, repository.root)
    found = Sorted([], [], [])
    for path in changed_files(repository):
        inside = within(path, folder)
        if path in planned or path in facts.wanted:
            found.ours.append(path)
        elif path in aside:
            continue
        elif is_temporary(path):
            found.left_out.append(path)
        elif inside and not is_secret_in(*os.path.split(path)) and path not in facts.taken_back:
            found.ours.append(path)
        else:
            found.others.append(path)
    return found


def taken_back(repository: Repository, facts: Lane, needed: Collection[str]) -> list[str]:
    """Return the staged files that the user has unstaged since; none that the commit needs."""
    now, before = listed(repository.git), _at_head(repository, facts.staged)
    return [
        path
        for path, entry in facts.staged.items()
        if path not in needed and now.get(path) == before.get(path) != _recorded(entry)
    ]


def unstage(repository: Repository, facts: Lane, paths: Iterable[str]) -> None:
    """Put what HEAD has back into the index for files that are staged as it was shown."""
    now, before = listed(repository.git), _at_head(repository, facts.staged)
    ours = [p for p in paths if p in facts.staged and now.get(p) == _recorded(facts.staged[p])]
    rows = []
    for path in ours:
        entry = before.get(path) or Entry("0", repository.zero)
        rows.append(f"{entry.mode} {entry.blob}\t{path}\0".encode("utf-8", "surrogateescape"))
    if rows:
        repository.git.run("update-index", "-z", "--index-info", stdin=b"".join(rows))


def _at_head(repository: Repository, paths: Collection[str]) -> dict[str, Entry]:
    """Return mode and blob of those of the paths that HEAD has."""
    rows = repository.git.names("ls-tree", "-r", "-z", "--full-tree", "HEAD")
    found = {}
    for row in rows:
        meta, name = row.split(b"\t", 1)
        mode, _, blob = meta.decode().split(" ")
        if (path := os.fsdecode(name)) in paths:
            found[path] = Entry(mode, blob)
    return found


def changed_files(repository: Repository) -> list[str]:
    """Return every path that differs from HEAD or is untracked, in order, each file by itself.

    Submodules, other repositories and names that are not UTF-8 are left out.
    """
    rows = repository.git.names(
        "status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=all",
        "--ignore-submodules=all",
    )  # fmt: skip
    names = {os.fsdecode(row[3:]) for row in rows if not row.endswith(b"/")}
    return sorted(n for n in names if not within(n, PLANNER) and n.isprintable())


def stage(repository: Repository, paths: Iterable[str], folder: str) -> dict[str, list[str] | None]:
    """Stage files as they are now; return each path's mode and blob, None for a removed file.

    `folder` is one of ours, for the copies that git reads.
    """
    names, now = sorted(paths), listed(repository.git)
    present = {os.fsencode(name) for name in names if _is_file(repository, name)}
    gone = {os.fsencode(name) for name in names if name in now} - present
    if gone or present:
        with copied(repository.git, present, folder) as lent:
            stage_names(lent, gone, present)
        refresh_names(repository.git, present)
        now = listed(repository.git)
    return {name: list(now[name]) if name in now else None for name in names}


def as_entries(staged: dict[str, list[str] | None], plan: Plan | None) -> dict[str, Staged]:
    """Return mode and blob of each staged path that is not one of the plan's."""
    planned = ends(plan_changes(plan)) if plan else {}
    return {path: Staged(_recorded(entry)) for path, entry in staged.items() if path not in planned}


def check_unchanged(
    repository: Repository, staged: dict[str, list[str] | None], again: str
) -> None:
    """Raise Refused for each file that has changed since it was staged, in tree or index."""
    now = listed(repository.git)
    moved = {path for path, entry in staged.items() if _recorded(entry) != now.get(path)}
    shape = ("-z", "--name-only", "--no-ext-diff", "--no-textconv", "--ignore-submodules=all")
    rows = repository.git.names("diff", *shape)
    moved |= {os.fsdecode(row) for row in rows} & {*staged}
    moved |= {p for p, entry in staged.items() if entry is None and _is_file(repository, p)}
    if moved:
        text = "has changed since it was staged, so it is not what the user has seen"
        raise Refused.of(
            [
                Problem("conflict", path, text, "stage it again and show the user", again)
                for path in sorted(moved)
            ]
        )


def _recorded(entry: list[str] | None) -> Entry | None:
    return None if entry is None else Entry(entry[0], entry[1])


def _is_file(repository: Repository, path: str) -> bool:
    """Return whether there is a file, or a link itself, to which no link leads."""
    found = WorkingFiles(repository.root).reach(path)
    return found is not None and not stat.S_ISDIR(found.st_mode)
