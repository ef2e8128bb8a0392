"""Write several files, links and folders so that all of it is done or, after a crash, none.

What is there before is kept in a folder of ours until everything is written. A journal that a
killed setup has left is undone by the next one.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import stat
from typing import TYPE_CHECKING, Any, NamedTuple

from cli.setup.record import readable
from shared.mode.sessions import sha256
from shared.paths import lies_in
from shared.resources import setup_path
from state.beneath import Beneath
from state.errors import Problem, Refused
from state.files import TEMPORARY, open_folder, read_json, write_atomic, write_in, write_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_JOURNAL, _COPIES = "journal.json", "before"
_MOST_BYTES = 1_000_000


class Content(NamedTuple):
    """What is at a path: a file's bytes and permission bits, or the target of a link."""

    data: bytes = b""
    mode: int = 0o644
    link: str = ""


class Change(NamedTuple):
    """A path to write; None in `after` removes it, None in `before` says that nothing is there."""

    path: str
    before: Content | None
    after: Content | None


def content_of(path: str) -> Content | None:
    """Return what is at a path, None if nothing is; Refused for what setup does not touch.

    That is anything but a link and a regular file of at most a megabyte.
    """
    try:
        found = os.lstat(path)
        if stat.S_ISLNK(found.st_mode):
            return Content(link=os.readlink(path))
        if not stat.S_ISREG(found.st_mode) or found.st_size > _MOST_BYTES:
            what = "a folder" if stat.S_ISDIR(found.st_mode) else "not a regular file of this size"
            raise Refused("refused", path, f"this is {what}; it was not changed", "move it away")
        with open(path, "rb") as file:
            return Content(file.read(), stat.S_IMODE(found.st_mode))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        text = f"cannot be read: {error.strerror}; it was not changed"
        raise Refused("refused", path, text, "make it readable for you") from None


@contextlib.contextmanager
def only_setup() -> Iterator[None]:
    """Hold the lock by which one setup of the user works at a time; undo what a killed one left."""
    os.makedirs(setup_path(), mode=0o700, exist_ok=True)
    path = setup_path("lock")
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        fcntl.flock(handle, fcntl.LOCK_EX)
        # Whoever held it may have removed it with all the rest.
        with contextlib.suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(handle), os.stat(path)):
                break
        os.close(handle)
        os.makedirs(setup_path(), mode=0o700, exist_ok=True)
    try:
        undo_unfinished()
        yield
    finally:
        os.close(handle)


def carry_out(changes: Sequence[Change], gone: Sequence[str] = (), project: str = "") -> None:
    """Make all changes, and remove the folders `gone` that are empty then.

    Below the folder `project` no link is followed. Raises Refused when one fails, after undoing
    those before it.
    """
    made = [folder for change in changes if change.after for folder in missing(change.path)]
    rows = [_row(number, change) for number, change in enumerate(changes)]
    folders = [*dict.fromkeys(made)]
    noted = {"changes": rows, "folders": folders, "gone": [*gone], "project": project}
    write_json(setup_path(_JOURNAL), noted)
    at = setup_path()
    try:
        for at in folders:
            with _around(at, project) as (folder, name):
                os.mkdir(name, dir_fd=folder)
        for at, _, after in changes:
            _write(at, after, project)
    except (OSError, Refused) as error:
        undo_unfinished()
        said = error.problems[0].problem if isinstance(error, Refused) else error.strerror
        text = f"{said}; every file is as it was"
        raise Refused("refused", at, text, "make it writable, then run it again") from None
    for at in gone:
        _remove_empty(at, project)
    os.unlink(setup_path(_JOURNAL))
    _forget_copies()


def missing(path: str) -> list[str]:
    """Return the folders above a path that are not there yet, the outermost first."""
    found: list[str] = []
    folder = os.path.dirname(path)
    while not os.path.isdir(folder):
        found.insert(0, folder)
        folder = os.path.dirname(folder)
    return found


