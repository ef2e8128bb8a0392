"""Finds the numbers that a patch replaces by others."""

from __future__ import annotations

import re
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from quality_reviewer.words import words_with_names

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_NUMBER = re.compile(r"(?<![\w.])\d[\d_]*(?:\.\d+)?")


class Moved(NamedTuple):
    """A number that a change replaces, with the words of its line."""

    words: set[str]
    old: float
    new: float
    line: str


def moved_numbers(lines: Sequence[tuple[str, str]]) -> Iterator[Moved]:
    """Yield each number that lines of a patch, as kind and text, replace by another one."""
    for is_changed, run in groupby(lines, key=lambda line: line[0] in "+-"):
        rows = [*run] if is_changed else []
        new = {_NUMBER.sub("#", text): text for kind, text in rows if kind == "+"}
        for kind, old in rows:
            skeleton = _NUMBER.sub("#", old)
            if kind != "-" or "#" not in skeleton or skeleton not in new:
                continue
            pairs = zip(_NUMBER.findall(old), _NUMBER.findall(new[skeleton]), strict=True)
            for a, b in pairs:
                if a != b:
                    yield Moved(words_with_names([old]), float(a), float(b), new[skeleton])
