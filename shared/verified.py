"""Says in one line where a verify command ran, who chose it, and what came out (VR-4)."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

_PLACES = {"place": "confined, at the project's own path", "worktree": "in the worktree"}
_CHOSEN = {
    "project": "from planner.toml",
    "candidate": "chosen by the assistant",
    "assistant": "the assistant's own",
}
_PROVES_NOTHING = "NOT VERIFIED by it, since it passes with the changed code broken too"


def facts_of(result: Mapping[str, Any]) -> str:
    """Return place, who chose the command, counts of tests where they are known, and seconds.

    A command of the assistant's own that does not notice broken code verifies nothing.
    """
    own = result.get("chosen_by") == "assistant"
    parts = [
        _PROVES_NOTHING if own and result.get("exercised") is False else "",
        _PLACES.get(result.get("where", ""), ""),
        _CHOSEN.get(result.get("chosen_by", ""), ""),
    ]
    if result.get("passed") is not None:
        parts.append(f"{result['passed']} passed, {result['failed']} failed")
    if result.get("seconds"):
        parts.append(f"{result['seconds']} s")
    return " · ".join(filter(None, parts))
