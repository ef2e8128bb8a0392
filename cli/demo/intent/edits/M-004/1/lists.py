"""Lists of names for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from counts import render as render_count

if TYPE_CHECKING:
    from collections.abc import Sequence


def render(names: Sequence[str]) -> str:
    """Return every name, for example "Ann, Bob and Eve"; "nobody" for none."""
    if len(names) < 2:
        return names[0] if names else "nobody"
    return f"{', '.join(names[:-1])} and {names[-1]}"


def short(names: Sequence[str], most: int = 2) -> str:
    """Return the first names and how many are left, for example "Ann, Bob and 1 other"."""
    left = len(names) - most
    if left <= 0:
        return render(names)
    return f"{', '.join(names[:most])} and {render_count(left, 'other')}"
