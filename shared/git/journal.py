"""The journal of an apply: the user's files before and after, and how far the apply got.

`journal.json` is written after the bytes of both sides are on disk and before the first of the
user's files changes. From then on either side can be written, any number of times (PL-31).
"""

from __future__ import annotations

import contextlib
import json
import os
import stat
from typing import TYPE_CHECKING, Literal, NamedTuple, cast

from shared.git.files import folder_of, remove_tree, write_new
from state.errors import Problem, Refused
from state.files import sync_folder, write_atomic
from state.kept_files import damaged
from state.working_files import WorkingFiles

if TYPE_CHECKING:
    from collections.abc import Sequence

State = Literal["applying", "applied", "undoing", "undone"]
Side = Literal["before", "after"]

SIDES: tuple[Side, Side] = ("before", "after")

_VERSION = 1
_STATES: dict[str, State] = {
    "applying": "applying", "applied": "applied", "undoing": "undoing", "undone": "undone",
}  # fmt: skip


class Read(NamedTuple):
    """A file's kind, permission bits and bytes; of a link, its target."""

    kind: str
    bits: int
    data: bytes

    @property
    def raw(self) -> Raw:
        """What is compared of it."""
        executable = self.kind == "file" and bool(self.bits & stat.S_IXUSR)
        return Raw(self.kind, _sha256(self.data), executable)


class Raw(NamedTuple):
    """A file as it is on disk."""

    # File or link.
    kind: str
    # Of its bytes.
    sha256: str
    executable: bool


class Stored(NamedTuple):
    """A file before or after an apply: type and hash, permissions, name of its stored copy."""

    raw: Raw
    bits: int
    copy: str


class Move(NamedTuple):
    """One path in the journal of an apply, with its file before and after; None means no file."""

    path: str
    before: Stored | None
    after: Stored | None

    def side(self, side: Side) -> Stored | None:
        """Return the file before the apply or the file after the apply, as `side` says."""
        return self.before if side == "before" else self.after


class Journal(NamedTuple):
    """The record of an apply."""

    digest: str
    state: State
    # Whether the file system has x bits (`core.fileMode`); if not, they are ignored.
    x_bits: bool
    moves: tuple[Move, ...]
    # Each parent folder's permissions, None if missing.
    folders: dict[str, int | None]


def journal_file(folder: str) -> str:
    """Return the path of the journal itself, in its folder."""
    return os.path.join(folder, "journal.json")


def journal_state(folder: str) -> State | None:
    """Return the state in the journal in `folder`, such as `applied`; None without a journal."""
    journal = load_journal(folder)
    return journal.state if journal else None


def load_journal(folder: str) -> Journal | None:
    """Return the journal in `folder`, None if it is missing; raise Refused if it is damaged."""
    path = journal_file(folder)
    try:
        with open(path, "rb") as file:
            data = json.loads(file.read())
        if data["version"] != _VERSION:
            text = (
                f"the journal has version {data['version']}; this planner reads version {_VERSION}"
            )
            raise Refused(
                "refused",
                path,
                text,
                allowed="use the planner that wrote the journal, or a newer one",
            )
        moves = tuple(
            Move(row["path"], _stored(row["before"]), _stored(row["after"]))
            for row in data["moves"]
        )
        state = _STATES[data["state"]]
        return Journal(data["digest"], state, data["x_bits"], moves, data["folders"])
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
        kept = "the files' old and new content lies in the same folder"
        raise damaged(path, f"{error!r}; {kept}") from error


def _stored(row: list[object] | None) -> Stored | None:
    if row is None:
        return None
    kind, sha256, executable, bits, copy = cast("tuple[str, str, bool, int, str]", row)
    return Stored(Raw(kind, sha256, executable), bits, copy)


def _row(stored: Stored | None) -> list[object] | None:
    return [*stored.raw, stored.bits, stored.copy] if stored else None


def save_journal(folder: str, journal: Journal) -> None:
    """Write the journal into `folder` and sync it to disk, in place of an older one."""
    data = {
        "version": _VERSION,
        "digest": journal.digest,
        "state": journal.state,
        "x_bits": journal.x_bits,
        "moves": [
            {"path": move.path, "before": _row(move.before), "after": _row(move.after)}
            for move in journal.moves
        ],
        "folders": journal.folders,
    }
    text = json.dumps(data, ensure_ascii=True, indent=1).encode() + b"\n"
    write_atomic(journal_file(folder), text, 0o600)


