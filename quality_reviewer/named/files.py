"""Knows the paths of a repository and a plan by what a text may call them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from quality_reviewer.checks.meaning import is_prose

if TYPE_CHECKING:
    from collections.abc import Iterable

# Endings of products as well as of files.
_PRODUCTS = frozenset(("js", "io", "ai", "net", "go"))


class Files:
    """The paths of the base and the plan, by what a text may call them."""

    def __init__(self, paths: Iterable[str]) -> None:
        self.by_name: dict[str, list[str]] = {}
        self.endings: set[str] = set()
        self.folders: set[str] = set()
        # By the stem, in words.
        self.documents: dict[str, list[str]] = {}
        for path in paths:
            folder, _, name = path.rpartition("/")
            self.by_name.setdefault(name, []).append(path)
            self.endings.add(name.rpartition(".")[2])
            self.folders.add(folder.partition("/")[0])
            if is_prose(path):
                stem = re.sub(r"[-_]", " ", name.partition(".")[0].lower())
                self.documents.setdefault(stem, []).append(path)

    def holds(self, name: str) -> bool:
        """Return whether a name is the path of a file, or its end."""
        found = self.by_name.get(name.rpartition("/")[2], ())
        return any(f"/{path}".endswith(f"/{name}") for path in found)

    def could_hold(self, name: str) -> bool:
        """Return whether a name that is no file's reads as a path of this repository."""
        folder, _, last = name.rpartition("/")
        stem, _, ending = last.rpartition(".")
        if not stem or (folder and folder.partition("/")[0] not in self.folders):
            return False
        known = ending in self.endings and (folder or ending not in _PRODUCTS)
        return bool(is_prose(last) or (known and not last[0].isupper()))
