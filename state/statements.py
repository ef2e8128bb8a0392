"""Say what has become of the things that a person has said of a plan (SD-3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from state.milestones import AnyPlan

DONE, DECLINED = "done: ", "declined: "
UNCITED = "no milestone cites it"
# Begins the answer to a question that has become pointless; the reason follows.
WITHDRAWN = "withdrawn: "
# What its author may do with a remark, or with an answer that came late.
WAYS = (
    "name it in `requirements` of the milestone that does it, or set its `outcome`: "
    "`declined: why`, or FILE:LINE where it holds already"
)


def cited_by(plan: AnyPlan, name: str) -> list[str]:
    """Return the ids of the milestones that cite an entry of the task or a remark."""
    return [m.id for m in plan.milestones if name in m.requirements]


def stated_of(plan: AnyPlan, name: str) -> str:
    """Return what its author has stated of a remark or a question; '' if nothing."""
    statements = (*plan.user_remarks, *plan.checkpoints)
    return next((one.outcome for one in statements if one.id == name), "")


def outcome_of(plan: AnyPlan, name: str, stated: str) -> str:
    """Return what has become of an entry of the task or a remark: UNCITED as long as nothing has.

    That is `done: M-001`, by the milestones that cite it, unless its author has `stated` something
    of it: `declined: why`, or `FILE:LINE` where it holds already.
    """
    cited = cited_by(plan, name)
    return stated or (f"{DONE}{', '.join(cited)}" if cited else UNCITED)
