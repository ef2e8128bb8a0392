"""Sizes of files for people."""

from __future__ import annotations

from counts import render as render_count

UNITS = ("kB", "MB", "GB", "TB")


def render(size: int) -> str:
    """Return `size` to the byte, for example "1,400,000 bytes"."""
    return render_count(size, "byte")


def short(size: int) -> str:
    """Return `size` in its largest unit with one decimal, for example "1.4 MB"."""
    if size < 1000:
        return render(size)
    number, value = 0, size / 1000
    # As it will be shown: 999.96 kB would read 1000.0 kB.
    while round(value, 1) >= 1000 and number + 1 < len(UNITS):
        number, value = number + 1, value / 1000
    return f"{value:.1f} {UNITS[number]}"
