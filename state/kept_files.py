"""Read the JSON files that the planner keeps; where one is damaged, the repair is named (PC-10).

Printed steps and the hook read through this module, so it imports little.
"""

from __future__ import annotations

from state.errors import Refused
from state.files import read_json

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    T = TypeVar("T")

REPAIR = "planner repair"
# What a parser raises for JSON that the program has not written.
_OTHER = (ValueError, KeyError, TypeError, IndexError, AttributeError)


def read_kept(path: str, parse: Callable[[Any], T]) -> T:
    """Return what `parse` makes of the JSON in a kept file.

    Refused (`invalid`), with the repair as the way out, where it is not what we have written.
    """
    try:
        return parse(read_json(path))
    except _OTHER:
        raise damaged(path) from None
    except Refused as refusal:
        if any(problem.kind != "invalid" for problem in refusal.problems):
            raise
        raise damaged(path, refusal.problems[0].problem) from None


def gone(path: str) -> Refused:
    """Return the Refused for a kept file that is not there, though a run or a plan has it."""
    allowed = "a person has it written anew, or reads what is lost and what still works"
    return Refused("not_found", path, "this file of the planner is gone", allowed, REPAIR)


def damaged(path: str, why: str = "it is not what the planner has written") -> Refused:
    """Return the Refused for a kept file that is damaged."""
    allowed = "a person has it set aside, and reads what is lost and what still works"
    text = f"this file of the planner is damaged: {why}"
    return Refused("invalid", path, text, allowed, REPAIR)
