"""Counts for people."""

from __future__ import annotations


def render(count: int, noun: str) -> str:
    """Return `count` with its noun, for example "1 file" and "1,200 files"."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def short(count: int, most: int = 99) -> str:
    """Return `count` as a badge shows it: "99", and "99+" for all above."""
    return str(count) if count <= most else f"{most}+"
