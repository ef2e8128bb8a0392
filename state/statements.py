"""Say what has become of the things that a person has said of a plan (SD-3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from state import models, plan_table
    from state.milestones import AnyPlan

    AnyTask = models.TaskItem | plan_table.TaskItem
    AnyRemark = models.Remark | plan_table.Remark
    AnyAnchor = models.Anchor | plan_table.Anchor

DONE, DECLINED = "done: ", "declined: "
UNCITED = "no milestone cites it"
# Begins the answer to a question that has become pointless; the reason follows.
WITHDRAWN = "withdrawn: "
_MOST_QUOTED = 100  # characters of a line that a remark is about
# What its author may do with a remark, or with an answer that came late.
WAYS = (
    "name it in `requirements` of the milestone that does it, or set its `outcome`: "
    "`declined: why`, or FILE:LINE where it holds already"
)


def place_of(anchor: AnyAnchor) -> str:
    """Return what a remark is about, as a person writes it before the words of one (LP-3)."""
    return anchor.entity or place_in(anchor.file, anchor.side, anchor.line, anchor.end)


def place_in(file: str, side: str, line: int, end: int) -> str:
    """Return lines of a file as text, `a.py:20-22`, of its base `a.py:O20`; all of it without."""
    if not line:
        return file
    last = f"-{end}" if end > line else ""
    return f"{file}:{'O' if side == 'old' else ''}{line}{last}"


def placed(text: str, anchor: AnyAnchor | None) -> str:
    """Return a remark's words after what they are about, with the line itself."""
    if anchor is None:
        return text
    line = quoted(anchor)
    return f"{place_of(anchor)}{line and ' '}{line}: {text}"


def quoted(anchor: AnyAnchor) -> str:
    """Return the first of the lines that a remark is about; '' where it names none."""
    if not anchor.quote:
        return ""
    first = " ".join(anchor.quote[0].split())
    more = " …" if anchor.end > anchor.line or len(first) > _MOST_QUOTED else ""
    return f"“{first[:_MOST_QUOTED]}{more}”"


def cited_by(plan: AnyPlan, name: str) -> list[str]:
    """Return the ids of the milestones that cite an entry of the task or a remark."""
    return [m.id for m in plan.milestones if name in m.requirements]


def stated_of(plan: AnyPlan, name: str) -> str:
    """Return what its author has stated of a remark or a question; '' if nothing."""
    statements = (*plan.user_remarks, *plan.checkpoints)
    return next((one.outcome for one in statements if one.id == name), "")


def overruled_by(plan: AnyPlan, name: str) -> list[str]:
    """Return the ids of the remarks that say otherwise than an entry of the task or a remark."""
    return [one.id for one in plan.user_remarks if name in one.overrules]


def task_of(plan: AnyPlan, *, out_of_scope: bool = False) -> list[AnyTask]:
    """Return the entries of the task, or those that put something out of scope, that still hold.

    One that a later remark overrules does not.
    """
    gone = {name for remark in plan.user_remarks for name in remark.overrules}
    return [t for t in plan.task_spec if t.out_of_scope == out_of_scope and t.id not in gone]


def is_left_out(plan: AnyPlan, one: AnyTask | AnyRemark) -> bool:
    """Return whether nothing has to be done for a statement: it is overruled, or was left out.

    That a person has done, with all milestones that would have done it.
    """
    if overruled_by(plan, one.id):
        return True
    return bool(one.left_out) and not cited_by(plan, one.id)


def outcome_of(plan: AnyPlan, one: AnyTask | AnyRemark, stated: str = "") -> str:
    """Return what has become of an entry of the task or a remark: UNCITED as long as nothing has.

    That is `done: M-001`, by the milestones that cite it, unless its author has `stated` something
    of it: `declined: why`, or `FILE:LINE` where it holds already. What a person has left out of it
    is told too. One that a later remark overrules is not done.
    """
    if later := overruled_by(plan, one.id):
        return f"overruled by {', '.join(later)}"
    cited = cited_by(plan, one.id)
    left = f"left out by the person: {', '.join(one.left_out)}" if one.left_out else ""
    if stated:
        return stated
    if cited:
        return f"{DONE}{', '.join(cited)}{left and '; '}{left}"
    return f"{DECLINED}{left}" if left else UNCITED
