"""Temporary folders for one command; folders of a killed command are removed by a later one."""

from __future__ import annotations

import contextlib
import os
import tempfile
from typing import TYPE_CHECKING

from shared.git.files import refused, remove_tree

if TYPE_CHECKING:
    from collections.abc import Iterator

PREFIX = "scratch-"


@contextlib.contextmanager
def scratch(folder: str) -> Iterator[str]:
    """Yield a new temporary folder inside `folder`; try to remove it after the `with` block."""
    try:
        lent = tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-", dir=folder)
    except OSError as error:
        raise refused(error) from error
    try:
        yield lent
    finally:
        with contextlib.suppress(OSError):
            remove_tree(lent)


def sweep(folder: str, prefix: str = PREFIX) -> None:
    """Remove temporary folders in `folder` whose owner process, its id in their name, has ended."""
    for name in os.listdir(folder):
        owner = name.removeprefix(prefix).split("-")[0] if name.startswith(prefix) else ""
        if owner.isdigit() and not _is_alive(int(owner)):
            with contextlib.suppress(OSError):
                remove_tree(os.path.join(folder, name))


def clear(folder: str) -> None:
    """Remove all temporary folders in `folder`, while a lock keeps their owners from running."""
    for name in os.listdir(folder):
        if name.startswith(PREFIX):
            with contextlib.suppress(OSError):
                remove_tree(os.path.join(folder, name))


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
