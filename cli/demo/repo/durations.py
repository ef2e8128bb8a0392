"""Durations as people write them: "1h 30m" is 5400 seconds, and back again."""

from __future__ import annotations

import re

SECONDS = {"h": 3600, "m": 60, "s": 1}

_PART = re.compile(r"\s*(\d+)\s*([a-z])")


def parse(text: str) -> int:
    """Return the seconds in `text`; raises ValueError for what is no duration."""
    total, at = 0, 0
    while found := _PART.match(text.lower(), at):
        if found[2] not in SECONDS:
            break
        total += int(found[1]) * SECONDS[found[2]]
        at = found.end()
    if at == 0 or text[at:].strip():
        message = f"no duration: {text!r}"
        raise ValueError(message)
    return total


def render(seconds: int) -> str:
    """Return `seconds` as a duration without empty parts, for example "1h 30m"; "0s" for none."""
    parts = []
    for unit, size in SECONDS.items():
        count, seconds = divmod(seconds, size)
        if count:
            parts.append(f"{count}{unit}")
    return " ".join(parts) or "0s"
