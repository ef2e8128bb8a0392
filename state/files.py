"""Locks, atomic writes and safe reads of the planner's files; imports only the standard library."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import stat
import sys
import time

from state.errors import Refused
from state.journals import APPLY_JOURNAL, MILESTONES, PLANNER, REVERT_JOURNAL

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import TracebackType
    from typing import Any, Self

TEMPORARY = ".planner-tmp"
# What SQLite keeps beside a database, while it writes and after a crash.
SQLITE_TAILS = ("", "-journal", "-wal", "-shm")
LOCK_TIMEOUT_S = 30.0
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class Lock:
    """An exclusive file lock on a run's state directory; the kernel frees it when the process ends.

    The file is never renamed or removed. Raises Refused (`locked`) with the holder when the
    deadline passes.
    """

    def __init__(self, path: str, command: str, timeout_s: float = LOCK_TIMEOUT_S) -> None:
        self.path = path
        self.command = command
        self.timeout_s = timeout_s
        self._descriptor = -1

    def __enter__(self) -> Self:
        """Wait for the lock, write who holds it, remove killed writers' temporary files."""
        # Not by the whole path: a link in the folder's place would be written through.
        around, name = os.path.split(self.path)
        try:
            folder = open_folder(around)
        except OSError as error:
            raise unusable(self.path, error) from None
        try:
            self._take(folder, name)
        finally:
            os.close(folder)
        return self

    def _take(self, folder: int, name: str) -> None:
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        try:
            self._descriptor = os.open(name, flags, 0o600, dir_fd=folder)
            if os.fstat(self._descriptor).st_size == 0:
                os.fchmod(self._descriptor, 0o600)  # a umask may have taken our own right away
        except OSError as error:
            raise unusable(self.path, error) from None
        try:
            self._wait()
            note = {"pid": os.getpid(), "start": int(time.time()), "command": self.command}
            os.ftruncate(self._descriptor, 0)
            os.pwrite(self._descriptor, json.dumps(note).encode(), 0)
            sweep(folder)
        except BaseException as error:
            os.close(self._descriptor)  # releases the lock
            if isinstance(error, OSError):
                raise unusable(self.path, error) from None
            raise

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        os.close(self._descriptor)

    def _wait(self) -> None:
        deadline = time.monotonic() + self.timeout_s
        told = False
        while True:
            try:
                fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                pass
            else:
                return
            left = deadline - time.monotonic()
            if left < 0:
                text = f"another command is using the state directory: {self._holder()}"
                raise Refused(
                    "locked", self.path, text, "wait until that command ends, then run yours again"
                )
            if not told and left < self.timeout_s - 1:
                told = True
                sys.stderr.write(f"waiting for {self._holder()}\n")
            time.sleep(0.02)

    def _holder(self) -> str:
        try:
            note = json.loads(os.pread(self._descriptor, 4096, 0) or b"{}")
            return f"pid {note['pid']} since {note['start']} (unix seconds): {note['command']}"
        except (ValueError, KeyError, TypeError, RecursionError):
            return "a command that has just started"


def unusable(path: str, error: OSError) -> Refused:
    """Return the Refused exception that explains why the operating system denied using a file."""
    text = f"{error.strerror or error} ({error.__class__.__name__}); nothing was changed"
    way = "use a folder that can be written"
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        way = "make room on the disk"
    return Refused("refused", path, text, f"{way}, then run the same command again")


def refuse_links(paths: Iterable[str]) -> None:
    """Raise Refused if one of these paths of ours is a symbolic link: it leads to another's file.

    A repository can hold such links, as it can hold any file.
    """
    found = [path for path in paths if os.path.islink(path)]
    if found:
        text = "is a symbolic link, and the planner writes only in folders and files of its own"
        allowed = "move the link away and put back what was there; then run the same command again"
        raise Refused("refused", min(found), text, allowed)


def refuse_linked_database(path: str) -> None:
    """Raise Refused if a database, its folder, or what SQLite keeps beside it is a link."""
    refuse_links([os.path.dirname(path), *(path + tail for tail in SQLITE_TAILS)])


def sweep(folder: int) -> None:
    """Remove the temporary files that killed processes left in an opened folder of ours.

    The caller holds the lock.
    """
    for name in os.listdir(folder):
        if name.endswith(TEMPORARY):
            os.unlink(name, dir_fd=folder)
        elif name in (APPLY_JOURNAL, REVERT_JOURNAL, MILESTONES):
            try:
                inside = os.open(name, _FOLDER, dir_fd=folder)
            except NotADirectoryError:
                continue
            try:
                sweep(inside)
            finally:
                os.close(inside)


def sweep_beside(path: str) -> None:
    """Remove what killed writers of one file left beside it, in a folder that no lock guards."""
    name = os.path.basename(path)
    folder = open_folder(os.path.dirname(path))
    try:
        for found in os.listdir(folder):
            owner = found.removeprefix(f".{name}.").removesuffix(TEMPORARY)
            is_ours = owner.isdigit() and found == f".{name}.{owner}{TEMPORARY}"
            if is_ours and _has_ended(int(owner)):
                _discard(folder, found)
    finally:
        os.close(folder)


