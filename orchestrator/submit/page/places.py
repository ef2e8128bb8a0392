"""Link what a text names as FILE:LINE to that row of the page's diffs (LP-2)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from orchestrator.submit.page.diff import anchor_of
from orchestrator.submit.page.file_diffs import beginning
from orchestrator.submit.page.html import Element

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from orchestrator.submit.page.facts import Edited
    from orchestrator.submit.page.html import Node

    _Rows = dict[int, str]

_LINES = re.compile(r"[`'\"]?:(O?)(\d{1,7})(?:-(\d{1,7}))?(?!\w)")
_IN_NAME = re.compile(r"[\w./-]")
_MOST_LINES = 1_000  # that one range names; it is linked where one of its first is shown


class Places:
    """The rows of the page's diffs by file and line: those of the change before the old ones."""

    def __init__(self, files: Sequence[Edited]) -> None:
        self._files = {file.change.old_file: file for file in files if file.change.old_file}
        self._files |= {file.change.file: file for file in files}
        self._rows: dict[str, tuple[_Rows, _Rows]] = {}

    def linked(self, text: str) -> Node:
        """Return a text in which each FILE:LINE that a diff shows is a link to its row."""
        return list(self._parts(text))

    def _parts(self, text: str) -> Iterator[Node]:
        done = 0
        for found in _LINES.finditer(text):
            name = self._name_before(text, done, found.start())
            first = int(found[2])
            last = min(max(first, int(found[3] or 0)), first + _MOST_LINES)
            if anchor := self._anchor(name, first, last, is_old=bool(found[1])):
                begins = found.start() - len(name)
                yield text[done:begins]
                yield Element("a", text[begins : found.end()], {"href": f"#{anchor}"})
                done = found.end()
        yield text[done:]

    def _name_before(self, text: str, begin: int, end: int) -> str:
        """Return the longest name of a file with which a part of a text ends; '' if none."""
        found = [name for name in self._files if text.endswith(name, begin, end)]
        name = max(found, key=len, default="")
        before = text[begin : end - len(name)][-1:]
        return "" if _IN_NAME.match(before) else name

    def _anchor(self, name: str, first: int, last: int, *, is_old: bool) -> str:
        if name and name not in self._rows:
            self._rows[name] = _rows_of(self._files[name])
        old, both = self._rows.get(name, ({}, {}))
        rows = old if is_old else both
        return next((rows[n] for n in range(first, last + 1) if n in rows), "")


def _rows_of(file: Edited) -> tuple[_Rows, _Rows]:
    """Return the anchors of a file's lines that its diff shows, by their numbers before the change.

    Second those by the numbers after it, and of removed lines by the ones before where it is free.
    """
    lines = beginning(file.lines)
    names = [(line, anchor_of(line, file.anchor)) for line in lines if line.kind in " +-"]
    old = {line.old: name for line, name in names if line.old is not None}
    gone = {line.old: name for line, name in names if line.kind == "-" and line.old is not None}
    new = {line.new: name for line, name in names if line.new is not None}
    return old, gone | new