def undo_unfinished() -> None:
    """Put back what was there before a setup that did not end; nothing to do without a journal.

    Raises Refused for a file that somebody has changed since; the copies stay where they are kept.
    """
    path = setup_path(_JOURNAL)
    Beneath(os.path.dirname(setup_path())).sweep(setup_path())
    if os.path.exists(path):
        with readable(path, "the journal of a setup that did not end"):
            journal = read_json(path)
            changes, folders, gone = (journal[name] for name in ("changes", "folders", "gone"))
            paths = [row["path"] for row in changes]
            project = journal.get("project", "")
        for changed in paths:
            _sweep_beside(changed)
        problems = [p for row in reversed(changes) for p in _put_back(row, project)]
        if problems:
            raise Refused.of(problems)
        for folder in reversed(folders):
            _remove_empty(folder, project)
        for folder in reversed(gone):
            os.makedirs(folder, exist_ok=True)
        os.unlink(path)
    _forget_copies()


def _row(number: int, change: Change) -> dict[str, Any]:
    """Return a change as the journal has it, with what was there kept as a copy."""
    before: Any = None
    if change.before:
        before = {"link": change.before.link, "mode": change.before.mode, "copy": str(number)}
        os.makedirs(setup_path(_COPIES), mode=0o700, exist_ok=True)
        write_atomic(setup_path(_COPIES, str(number)), change.before.data, 0o600)
    return {
        "path": change.path, "before": before,
        "marks": [_mark(change.before), _mark(change.after)],
    }  # fmt: skip


@contextlib.contextmanager
def _around(path: str, project: str) -> Iterator[tuple[int, str]]:
    """Yield the opened folder of a path and the name in it; raises OSError."""
    if project and lies_in(path, (project,)):
        folder, name = Beneath(project).opened(path)
    else:
        folder, name = open_folder(os.path.dirname(path)), os.path.basename(path)
    try:
        yield folder, name
    finally:
        os.close(folder)


def _remove_empty(path: str, project: str) -> None:
    with contextlib.suppress(OSError), _around(path, project) as (folder, name):
        os.rmdir(name, dir_fd=folder)


def _put_back(row: dict[str, Any], project: str) -> list[Problem]:
    path, kept = row["path"], row["before"]
    copy = setup_path(_COPIES, kept["copy"]) if kept else ""
    mark = _mark(content_of(path))
    if mark not in row["marks"]:
        said = f"a setup was killed, and this file was changed since; before it was {copy}"
        allowed = f"compare the two, then remove {setup_path(_JOURNAL)}"
        return [Problem("conflict", path, said if kept else "a killed setup made it", allowed)]
    if mark != row["marks"][0]:
        before = None
        if kept:
            with open(copy, "rb") as file:
                before = Content(file.read(), kept["mode"], kept["link"])
        for at in missing(path) if before else ():
            with _around(at, project) as (folder, name):
                os.mkdir(name, dir_fd=folder)
        _write(path, before, project)
    return []


def _mark(content: Content | None) -> str:
    """Return what tells one content from another."""
    if content is None:
        return ""
    return f"link {content.link}" if content.link else sha256(content.data)


def _write(path: str, content: Content | None, project: str) -> None:
    with _around(path, project) as (folder, name):
        if content is None:
            os.unlink(name, dir_fd=folder)
        elif content.link:
            temporary = f".{name}.{TEMPORARY}"
            os.symlink(content.link, temporary, dir_fd=folder)
            os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
        else:
            write_in(folder, name, content.data, content.mode)
        os.fsync(folder)


def _sweep_beside(path: str) -> None:
    """Remove the temporary files that a killed setup has left beside a path."""
    folder, name = os.path.split(path)
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        for found in os.listdir(folder):
            if found.startswith(f".{name}.") and found.endswith(TEMPORARY):
                os.unlink(os.path.join(folder, found))


def _forget_copies() -> None:
    shutil.rmtree(setup_path(_COPIES), ignore_errors=True)
