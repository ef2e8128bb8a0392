"""Remove whole folders by the opened folder around each, so that no link is followed."""

from __future__ import annotations

import os
import stat

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def remove_all(around: int, name: str, theirs: str = "") -> bool:
    """Remove a file, a link itself, or a folder with all that is in it; return whether it is gone.

    A link that leads to `theirs`, and in the folder one to the same path in there, stays. Rights
    that forbid to change a folder do not keep it.
    """
    try:
        mode = os.stat(name, dir_fd=around, follow_symlinks=False).st_mode
    except FileNotFoundError:
        return True
    if not stat.S_ISDIR(mode):
        if theirs and stat.S_ISLNK(mode) and os.readlink(name, dir_fd=around) == theirs:
            return False
        os.unlink(name, dir_fd=around)
        return True
    if mode & stat.S_IRWXU != stat.S_IRWXU:
        _open_up(around, name)
    inside = os.open(name, _FOLDER, dir_fd=around)
    try:
        left = [
            other
            for other in os.listdir(inside)
            if not remove_all(inside, other, theirs and os.path.join(theirs, other))
        ]
    finally:
        os.close(inside)
    if not left:
        os.rmdir(name, dir_fd=around)
    return not left


def _open_up(around: int, name: str) -> None:
    """Let its owner read and change a folder, and not another that a link leads to."""
    if not hasattr(os, "O_PATH"):
        os.chmod(name, stat.S_IRWXU, dir_fd=around, follow_symlinks=False)
        return
    folder = os.open(name, _FOLDER | os.O_PATH, dir_fd=around)
    try:
        os.chmod(f"/proc/self/fd/{folder}", stat.S_IRWXU)
    finally:
        os.close(folder)


def remove_hollow(around: int, name: str) -> None:
    """Remove a folder and those in it, except those that hold something else or cannot be read."""
    try:
        inside = os.open(name, _FOLDER, dir_fd=around)
        try:
            with os.scandir(inside) as entries:
                folders = [one.name for one in entries if one.is_dir(follow_symlinks=False)]
            for folder in folders:
                remove_hollow(inside, folder)
        finally:
            os.close(inside)
        os.rmdir(name, dir_fd=around)
    except OSError:
        return
