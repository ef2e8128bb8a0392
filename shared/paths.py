"""Tells in which ways a path may be read, by the kernel, by clients and by file systems.

The guard decides about a path that a client then opens by itself, so what it allows must be allowed
in each of these ways. Hooks read it, so it imports little.
"""

from __future__ import annotations

import os

from state.errors import Refused

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    from collections.abc import Iterable

# What nobody sees, beside control and format characters.
_UNSEEN = (
    range(0x34F, 0x350), range(0x115F, 0x1161), range(0x17B4, 0x17B6), range(0x180B, 0x1810),
    range(0x2065, 0x2066), range(0x3164, 0x3165), range(0xFE00, 0xFE10), range(0xFFA0, 0xFFA1),
    range(0xFFF0, 0xFFF9), range(0xE0000, 0xE1000),
)  # fmt: skip


def written_forms(path: str) -> tuple[str, ...]:
    """Return what a client may make of a path: as it is, without blanks around it, `~` as home."""
    bare = path.strip()
    return tuple(dict.fromkeys((path, bare, os.path.expanduser(bare))))


def readings(path: str, folder: str) -> list[str]:
    """Return the real paths to which a path in a folder may lead, mostly one.

    The kernel follows a link before it applies the `..` behind it; many clients apply `..` first.
    """
    joined = [os.path.join(folder, form) for form in written_forms(path)]
    paths = dict.fromkeys((*joined, *map(os.path.normpath, joined)))
    return list(dict.fromkeys(map(os.path.realpath, paths)))


def check_one_reading(path: str) -> None:
    """Raise Refused for a path that leads elsewhere if the `..` in it is applied before links.

    The guard, a client and we would each look at another file.
    """
    if os.path.realpath(path) != os.path.realpath(os.path.normpath(path)):
        text = "this path has `..` behind a symbolic link, which programs read in two ways"
        raise Refused("refused", path, text, "name the file by a path without `..`")


def folded(name: str) -> str:
    """Return a name as file systems compare it that take several spellings for the same file.

    They pass over the case of letters, how accents are composed, and what nobody sees.
    """
    if name.isascii():
        return name.lower()
    from unicodedata import category, normalize  # names that need it are rare

    shown = (one for one in name if category(one) not in ("Cc", "Cf"))
    seen = "".join(one for one in shown if not any(ord(one) in codes for codes in _UNSEEN))
    return normalize("NFC", normalize("NFD", seen).casefold())


def real_path(path: str) -> str:
    """Return a path without links; Refused where a link on it is swapped meanwhile.

    Python finds a link, and raises where it is something else by the time that it is read.
    """
    try:
        return os.path.realpath(path)
    except OSError as error:
        text = f"this was something else a moment before ({error.strerror})"
        allowed = "end what changes it, then run the same command again"
        raise Refused("refused", path, text, allowed) from None


def followed(path: str) -> str:
    """Return a path with its links followed; as it is where one may not be read or is swapped.

    Such a link lies in `/proc`, where it leads into another process.
    """
    try:
        return os.path.realpath(path)
    except OSError:
        return os.path.abspath(path)


def lies_in(path: str, folders: Iterable[str]) -> bool:
    """Return whether an absolute path is one of the folders or lies in one."""
    for folder in folders:
        if path.startswith(folder) and (
            path == folder or f"{path}/"[len(folder.rstrip("/"))] == "/"
        ):
            return True
    return False
