"""Read git's patches of many files as they come, and keep no more of them than a plan may hold."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

from state.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Iterable

ANOTHER_GIT = "report it with what `git --version` prints, and use another version of git"
# Within a patch no line starts so: content follows a mark, and names are quoted.
_MARK = b"\ndiff --git "
_OVERLAP = len(_MARK) - 1


class _Kept:
    """The patches read so far, without the largest of them where all do not fit."""

    def __init__(self, limit: int) -> None:
        self.patches: list[bytes | None] = []
        self._left = limit
        self._largest: list[tuple[int, int]] = []

    def add(self, patch: bytes | None) -> None:
        """Keep one more patch, None for one that is too large alone."""
        size = len(patch or b"")
        heapq.heappush(self._largest, (-size, len(self.patches)))
        self.patches.append(patch)
        self._left -= size
        while self._left < 0:
            size, number = heapq.heappop(self._largest)
            self._left -= size
            self.patches[number] = None


def split_patches(pieces: Iterable[bytes], limit: int) -> list[bytes | None]:
    """Return the patches in git's output, in its order, with None for each that does not fit.

    The largest are left out until the others have `limit` bytes together; what is left out is not
    held in memory.
    """
    kept, current, begun, whole = _Kept(limit), bytearray(b"\n"), False, True

    def close(size: int) -> None:
        kept.add(bytes(current[:size]) if whole and size <= limit else None)

    for piece in pieces:
        searched = max(0, len(current) - _OVERLAP)
        current += piece
        if not begun and not _MARK.startswith(current[: len(_MARK)]):
            raise _not_a_patch()
        while (end := current.find(_MARK, searched)) >= 0:
            if begun:
                close(end + 1)
            begun, whole, searched = True, True, 0
            del current[: end + 1]
        if len(current) > limit + _OVERLAP:
            whole = False
            del current[:-_OVERLAP]
    if begun:
        close(len(current))
    elif current != b"\n":
        raise _not_a_patch()
    return kept.patches


def _not_a_patch() -> Refused:
    text = "git's output starts with something that is not a patch"
    return Refused("internal", "git diff-tree", text, ANOTHER_GIT)
