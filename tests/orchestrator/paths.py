"""How the `path` of the blocks that a host has read goes on (FC-4)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_PATH = re.compile(r'<step workflow="\w+" path="(\d+) of (\d+)(?: \(([^"]+)\))?"')
_RUN = re.compile(r' state_dir="([^"]+)"')


def faults_of_path(texts: Iterable[str]) -> list[str]:
    """Return where the first number falls, or the last one grows and no cause is named."""
    before: dict[str, tuple[int, int, str]] = {}
    found = []
    for text in texts:
        path, run = _PATH.match(text), _RUN.search(text)
        if not path or not run:
            continue
        at, of = int(path[1]), int(path[2])
        was_at, was_of, was = before.get(run[1], (0, of, ""))
        if at < was_at or at > of or (of > was_of and not path[3]):
            found.append(f"{path[0]} after {was}")
        before[run[1]] = at, of, path[0]
    return found
