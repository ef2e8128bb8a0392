"""Say what has become of the things that a person has said of a plan (SD-3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from state.models import Remark

if TYPE_CHECKING:
    from state.models import Plan, TaskItem

DONE, DECLINED = "done: ", "declined: "


def cited_by(plan: Plan, name: str) -> list[str]:
    """Return the ids of the milestones that cite an entry of the task or a remark."""
    return [m.id for m in plan.milestones if name in m.requirements]


def outcome_of(plan: Plan, statement: TaskItem | Remark) -> str:
    """Return what has become of an entry of the task or a remark; '' as long as nothing has.

    That is `done: M-001`, by the milestones that cite it; of a remark also `declined: why`, or
    `FILE:LINE` where it holds already.
    """
    if isinstance(statement, Remark) and statement.outcome:
        return statement.outcome
    cited = cited_by(plan, statement.id)
    return f"{DONE}{', '.join(cited)}" if cited else ""
