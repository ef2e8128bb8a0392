"""Durations for people."""

from __future__ import annotations

UNITS = {"d": 86400, "h": 3600, "m": 60, "s": 1}


def render(seconds: int) -> str:
    """Return `seconds` without empty parts, for example "1h 30m"; "0s" for none."""
    parts = []
    for unit, size in UNITS.items():
        count, seconds = divmod(seconds, size)
        if count:
            parts.append(f"{count}{unit}")
    return " ".join(parts) or "0s"


def short(seconds: int) -> str:
    """Return `seconds` to the nearest of the two largest units, for example "1d 3h"."""
    sizes = list(UNITS.values())
    first = next((n for n, size in enumerate(sizes) if seconds >= size), len(sizes) - 1)
    last = sizes[min(first + 1, len(sizes) - 1)]
    # Rounded as a number, so that 23h 59m 59s becomes 1d and not 24h.
    return render((seconds + last // 2) // last * last)
