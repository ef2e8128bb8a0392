"""Refuse changes that are too large for plan.json, unless the plan may need its ref (PL-19)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shared.git.large import MEBIBYTE, sizes_of
from shared.git.repository import repository_at
from shared.workspace import config_of
from state.changes import apart, plan_changes
from state.errors import Problem, Refused

if TYPE_CHECKING:
    from shared.run import State
    from state.models import Plan


def check_size(state: State, plan: Plan) -> None:
    """Raise Refused with each file whose change is too large to stand in the plan as a patch."""
    large = [change for change in plan_changes(plan) if apart(change)]
    if not large:
        return
    blobs = {change.file: change.after or "" for change in large}
    sizes = sizes_of(repository_at(state.run.repository).git, blobs.values())
    most = config_of(state).max_patch_mb
    way = "keep it with git-lfs; or commit it yourself first and leave it out of the plan; or have "
    way += "its content kept beside plan.json, so that the plan alone is not enough:"
    retry = state.command("plan", "freeze", "--allow-large")
    raise Refused.of(
        Problem(
            "refused",
            file,
            f"has {sizes.get(blob, 0) / MEBIBYTE:.1f} MB; all patches of a plan together may have "
            f"{most} MB (`[plan] max_patch_mb`)",
            way,
            retry,
        )
        for file, blob in blobs.items()
    )