def read_at(folder: int | None, name: str) -> Read | None:
    """Return the file or link with a name in an opened folder, None for nothing.

    A folder counts as nothing: only files are compared, and a folder in the way is found when the
    file is written. Anything else has the kind `other`, which equals no file.
    """
    try:
        mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
        if stat.S_ISLNK(mode):
            return Read("link", 0o777, os.fsencode(os.readlink(name, dir_fd=folder)))
        if stat.S_ISDIR(mode):
            return None
        if not stat.S_ISREG(mode):
            return Read("other", 0, b"")
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        fd = os.open(name, flags, dir_fd=folder)
        with os.fdopen(fd, "rb") as file:
            return Read("file", stat.S_IMODE(mode), file.read())
    except (FileNotFoundError, NotADirectoryError):
        return None


def read_file(root: str, path: str) -> Read | None:
    """Return the file or link at a path below `root`, None for nothing or behind a link."""
    with (
        contextlib.suppress(FileNotFoundError, NotADirectoryError),
        folder_of(root, path) as (folder, name),
    ):
        return read_at(folder, name)
    return None


def _sha256(data: bytes) -> str:
    import hashlib  # not at the top: OpenSSL is slow to load, and most only ask for the state

    return hashlib.sha256(data).hexdigest()


def is_on_side(root: str, journal: Journal, move: Move, side: Side) -> bool:
    """Return whether the user's file is as before the apply, or as after it, as `side` says."""
    return is_same(journal, read_file(root, move.path), move.side(side))


def is_same(journal: Journal, found: Read | None, stored: Stored | None) -> bool:
    """Return whether a file is the one that an apply has stored; None means no file."""
    if found is None or stored is None:
        return found is None and stored is None
    raw = found.raw
    return raw == stored.raw or (not journal.x_bits and raw[:2] == stored.raw[:2])


def store(folder: str, copy: str, found: Read | None, bits: int | None = None) -> Stored | None:
    """Write what was read of a file to `folder`/`copy`; return its type and hash, None for no file.

    `bits` are the permission bits to remember instead of the file's own.
    """
    if found is None:
        return None
    bits = found.bits if bits is None else bits
    write_new(os.path.join(folder, copy), found.data, 0o600)
    return Stored(found._replace(bits=bits).raw, bits, copy)


def load_copy(folder: str, stored: Stored) -> bytes:
    """Return the bytes of a file copy in the journal; Refused if they do not match their hash."""
    path = os.path.join(folder, stored.copy)
    found = read_at(None, path)
    if found is None or _sha256(found.data) != stored.raw.sha256:
        text = "the journal's copy of this file is missing or damaged"
        raise Refused("invalid", path, text, "restore the copy from a backup")
    return found.data


def check_copies(folder: str, journal: Journal, side: Side) -> list[Problem]:
    """Return a problem for each of the journal's file copies that is missing or damaged."""
    problems: list[Problem] = []
    for move in journal.moves:
        stored = move.side(side)
        try:
            if stored is not None:
                load_copy(folder, stored)
        except Refused as refusal:
            problems += refusal.problems
    return problems


def empty_journal(folder: str) -> None:
    """Make `folder` an empty journal folder; remove what an abandoned apply left in it."""
    remove_tree(folder)
    for name in ("before", "after"):
        os.makedirs(os.path.join(folder, name))


def seal_copies(folder: str) -> None:
    """Sync the folders of file copies to disk, before a journal refers to the copies."""
    for name in ("before", "after", ""):
        sync_folder(os.path.join(folder, name))
    sync_folder(os.path.dirname(os.path.abspath(folder)))


def parent_folders(root: str, paths: Sequence[str]) -> dict[str, int | None]:
    """Return the permission bits of each parent folder of `paths`, None for a missing folder."""
    found: dict[str, int | None] = {}
    files = WorkingFiles(root)
    for path in paths:
        parts = path.split("/")[:-1]
        for depth in range(1, len(parts) + 1):
            folder = "/".join(parts[:depth])
            there = files.reach(folder)
            is_folder = there is not None and stat.S_ISDIR(there.st_mode)
            found[folder] = stat.S_IMODE(there.st_mode) if there and is_folder else None
    return found
