"""Reads tables that pair words with the code that stands for them."""

from __future__ import annotations

import re


def pairs(table: str) -> list[tuple[str, str]]:
    """Return the rows of a table, `words = code` each; an indented line goes on with its row."""
    rows = re.sub(r"\n {2}", "", table).strip("\n").split("\n")
    return [(said, code) for said, _, code in (row.partition(" = ") for row in rows)]


def patterns(table: str) -> list[tuple[re.Pattern[str], re.Pattern[str]]]:
    """Return the same as expressions: for words in whatever case, and for the code."""
    return [(re.compile(rf"\b(?:{said})\b", re.IGNORECASE), re.compile(code))
            for said, code in pairs(table)]  # fmt: skip
