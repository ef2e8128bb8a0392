"""What a person approves besides the plan's bytes: the commit that is to come of it (PP-7)."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from orchestrator.submit.message import files_beside
from shared.approval import Approval
from shared.git.intended import tree_to_come
from shared.git.people import people_here
from shared.requirements_record import lane_of
from shared.workspace import open_repository
from state.changes import plan_changes
from state.files import read_bytes

if TYPE_CHECKING:
    from shared.run import State
    from state.models import Plan


def commit_to_come(state: State, plan: Plan) -> Approval:
    """Return an approval of a frozen plan, as yet without word and proof.

    Its tree is that of the base with the plan's changes and copies; None where the plan has no
    changes yet, or is made on uncommitted work.
    """
    repository, vault = open_repository(state)
    changes = plan_changes(plan)
    copies = files_beside(state, plan, read_bytes(state.plan_path))
    tree = None
    if plan.base and changes and not plan.base.snapshot:
        tree = tree_to_come(repository, vault, plan.base.tree, changes, copies)
    return Approval(
        plan.digest or "", plan.base.commit if plan.base else "", tree,
        (*sorted(copies), *_lane(state, repository.root)), *people_here(repository),
    )  # fmt: skip


def _lane(state: State, root: str) -> list[str]:
    """Return the folder of the requirements that are committed with a plan, none without them."""
    lane = lane_of(state.state_dir)
    folder = os.path.relpath(lane["planning"], root) if lane else ""
    inside = folder not in ("", ".") and not folder.startswith("..")
    return [os.path.join(folder, "")] if inside else []
