"""Open, write and remove files for the git code; atomic writes are in `state.files`."""

from __future__ import annotations

import contextlib
import errno
import os
from typing import TYPE_CHECKING

from state.beneath import Beneath
from state.errors import Refused
from state.files import open_folder
from state.removal import remove_all

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextlib.contextmanager
def refusing() -> Iterator[None]:
    """Turn an OSError (disk full, no permission) into Refused; usable as `with` or decorator."""
    try:
        yield
    except OSError as error:
        raise refused(error) from error


def refused(error: OSError) -> Refused:
    """Return the Refused for an OSError, such as a full disk or no permission."""
    where = str(error.filename or "files")
    full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    cause = "make room on the disk" if full else "fix the cause"
    allowed = f"{cause}, then run the same command again"
    return Refused("refused", where, error.strerror or str(error), allowed)


@contextlib.contextmanager
def folder_of(root: str, path: str) -> Iterator[tuple[int, str]]:
    """Yield the opened folder of a path below `root` and the name in it; no link leads to it.

    Raises OSError that names the folder which cannot be opened: NotADirectoryError for a link. What
    fails in the folder is given the file's whole path.
    """
    folder, name = Beneath(root).opened(path)
    try:
        yield folder, name
    except OSError as error:
        if not os.path.isabs(str(error.filename)):
            error.filename = os.path.join(root, path)
        raise
    finally:
        os.close(folder)


def write_new(path: str, data: bytes, mode: int, folder: int | None = None) -> None:
    """Write a file that must not exist yet and sync it to disk; no link is followed.

    With an opened `folder`, the path is a name in it.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    fd = os.open(path, flags, 0o600, dir_fd=folder)
    with os.fdopen(fd, "wb") as file:
        file.write(data)
        file.flush()
        os.fchmod(fd, mode)
        os.fsync(fd)


def remove_behind(path: str) -> None:
    """Remove one of the planner's folders with very many files, by a process that goes on alone.

    The folder has its name no longer at once. What a killed process leaves, `prune` removes.
    """
    gone = f"{path}.{os.getpid()}-gone"
    os.rename(path, gone)
    words = ["rm", "-rf", "--", gone]
    quiet = [(os.POSIX_SPAWN_OPEN, n, os.devnull, os.O_RDWR, 0) for n in range(3)]
    try:
        os.posix_spawnp("rm", words, os.environ, file_actions=quiet, setsid=True)
    except OSError:
        remove_tree(gone)


def remove_tree(path: str) -> None:
    """Remove one of the planner's folders, even if read-only.

    No link in it is followed, nor one on the way from `.planner` to it. Raises OSError.
    """
    around, name = os.path.split(os.path.abspath(path))
    if not os.path.lexists(path):
        return
    folder = open_folder(around)
    try:
        try:
            remove_all(folder, name)
        except OSError as error:
            if error.errno != errno.ENOTEMPTY:
                raise
            remove_all(folder, name)  # something was written there meanwhile
    except OSError as error:
        error.filename = path
        raise
    finally:
        os.close(folder)
