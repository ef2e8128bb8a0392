"""Folders that a command needs for a moment; what a killed one left is swept away."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from typing import TYPE_CHECKING

from shared.git.files import refusing

if TYPE_CHECKING:
    from collections.abc import Iterator

PREFIX = "scratch-"


@contextlib.contextmanager
def scratch(folder: str) -> Iterator[str]:
    """Lend a folder inside `folder` and remove it afterwards."""
    with refusing():
        lent = tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-", dir=folder)
    try:
        yield lent
    finally:
        shutil.rmtree(lent, ignore_errors=True)


def sweep(folder: str, prefix: str = PREFIX) -> None:
    """Remove what processes that are gone left in `folder`; the names hold their ids."""
    for name in os.listdir(folder):
        owner = name.removeprefix(prefix).split("-")[0] if name.startswith(prefix) else ""
        if owner.isdigit() and not _alive(int(owner)):
            shutil.rmtree(os.path.join(folder, name), ignore_errors=True)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
