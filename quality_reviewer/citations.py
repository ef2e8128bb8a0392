"""Reads what a piece of evidence names: an entry of the plan, lines, a run, a quoted line."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, NamedTuple

from shared.verified import VERIFY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    Kind = Literal["none", "id", "run", "verify", "line", "file", "text"]

_ID = re.compile(r"[A-Z]{1,4}-\d+|overview|knowledge")
_LINE = re.compile(r"([^\n]+?)[`'\"]?:(\d{1,7})(?:-(\d{1,7}))?(?!\w)")
_RUN = re.compile(r"run (\d{1,6})\b\W*")
_VERIFY = re.compile(rf"{VERIFY}(?: (\d{{1,6}}))?\b\W*")
_NONE = re.compile(r"none\b\W*", re.IGNORECASE)
_WITHOUT = re.compile(r"[`'\"]?,? without:\s*`?(.+?)`?\s*", re.DOTALL)
_SEPARATOR = re.compile(r"[;\n]")
_QUOTES = "`'\"("


class Citation(NamedTuple):
    """One thing that a piece of evidence names."""

    kind: Kind
    # As it is written, without what is said about it.
    name: str
    # What is said about it; all of a `text`, which may be a file and a line in words.
    rest: str
    # Of lines; of a `text` what stands before its first colon.
    file: str = ""
    # Which lines, or which run.
    first: int = 0
    last: int = 0
    # The test, or the command, that fails without the lines; '' where none is named.
    test: str = ""

    def among(self, numbers: Iterable[int]) -> list[int]:
        """Return which of some lines are named, in order."""
        return sorted(number for number in numbers if self.first <= number <= self.last)


def read_citation(text: str, *, ids: bool, runs: bool) -> Citation:
    """Return what a piece of evidence names; `ids` and `runs` may be named where they count."""
    said = text.strip().lstrip(_QUOTES)
    if found := _NONE.match(said):
        return Citation("none", found[0], said[found.end() :])
    if found := _ID.match(said) if ids else None:
        return Citation("id", found[0], said[found.end() :])
    if found := _RUN.match(said) if runs else None:
        return Citation("run", f"run {found[1]}", said[found.end() :], first=int(found[1]))
    if found := _VERIFY.match(said) if runs else None:
        number = int(found[1] or 1)
        return Citation("verify", f"{VERIFY} {number}", said[found.end() :], first=number)
    if found := _LINE.match(said):
        first = int(found[2])
        last, rest = max(first, int(found[3] or 0)), said[found.end() :]
        without = _WITHOUT.fullmatch(rest)
        test = without[1] if without else ""
        return Citation("line", found[0], "" if test else rest, found[1], first, last, test)
    return Citation("text", "", said, said.partition(":")[0].rstrip(_QUOTES))


def lines_named(named: Citation) -> str:
    """Return the lines that a citation names, as trials call them."""
    many = f"-{named.last}" if named.last > named.first else ""
    return f"{named.file}:{named.first}{many}"


def parts_of(text: str, begins: Callable[[str], bool]) -> list[str]:
    """Return the parts of evidence for several criteria: each names something that it `begins` by.

    What names nothing belongs to the part before it: an explanation, or the rest of a quoted line
    that has a semicolon in it.
    """
    parts: list[str] = []
    for part in filter(str.strip, _SEPARATOR.split(text)):
        if parts and not begins(part):
            parts[-1] += f";{part}"
        else:
            parts.append(part)
    return parts or [text]
