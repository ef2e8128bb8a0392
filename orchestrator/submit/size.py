"""Refuse changes that are too large for plan.json, unless the plan may need its ref (PL-19)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shared.git.large import MEBIBYTE, MOST_COMPARED, sizes_of
from shared.workspace import config_of
from state.changes import apart, plan_changes
from state.errors import Problem, Refused

if TYPE_CHECKING:
    from collections.abc import Mapping

    from shared.run import State
    from state.models import Change, Plan


def check_size(state: State, plan: Plan) -> None:
    """Raise Refused with each file whose change is too large to stand in the plan as a patch."""
    large = [change for change in plan_changes(plan) if apart(change)]
    if not large:
        return
    blobs = {blob for change in large for blob in (change.before, change.after) if blob}
    sizes = sizes_of(state.repository.git, blobs)
    most = config_of(state).max_patch_mb
    compared = max(most, MOST_COMPARED // MEBIBYTE)
    way = "keep it with git-lfs; or commit it yourself first and leave it out of the plan; or have "
    way += "its content kept beside plan.json, so that the plan alone is not enough:"
    retry = state.command("plan", "freeze", "--allow-large")
    raise Refused.of(
        Problem(
            "refused",
            change.file,
            f"its change does not fit: all patches of a plan together may have {most} MB (`[plan] "
            "max_patch_mb`), where a text counts by its patch, a binary by its content before and "
            f"after, as does a text of more than {compared} MB in both; this file has "
            f"{_sizes(change, sizes)}",
            way,
            retry,
        )
        for change in large
    )


def _sizes(change: Change, sizes: Mapping[str, int]) -> str:
    """Return how large a file is after its change, and before it if there was one, in words."""
    after, before = (
        f"{sizes.get(blob, 0) / MEBIBYTE:.1f} MB" if blob else ""
        for blob in (change.after, change.before)
    )
    return f"{before} before and {after} after" if before else after
