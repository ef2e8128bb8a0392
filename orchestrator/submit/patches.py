"""The patches of a plan, file by file or as one that git applies."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

from state.changes import plan_changes
from state.errors import Refused
from state.milestones import changes_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from state.models import Change, Plan


def patches(plan: Plan, names: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield the file name and patch of each change, of the named milestones and files or of all."""
    for change in _chosen_changes(plan, names):
        yield change.file, (change.patch or "") if change.encoding is None else "binary"


def whole_patch(plan: Plan, names: Collection[str]) -> bytes:
    """Return the patches of the named milestones and files, or of all, as `git apply` reads them.

    Refused for a change that has none, since the rest would pass for all of it.
    """
    changes = [*_chosen_changes(plan, names)]
    if without := [change.file for change in changes if change.patch is None]:
        others = ", ".join(change.file for change in changes if change.patch is not None)
        text = "too large for a patch, so its content is beside the plan"
        allowed = f"`planner exec run` applies it; as a patch: {others or 'nothing else'}"
        raise Refused("refused", ", ".join(without), text, allowed)
    return b"".join(_bytes(change) for change in changes)


def _bytes(change: Change) -> bytes:
    patch = change.patch or ""
    return base64.b64decode(patch) if change.encoding == "base64" else patch.encode()


def _chosen_changes(plan: Plan, names: Collection[str]) -> Iterator[Change]:
    known = [m.id for m in plan.milestones]
    files = {change.file for change in plan_changes(plan)}
    if unknown := [name for name in names if name not in known and name not in files]:
        text = "the plan has no such milestone, and no change of such a file"
        raise Refused("not_found", ", ".join(unknown), text, ", ".join(known) or "none yet")
    for milestone in plan.milestones:
        for change in changes_of(milestone):
            if not names or milestone.id in names or change.file in names:
                yield change
