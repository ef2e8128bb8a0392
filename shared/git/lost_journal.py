"""Write the damaged journal of an apply anew, from the plan and the copies beside it."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from shared.git.change import LINK, ends
from shared.git.journal import (
    SIDES,
    Journal,
    Move,
    Read,
    Stored,
    is_on_side,
    parent_folders,
    read_at,
    read_file,
    save_journal,
)
from shared.git.users_files import is_set
from state.working_files import WorkingFiles

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from shared.git.change import Change, Ends, Entry
    from shared.git.journal import Side, State
    from shared.git.repository import Repository


def rebuild_journal(
    repo: Repository, changes: Sequence[Change], folder: str, digest: str, *, is_applied: bool
) -> bool:
    """Write the journal in `folder` anew; how far the apply came is seen by the user's files.

    Where it is known to be done, they need not show it. Returns False, with nothing written, if not
    all of the journal's copies are there.
    """
    planned = ends(changes)
    moves: list[Move] = []
    for number, (path, end) in enumerate(planned.items()):
        found = {side: _copy(repo, folder, side, number, path, end) for side in SIDES}
        if any(getattr(end, side) and found[side] is None for side in SIDES):
            return False
        moves.append(Move(path, found["before"], found["after"]))
    x_bits, folders = is_set(repo, "core.fileMode"), _folders(repo, planned)
    journal = Journal(digest, "applying", x_bits, tuple(moves), folders)
    came = "applied" if is_applied else _state(repo, journal)
    save_journal(folder, journal._replace(state=came))
    return bool(moves)


def _copy(
    repo: Repository, folder: str, side: Side, number: int, path: str, end: Ends
) -> Stored | None:
    """Return what the journal knows of one copy, None without it."""
    entry: Entry | None = getattr(end, side)
    found = read_at(None, os.path.join(folder, side, f"{number:03d}"))
    if entry is None or found is None:
        return None
    there = read_file(repo.root, path)
    kind = "link" if entry.mode == LINK else "file"
    bits = there.bits if there and there.kind == kind == "file" else 0o644
    executable = entry.mode == "100755"
    bits = bits | (bits & 0o444) >> 2 if executable else bits & ~0o111
    bits = 0o777 if kind == "link" else bits
    return Stored(Read(kind, bits, found.data).raw, bits, f"{side}/{number:03d}")


def _state(repo: Repository, journal: Journal) -> State:
    """Return how far the apply came: all before, all after, or something between the two."""
    sides: dict[Side, State] = {"after": "applied", "before": "undone"}
    for side, state in sides.items():
        if all(is_on_side(repo.root, journal, move, side) for move in journal.moves):
            return state
    return "applying"


def _folders(repo: Repository, planned: Mapping[str, Ends]) -> dict[str, int | None]:
    """Return the parent folders as they were before: those with nothing else the apply has made."""
    found = parent_folders(repo.root, list(planned))
    made = {name for name in found if _is_made(repo.root, name, planned)}
    return {name: None if name in made else bits for name, bits in found.items()}


def _is_made(root: str, folder: str, planned: Mapping[str, Ends]) -> bool:
    added = {path for path, end in planned.items() if end.before is None}
    there = WorkingFiles(root).reach(folder)
    if there is None or not stat.S_ISDIR(there.st_mode):
        return all(path in added for path in planned if path.startswith(f"{folder}/"))
    names = [os.path.join(at, name) for at, _, files in os.walk(os.path.join(root, folder))
             for name in files]  # fmt: skip
    return bool(names) and all(os.path.relpath(name, root) in added for name in names)
