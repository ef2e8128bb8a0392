"""Where the files of a folder that is in no git repository are kept (PL-35).

A module of its own, since a printed step asks, and must not load what works with git.
"""

from __future__ import annotations

import os
import re

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    from collections.abc import Callable

KEPT_FILES = os.path.join(".planner", "files.git")


def is_kept(root: str) -> bool:
    """Return whether the planner keeps the files of a folder, in a repository of its own."""
    return os.path.isdir(os.path.join(root, KEPT_FILES, "objects"))


def damaged_parts(root: str) -> list[str]:
    """Return which of git's own files of a folder's kept files are not as git has written them.

    Git does not sync all of them: after a power cut they may be empty, a half, or zeros.
    """
    folder = os.path.join(root, KEPT_FILES)
    return [part for part, is_whole in _WHOLE.items() if not is_whole(_read(folder, part))]


def _read(folder: str, part: str) -> bytes | None:
    try:
        with open(os.path.join(folder, part), "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None


def _is_index(data: bytes | None) -> bool:
    """Return whether an index is missing, or ends with the hash of what it holds."""
    if data is None:
        return True
    import hashlib  # not at the top: OpenSSL is slow to load, and few folders are without git

    body, end = data[:-_SHA1], data[-_SHA1:]
    known = (hashlib.sha1(body, usedforsecurity=False).digest(), bytes(_SHA1))
    return body.startswith(b"DIRC") and end in known


BRANCH = "refs/heads/main"
_SHA1 = 20
_WHOLE: dict[str, Callable[[bytes | None], bool]] = {
    "HEAD": lambda data: data == f"ref: {BRANCH}\n".encode(),
    "config": lambda data: b"logallrefupdates = false" in (data or b"").lower(),
    BRANCH: lambda data: data is None or re.fullmatch(rb"[0-9a-f]{40}\n", data) is not None,
    "index": _is_index,
}
