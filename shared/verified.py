"""Says in one line where a verify command ran, who chose it, and what came out (VR-4)."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

_PLACES = {"place": "in the place", "worktree": "in the worktree"}
_CHOSEN = {"project": "of planner.toml", "assistant": "chosen by the assistant"}


def facts_of(result: Mapping[str, Any]) -> str:
    """Return place, who chose the command, counts of tests where they are known, and seconds."""
    parts = [
        _PLACES.get(result.get("where", ""), ""),
        _CHOSEN.get(result.get("chosen_by", ""), ""),
    ]
    if result.get("passed") is not None:
        parts.append(f"{result['passed']} passed, {result['failed']} failed")
    if result.get("seconds"):
        parts.append(f"{result['seconds']} s")
    return " · ".join(filter(None, parts))
