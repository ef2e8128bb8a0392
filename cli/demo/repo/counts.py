"""Counts for people."""

from __future__ import annotations


def render(count: int, noun: str) -> str:
    """Return `count` with its noun, for example "1 file" and "1,200 files"."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
