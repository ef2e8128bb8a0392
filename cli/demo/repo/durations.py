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
