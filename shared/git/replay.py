"""Write the files of an apply's journal to the user's tree, all as before or all as after.

A file is compared, written and removed in one opened folder: none that becomes a link leads
elsewhere (PP-9).
"""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

from shared.git.files import folder_of, write_new
from shared.git.journal import SIDES, is_same, load_copy, read_at, read_file
from state.errors import Problem, Refused
from state.removal import remove_hollow

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from shared.git.journal import Journal, Move, Read, Side, Stored


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
    made: set[str] = set()
    for number, move in enumerate(journal.moves):
        stored = move.side(side)
        if stored is None or move not in moves:
            continue
        _make_folders(root, move.path, journal, made)
        with folder_of(root, move.path) as (at, name):
            found = read_at(at, name)
            if not is_same(journal, found, stored):
                _check_still(found, journal, move, side)
                _write(at, name, load_copy(folder, stored), stored, _temporary(journal, number))


def check_sides(root: str, journal: Journal) -> list[Problem]:
    """Return a problem for each user's file that is neither as before the apply nor as after."""
    vanishing = {move.path for move in journal.moves if move.before is None or move.after is None}
    problems: list[Problem] = []
    for move in journal.moves:
        bad = _bad_parent(root, move.path, vanishing)
        found = read_file(root, move.path)
        if bad or not any(is_same(journal, found, move.side(side)) for side in SIDES):
            text = bad or "has neither its content from before the apply nor the plan's content"
            allowed = "restore one of the two contents; both are in the run's folder `apply`"
            problems.append(Problem("refused", move.path, text, allowed))
    return problems


def _bad_parent(root: str, path: str, vanishing: set[str]) -> str | None:
    # Through a link that replaced a folder we would write outside the repository.
    try:
        with folder_of(root, path):
            return None
    except FileNotFoundError:
        return None
    except NotADirectoryError as error:
        parent = os.path.relpath(error.filename, root)
        return None if parent in vanishing else f"its folder {parent} is no longer a folder"


def _check_still(found: Read | None, journal: Journal, move: Move, side: Side) -> None:
    """Raise Raced if what was found in a file's place is not what was to be there so far."""
    if not is_same(journal, found, move.side("after" if side == "before" else "before")):
        raise Raced(move.path)


def _remove(root: str, journal: Journal, moves: Sequence[Move], side: Side) -> None:
    staying = {move.path for move in journal.moves if move.side(side) is not None}
    for move in sorted(moves, key=lambda move: move.path, reverse=True):
        if move.path in staying:
            continue
        with (
            contextlib.suppress(FileNotFoundError, NotADirectoryError),
            folder_of(root, move.path) as (at, name),
        ):
            if found := read_at(at, name):
                _check_still(found, journal, move, side)
                os.unlink(name, dir_fd=at)
                os.fsync(at)
    for path in sorted(journal.folders, reverse=True):
        if not any(name.startswith(path + "/") for name in staying):
            _remove_folder(root, path, journal, side)


def _remove_folder(root: str, path: str, journal: Journal, side: Side) -> None:
    # A folder is removed with its last file, as git does; on undo only if the apply made it.
    other: Side = "after" if side == "before" else "before"
    emptied = any(m.path.startswith(path + "/") and m.side(other) for m in journal.moves)
    gone = emptied if side == "after" else journal.folders[path] is None
    if gone:
        # It may hold something else, be a mount point, or be a folder no longer.
        with contextlib.suppress(OSError), folder_of(root, path) as (at, name):
            os.rmdir(name, dir_fd=at)
            os.fsync(at)


def _make_folders(root: str, path: str, journal: Journal, made: set[str]) -> None:
    """Make the folders of a path, but those that are `made` or there; they are made then."""
    parts = path.split("/")[:-1]
    for depth in range(1, len(parts) + 1):
        folder = "/".join(parts[:depth])
        if folder in made:
            continue
        made.add(folder)
        with folder_of(root, folder) as (at, name), contextlib.suppress(FileExistsError):
            os.mkdir(name, dir_fd=at)
            bits = journal.folders.get(folder)
            if bits is not None:
                _set_bits(at, name, bits)
            os.fsync(at)


def _set_bits(at: int, name: str, bits: int) -> None:
    """Give a folder these permission bits, and not another that a link leads to."""
    folder = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=at)
    try:
        os.fchmod(folder, bits)
    finally:
        os.close(folder)


def _write(at: int, name: str, data: bytes, stored: Stored, temporary: str) -> None:
    # With files in a folder of this name the apply would not have started.
    remove_hollow(at, name)
    if stored.raw.kind == "link":
        os.symlink(os.fsdecode(data), temporary, dir_fd=at)
    else:
        write_new(temporary, data, stored.bits, at)
    os.replace(temporary, name, src_dir_fd=at, dst_dir_fd=at)
    os.fsync(at)


def _temporary(journal: Journal, number: int) -> str:
    # Beside the file, for a rename within one file system; the same name at every attempt.
    return f".planner-{journal.digest[:12]}-{number}.tmp"


def sweep(root: str, journal: Journal) -> None:
    """Remove the temporary files that an interrupted apply left in the user's tree."""
    for number, move in enumerate(journal.moves):
        with (
            contextlib.suppress(FileNotFoundError, NotADirectoryError),
            folder_of(root, move.path) as (at, _),
        ):
            os.unlink(_temporary(journal, number), dir_fd=at)
