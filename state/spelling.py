"""Tells apart paths that look the same: by how their accents are composed, or by letter case."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def twin(path: str, others: Iterable[str]) -> str:
    """Return which of other paths is this one in another spelling; "" if none is."""
    wanted = _folded(path)
    return next((other for other in others if other != path and _folded(other) == wanted), "")


def how_spelled(path: str, other: str) -> str:
    """Return in words by what two spellings of a path differ, with what nobody sees in escapes."""
    if path.casefold() == other.casefold():
        return "differs in upper and lower case alone"
    forms = f"{_escaped(path)}, not {_escaped(other)}"
    return f"looks the same in another Unicode form, as accents can be composed: it is {forms}"


def _folded(path: str) -> str:
    if path.isascii():
        return path.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", path).casefold())


def _escaped(path: str) -> str:
    return path.encode("ascii", "backslashreplace").decode("ascii")
