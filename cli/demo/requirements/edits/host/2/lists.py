"""Lists of names for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def render(names: Sequence[str]) -> str:
    """Return every name, for example "Ann, Bob and Eve"; "no one" for none."""
    if len(names) < 2:
        return names[0] if names else "no one"
    return f"{', '.join(names[:-1])} and {names[-1]}"
