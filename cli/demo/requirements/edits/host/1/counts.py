"""Counts for people."""

from __future__ import annotations


def render(count: int, noun: str) -> str:
    """Return `count` with its noun, for example "1 file"; zero reads "no files"."""
    if not count:
        return f"no {noun}s"
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
