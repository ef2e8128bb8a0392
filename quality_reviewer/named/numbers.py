"""Reads the numbers of a text, and how one of a unit reads in another."""

from __future__ import annotations

import re

from quality_reviewer.named.things import UNIT, digits

_NUMBER = re.compile(r"\d[\d,_]*(?:\.\d+)?")
_AMOUNT = re.compile(rf"{_NUMBER.pattern}(?={UNIT})")
_BYTES = (1000, 1024, 1_000_000, 1024**2, 1024**3, 10**9)
# By which a number of a unit reads in smaller ones and in larger ones, by how the unit begins.
_SCALES: dict[str, tuple[tuple[int, ...], tuple[int, ...]]] = {
    "ms": ((1000,), (1000, 60_000)),
    "s": ((1000, 1_000_000, 10**9), (60, 3600, 86400)),
    "mi": ((60, 60_000), (60, 1440)),
    "h": ((60, 3600, 3_600_000), (24,)),
    "d": ((24, 1440, 86400, 86_400_000), ()),
    "w": ((7, 168, 604_800), ()),
    "%": ((), (100,)),
    "p": ((), (100,)),
    "b": (_BYTES, _BYTES),
    "k": (_BYTES, _BYTES),
    "m": (_BYTES, _BYTES),
    "g": (_BYTES, _BYTES),
    "t": (_BYTES, _BYTES),
}
_ANY = (
    (60, 3600, 24, 86400, 7, 12, *_BYTES, 100),
    (60, 3600, 24, 86400, 7, 12, *_BYTES, 100),
)


def numbers_of(text: str) -> set[str]:
    """Return the numbers of a text as they are compared, decimal ones also without the point."""
    return {digits(number.strip(",_")) for number in _NUMBER.findall(text)}


def amounts_of(text: str) -> set[str]:
    """Return the numbers of a text that stand before a unit, as they are compared."""
    return {digits(number.strip(",_")) for number in _AMOUNT.findall(text)}


def same_number(number: str, unit: str = "") -> set[str]:
    """Return how a number may read: itself, and as so many of another unit than its own.

    Without a unit it may be of any.
    """
    value, name = float(number), unit.strip().lower()
    begins = next((key for key in _SCALES if name.startswith(key)), "")
    smaller, larger = _SCALES[begins] if begins else _ANY
    scaled = [value * scale for scale in smaller] + [value / scale for scale in larger]
    return {number, *(digits(f"{one:.6f}") for one in scaled if one == round(one, 6))}
