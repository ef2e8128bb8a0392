"""Sizes of files for people."""

from __future__ import annotations

from counts import render as render_count


def render(size: int) -> str:
    """Return `size` to the byte, for example "1,400,000 bytes"."""
    return render_count(size, "byte")
