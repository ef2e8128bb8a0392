"""Reads what a sentence is about: its rarer words, and what it names exactly."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_WORD = re.compile(r"[A-Za-z]\w*|\d[\d_]*(?:\.\d+)?")
_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_QUOTED = re.compile(r"[`\"“]([^`\"“”\n]{2,80})[`\"”]|(?<!\w)'([^'\n]{2,80})'(?!\w)")
_THROWN = re.compile(
    r"\b[A-Z]\w*(?:Error|Exception|Warning)\b|\bSystemExit\b|\bKeyboardInterrupt\b"
)
_NUMBER = re.compile(r"(?<![\w.])\d[\d_]*\d(?:\.\d+)?(?![\w.]*\w)")
_CONSTANT = re.compile(r"\b[A-Z][A-Z0-9]*_?[A-Z0-9_]+\b")
# Words of every sentence, or of every test and function.
_OFTEN = """
a an the and or not no of for to in on with without by as at from into is are was were be been has
have had do does it its this that these those each every all any some one two when where which who
if then than so but only also both same other another more most such there here
test tests assert def return returns returned self import none true false class function func fn
const let var expect should must may can given case value values
"""
_COMMON = frozenset(_OFTEN.split())


def words_of(texts: Iterable[str]) -> set[str]:
    """Return the rarer words of texts in their first form, with the parts of names."""
    found = set()
    for text in texts:
        for word in _WORD.findall(text):
            parts = _PART.findall(word)
            found |= {_root(one.lower()) for one in (word.replace("_", ""), *parts)}
    return {word for word in found if word and word not in _COMMON}


def _root(word: str) -> str:
    """Return a word without the ending that its forms differ by, near enough to compare."""
    if word in _COMMON:
        return word
    for ending in ("ing", "ed", "es", "s", "e"):
        if len(word) > len(ending) + 2 and word.endswith(ending):  # fmt: skip
            return word.removesuffix(ending)
    return word


def names_in(text: str) -> set[str]:
    """Return what a text names exactly: quoted texts, exceptions, numbers of several digits."""
    quoted = {one or other for one, other in _QUOTED.findall(text)}
    return {*quoted, *_THROWN.findall(text), *_NUMBER.findall(text)}


def holds_a_name(names: Iterable[str], texts: Iterable[str]) -> bool:
    """Return whether texts hold one of some names; a number also by its neighbour, at a limit.

    Texts with a constant in capitals may mean any number or text by it.
    """
    text = "\n".join(texts)
    if _CONSTANT.search(text):
        return True
    flat = {number.replace("_", "") for number in re.findall(r"\d[\d_.]*\d|\d", text)}
    return any(
        bool(flat & _near(name)) if name[:1].isdigit() and _NUMBER.fullmatch(name) else name in text
        for name in names
    )


def _near(number: str) -> set[str]:
    plain = number.replace("_", "")
    if not plain.isdigit():
        return {plain}
    return {str(int(plain) + step) for step in (-1, 0, 1)}
