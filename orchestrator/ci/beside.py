"""Say which files of a commit may stand beside its plan, by what is approved (CM-3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shared.resources import PLANNING_FOLDER

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from shared.approval import Approval
    from shared.git.history import Made

# Who may approve is in these: a commit that changes them is looked at for it.
_OF_APPROVERS = ("allowed_signers", "allowed_passkeys")
_PLAIN = "100644"


def beside_plan(
    made: Made, approvals: Iterable[tuple[Approval, bool]], signers: Collection[str]
) -> set[str]:
    """Return the changed paths that the approvals let stand beside a plan.

    With each approval comes whether its signature counts; `signers` are the project's own lists
    of who may sign. They are plain files of a planning
    folder: that at the root, or one below that is signed. Whatever else somebody has agreed to
    commit is approved by no digest, so that a commit with it was edited afterwards.
    """
    return {
        path
        for path, end in made.changed.items()
        for approval, is_signed in approvals
        if approval.lets_stand(path) and _is_of_planning(path, is_signed) and path not in signers
        if end.after is None or end.after.mode == _PLAIN
    }


def _is_of_planning(path: str, is_signed: bool) -> bool:
    *folders, name = path.split("/")
    if name in _OF_APPROVERS:
        return False
    return PLANNING_FOLDER in (folders if is_signed else folders[:1])
