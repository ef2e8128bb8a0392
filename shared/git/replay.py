"""Write the files of an apply's journal to the user's tree, all as before or all as after."""

from __future__ import annotations

import contextlib
import os
import stat
from typing import TYPE_CHECKING

from shared.git.files import write_new
from shared.git.journal import SIDES, is_on_side, is_reached, load_copy, read_raw
from state.errors import Problem, Refused
from state.files import sync_folder

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from shared.git.journal import Journal, Move, Side, Stored


class Raced(Exception):  # noqa: N818 – another program saved the file; this is not an error of ours
    """Raised if another program changed a file before the write, which is not done."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path


def replay(
    root: str, folder: str, journal: Journal, side: Side, leave: Collection[str] = ()
) -> None:
    """Write the journal's files to the user's tree, as before or as after the apply (`side`).

    Raises Refused, before anything is changed, if a file is on neither side; OSError if the system
    fails, and Raced if another program writes meanwhile: then either side can be written again.
    Files to `leave` are ignored.
    """
    sweep(root, journal)
    moves = tuple(move for move in journal.moves if move.path not in leave)
    problems = check_sides(root, journal._replace(moves=moves))
    if problems:
        raise Refused.of(problems)
    _remove(root, journal, moves, side)
    for number, move in enumerate(journal.moves):
        stored = move.side(side)
        if stored is None or move not in moves or is_on_side(root, journal, move, side):
            continue
        data = load_copy(folder, stored)
        _make_folders(root, move.path, journal)
        _check_still(root, journal, move, side)
        _write(os.path.join(root, move.path), data, stored, _temporary(root, journal, number))


def check_sides(root: str, journal: Journal) -> list[Problem]:
    """Return a problem for each user's file that is neither as before the apply nor as after."""
    vanishing = {move.path for move in journal.moves if move.before is None or move.after is None}
    problems: list[Problem] = []
    for move in journal.moves:
        bad = _bad_parent(root, move.path, vanishing)
        before, after = (is_on_side(root, journal, move, side) for side in SIDES)
        if bad or not (before or after):
            text = bad or "has neither its content from before the apply nor the plan's content"
            allowed = "restore one of the two contents; both are in the run's folder `apply`"
            problems.append(Problem("refused", move.path, text, allowed))
    return problems


def _bad_parent(root: str, path: str, vanishing: set[str]) -> str | None:
    # Through a link that replaced a folder we would write outside the repository.
    parts = path.split("/")
    for depth in range(1, len(parts)):
        parent = "/".join(parts[:depth])
        try:
            mode = os.lstat(os.path.join(root, parent)).st_mode
        except FileNotFoundError:
            return None
        if not stat.S_ISDIR(mode):
            return None if parent in vanishing else f"its folder {parent} is no longer a folder"
    return None


def _check_still(root: str, journal: Journal, move: Move, side: Side) -> None:
    if not is_on_side(root, journal, move, "after" if side == "before" else "before"):
        raise Raced(move.path)


def _remove(root: str, journal: Journal, moves: Sequence[Move], side: Side) -> None:
    staying = {move.path for move in journal.moves if move.side(side) is not None}
    for move in sorted(moves, key=lambda move: move.path, reverse=True):
        target = os.path.join(root, move.path)
        if move.path not in staying and read_raw(root, move.path) is not None:
            _check_still(root, journal, move, side)
            os.unlink(target)
            sync_folder(os.path.dirname(target))
    for path in sorted(journal.folders, reverse=True):
        if not any(name.startswith(path + "/") for name in staying):
            _remove_folder(root, path, journal, side)


def _remove_folder(root: str, path: str, journal: Journal, side: Side) -> None:
    # A folder is removed with its last file, as git does; on undo only if the apply made it.
    target = os.path.join(root, path)
    other: Side = "after" if side == "before" else "before"
    emptied = any(m.path.startswith(path + "/") and m.side(other) for m in journal.moves)
    gone = emptied if side == "after" else journal.folders[path] is None
    if gone and os.path.isdir(target) and not os.path.islink(target):
        with contextlib.suppress(OSError):  # it holds something else, or is a mount point
            os.rmdir(target)
            sync_folder(os.path.dirname(target))


def _make_folders(root: str, path: str, journal: Journal) -> None:
    parts = path.split("/")[:-1]
    for depth in range(1, len(parts) + 1):
        folder = "/".join(parts[:depth])
        target = os.path.join(root, folder)
        if not os.path.isdir(target):
            os.mkdir(target)
            bits = journal.folders.get(folder)
            if bits is not None:
                os.chmod(target, bits)
            sync_folder(os.path.dirname(target))


def _write(target: str, data: bytes, stored: Stored, temporary: str) -> None:
    if os.path.isdir(target) and not os.path.islink(target):
        _clear_folders(target)
    if stored.raw.kind == "link":
        os.symlink(os.fsdecode(data), temporary)
    else:
        write_new(temporary, data, stored.bits)
    os.replace(temporary, target)
    sync_folder(os.path.dirname(target))


def _clear_folders(target: str) -> None:
    # With files in it the apply would not have started, so all folders in it are empty.
    for at, _folders, _files in os.walk(target, topdown=False):
        os.rmdir(at)


def _temporary(root: str, journal: Journal, number: int) -> str:
    # Beside the file, for a rename within one file system; the same name at every attempt.
    folder = os.path.dirname(journal.moves[number].path)
    return os.path.join(root, folder, f".planner-{journal.digest[:12]}-{number}.tmp")


def sweep(root: str, journal: Journal) -> None:
    """Remove the temporary files that an interrupted apply left in the user's tree."""
    for number, move in enumerate(journal.moves):
        if is_reached(root, move.path):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(_temporary(root, journal, number))
