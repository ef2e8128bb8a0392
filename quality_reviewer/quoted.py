"""Compares what evidence quotes beside a file or a line's number with what is there (SD-4)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from quality_reviewer.citations import Citation
    from quality_reviewer.planned_lines import Lines

LEAST_QUOTE = 4  # characters of a line: a bracket alone shows nothing
MISREAD_QUOTE = 8  # characters of a line that stands beside the number of another one
_BESIDE = " \t`'\")]:,–-+"  # between a line's number and its words


def misread(named: Citation, lines: Lines, whole: Lines) -> str:
    """Return which line reads as quoted beside the number of another one; '' if none does.

    `lines` are those of the file that may be named, `whole` all that it has in the plan.
    """
    words = _squeezed(named.rest).lstrip(_BESIDE)
    if len(words) < MISREAD_QUOTE:
        return ""
    rows = [*lines.items(), *whole.items()]
    texts = [(number, _squeezed(t).lstrip(_BESIDE)) for number, own in rows for t in own]
    quoted = [
        number
        for number, text in texts
        if len(text) >= MISREAD_QUOTE and re.match(rf"{re.escape(text)}(?!\w)", words)
    ]
    if not quoted or named.among(quoted):
        return ""
    return f"{named.name} does not read as quoted: line {quoted[0]} does"


def is_quote(named: Citation, lines: Lines) -> bool:
    """Return whether a text is a file and a whole one of its lines.

    The semicolon that ends many a line may be missing: it also stands between references. A
    line that begins with a number looks like the number of another one.
    """
    said = f"{named.name}{named.rest}".removeprefix(named.file).lstrip("`'\"")
    if not said.startswith(":"):
        return False
    words = _squeezed(said[1:])
    texts = {t for own in lines.values() for t in map(_squeezed, own)}
    wholes = [t for line in texts if len(t := line.rstrip(";")) >= LEAST_QUOTE]
    if named.kind == "text":
        return any(t in words for t in wholes)
    return any(w.startswith(t) for w in (words, words.lstrip(_BESIDE)) for t in wholes)


def line_quoted(named: Citation, lines: Lines) -> int:
    """Return the number of the longest line that a text quotes beside its file; 0 without one."""
    words = _squeezed(named.rest)
    rows = [(len(t), n) for n, own in lines.items() for t in map(_squeezed, own) if t in words]
    return max(rows, default=(0, 0))[1]


def _squeezed(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()
