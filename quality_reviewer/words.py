"""Reads what a sentence is about: its rarer words, and what it names exactly."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_QUOTED = re.compile(r"[`\"“]([^`\"“”\n]{2,80})[`\"”]|(?<!\w)'([^'\n]{2,80})'(?!\w)")
_THROWN = re.compile(
    r"\b[A-Z]\w*(?:Error|Exception|Warning)\b|\bSystemExit\b|\bKeyboardInterrupt\b"
)
_NUMBER = re.compile(r"(?<![\w.])\d[\d_]*\d(?:\.\d+)?(?![\w.]*\w)")
_CONSTANT = re.compile(r"\b[A-Z][A-Z0-9]*_?[A-Z0-9_]+\b")
_WORD = re.compile(r"[A-Za-z]{3,}")
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])|_")
_PART = re.compile(r"[A-Za-z]+|\d+")
# Words of every sentence.
_COMMON_WORDS = """
the and for not all any one two how has are was its may can our out who why her his him she you did
too own via per yes nor yet off let say says said get gets set sets use put see way
about above after again against also always another because been before being below between both
cannot change changed changes could does doing done down each even every file files first following
form from given goal have having here into itself just last like made make makes many more most much
must need needs never only other others over same shall should show shows some still such take than
that their them then there these they this those through under until used user users uses using very
want wants well were what when where whether which while whose will with within without would your
add adds added code function functions instead keep kept let one two new now value values text
"""
_COMMON = frozenset(_COMMON_WORDS.split())
# Words of every test and function, and those of a sentence that no answer or criterion is about.
_OF_CODE_WORDS = """
a an the and or not no of for to in on with without by as at from into is are was were be been has
have had do does it its this that these those each every all any some one two when where which who
if then than so but only also both same other another more most such there here
test tests assert def return returns returned self import none true false class function func fn
const let var expect should must may can given case value values
"""
_OF_CODE = frozenset(_OF_CODE_WORDS.split())
_ENDINGS = ("ations", "ation", "ings", "ing", "ions", "ion", "ies", "ers", "ed", "er", "es", "s",
            "e", "y")  # fmt: skip
_LEAST_STEM = 4  # letters


def words(text: str) -> set[str]:
    """Return the stems of the rarer words of a text, those in identifiers too."""
    found = (w.lower() for w in _WORD.findall(_HUMP.sub(" ", text)))
    return {stem(word) for word in found if word not in _COMMON}


def words_with_names(texts: Iterable[str]) -> set[str]:
    """Return the same of texts that code stands in: names of a letter or two and numbers too."""
    found = (part.lower() for part in _PART.findall(_HUMP.sub(" ", "\n".join(texts))))
    return {stem(part) for part in found if part not in _OF_CODE}


def stem(word: str) -> str:
    """Return a word without its ending, so that rounded and rounding are one."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _LEAST_STEM:
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
