"""Compare a commit with what its approval says of it: tree, people, signature (CM-3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shared.approval import Approval
    from shared.git.history import Stored


def is_on_base(given: Approval, stored: Stored) -> bool:
    """Return whether a commit stands on the approved base; else it may well be made by others."""
    return stored.parents[:1] == (given.base,)


def is_other_tree(given: Approval, stored: Stored) -> bool:
    """Return whether a commit on the approved base has another tree than the approved one."""
    # Of a folder beside the plan the content is not known before.
    is_open = given.tree is None or any(path.endswith("/") for path in given.beside)
    return not is_open and is_on_base(given, stored) and stored.tree != given.tree


def other_people(given: Approval, stored: Stored) -> dict[str, str]:
    """Return in words, by field of an approval, how people and signature of a commit differ.

    Form 1 names none of them, and form 2 nobody whom git could not name.
    """
    return given.people.differences(stored) if given.people else {}