def _has_ended(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False


def write_atomic(path: str, data: bytes, mode: int | None = None) -> None:
    """Write a file so that a crash leaves either its old or its new content, never a mixture.

    `mode` is the permission bits; None keeps the old file's, 0600 for a new one. A failure of
    the system raises Refused and leaves the old file.
    """
    try:
        folder = open_folder(os.path.dirname(path))
    except OSError as error:
        raise unusable(path, error) from None
    try:
        write_in(folder, os.path.basename(path), data, mode)
    except OSError as error:
        raise unusable(path, error) from None
    try:
        os.fsync(folder)
    except OSError as error:
        text = f"the file was written, but a crash may lose it: {error.strerror or error}"
        raise Refused("refused", path, text, "run the command again") from None
    finally:
        os.close(folder)


def open_folder(path: str) -> int:
    """Open a folder by its path; no link is followed behind a `.planner` in it. Raises OSError."""
    path = os.path.abspath(path)
    around, ours, inside = path.partition(f"{os.sep}{PLANNER}{os.sep}")
    folder = os.open(f"{around}{ours}" if ours else path, _FOLDER & ~os.O_NOFOLLOW)
    for name in filter(None, inside.split(os.sep)):
        try:
            inner = os.open(name, _FOLDER, dir_fd=folder)
        finally:
            os.close(folder)
        folder = inner
    return folder


def write_in(folder: int, name: str, data: bytes, mode: int | None = None) -> None:
    """Write a file of an opened folder so that a crash leaves its old or its new content.

    The same as `write_atomic`, but for the sync of the folder; raises OSError.
    """
    temporary = f".{name}.{os.getpid()}{TEMPORARY}"
    try:
        if mode is None:
            mode = _mode_of(folder, name)
        _discard(folder, temporary)
        fill(os.open(temporary, _NEW, mode, dir_fd=folder), data, mode)
        os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    except OSError:
        # What is left is removed by the lock's next holder.
        _discard(folder, temporary)
        raise


def _mode_of(folder: int, name: str) -> int:
    try:
        return os.stat(name, dir_fd=folder).st_mode & 0o777
    except FileNotFoundError:
        return 0o600


def _discard(folder: int, name: str) -> None:
    try:
        os.unlink(name, dir_fd=folder)
    except OSError:
        return


def fill(descriptor: int, data: bytes, mode: int) -> None:
    """Write a new file that was just opened, so that a crash does not lose it, and close it."""
    try:
        os.fchmod(descriptor, mode)
        view = memoryview(data)
        while view:
            view = view[os.write(descriptor, view) :]
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_folder(folder: str) -> None:
    """Run fsync on a folder, so that new and renamed files in it survive a crash."""
    descriptor = os.open(folder or ".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def read_bytes(path: str, opener: Callable[[str, int], int] | None = None) -> bytes:
    """Return the bytes of a planner file; raise Refused (`not_found`) if the file is missing.

    A pipe, socket or device is refused at once: reading one may never end. `opener` opens the path
    in its own way.
    """
    try:
        # All is read at once, so a buffer would only cost time.
        with open(path, "rb", buffering=0, opener=opener or _open_without_waiting) as file:
            if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return file.read()
    except FileNotFoundError:
        allowed = "name the state directory that `planner start` printed"
        raise Refused("not_found", path, "there is no such file", allowed) from None
    except OSError as error:
        raise unusable(path, error) from None
    text = "this is a pipe, a socket or a device, which is not read"
    raise Refused("refused", path, text, "remove it and write a regular file at this path")


def _open_without_waiting(path: str, flags: int) -> int:
    """Open a file for reading without waiting for the other end of a pipe."""
    return os.open(path, flags | os.O_NONBLOCK)


def read_text(path: str) -> str:
    """Return the text of a file; bytes that are not UTF-8 are replaced by the character �."""
    return read_bytes(path).decode("utf-8", "replace")


def named_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the object of these pairs; ValueError if two of them have one name.

    Readers differ in which of the two they take, so such a file says one thing to a person and
    another to a program (RFC 8785 forbids it).
    """
    value = dict(pairs)
    if len(value) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in value if names.count(name) > 1)
        raise ValueError(f"an object has the name {twice!r} twice")
    return value


def parse_json(data: bytes, path: str) -> Any:  # noqa: ANN401 – any JSON value
    """Return the JSON value parsed from bytes; raise Refused with the place of a syntax error.

    A name that stands twice in one object is an error too.
    """
    try:
        return json.loads(data.decode("utf-8"), object_pairs_hook=named_once)
    except UnicodeDecodeError as error:
        text = f"the file is not UTF-8 at byte {error.start}; it was not changed"
    except RecursionError:
        text = "the JSON is nested too deeply to be read; the file was not changed"
    except ValueError as error:
        # Python's own words for it name a function of Python.
        why = "a number has too many digits" if "sys.set_int_max" in str(error) else error
        text = f"the file is not JSON: {why}; it was not changed"
    raise Refused("invalid", path, text, "write valid JSON in UTF-8")


def read_json(path: str) -> Any:  # noqa: ANN401 – any JSON value
    """Return the JSON value in a file; raise Refused if the file is missing or is not JSON."""
    return parse_json(read_bytes(path), path)


def write_json(path: str, value: object) -> None:
    """Write a value as a JSON file, indented so that people can read it."""
    write_atomic(path, json.dumps(value, indent=2, ensure_ascii=False).encode() + b"\n")
