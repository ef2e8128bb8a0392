"""Make a new plan from some milestones of another plan, without using disk or git (PM-7)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from state.edits import finish
from state.errors import Problem, Refused

if TYPE_CHECKING:
    from collections.abc import Collection

    from state.models import Milestone, Plan, Remark, TaskItem


def part_of(plan: Plan, only: Collection[str]) -> Plan:
    """Return the plan's next, unfrozen revision, reduced to the milestones whose ids `only` gives.

    Reviews of the whole plan are kept; verify results are not, since they ran on another tree.
    Refused with each milestone that is unknown or that needs one which is left out.
    """
    problems = _unknown(plan, only) or _cut(plan, only)
    if problems:
        raise Refused.of(problems)
    kept = tuple(m for m in plan.milestones if m.id in only)
    others = [m for m in plan.milestones if m.id not in only]
    left = ", ".join(m.id for m in others)
    if not left:
        text = "`--only` names all milestones, so nothing would be left out"
        raise Refused("invalid", "--only", text, "leave out `--only` to approve the whole plan")
    remark = (
        f"Part of revision {plan.revision}: {', '.join(m.id for m in kept)}. Left out: {left}. "
        "The reviews are of the whole."
    )
    values: dict[str, Any] = {
        "frozen_at": None, "digest": None, "seals": {}, "verify": (), "milestones": kept,
        "revision": plan.revision + 1, "remarks": (remark,),
        "task_spec": tuple(
            task.model_copy(update=_left_out(task, others)) for task in plan.task_spec
        ),
        "user_remarks": tuple(
            remark.model_copy(update=_left_out(remark, others)) for remark in plan.user_remarks
        ),
    }  # fmt: skip
    return finish(plan.model_copy(update=values))


def _left_out(said: TaskItem | Remark, others: Collection[Milestone]) -> dict[str, Any]:
    """Return the milestones for what a person has said with those that are left out now."""
    left = [m.id for m in others if said.id in m.requirements]
    return {"left_out": (*said.left_out, *left)}


def _unknown(plan: Plan, only: Collection[str]) -> list[Problem]:
    known = [m.id for m in plan.milestones]
    if not only:
        return [Problem("invalid", "--only", "`--only` names no milestone", ", ".join(known))]
    return [
        Problem("not_found", name, "the plan has no such milestone", ", ".join(known))
        for name in sorted(set(only).difference(known))
    ]


def _cut(plan: Plan, only: Collection[str]) -> list[Problem]:
    """Return a problem for each chosen milestone that depends on one which is not chosen."""
    needs = {m.id: m.depends_on for m in plan.milestones}
    whole = set(only)
    while more := {needed for name in whole for needed in needs[name]} - whole:
        whole |= more
    allowed = f"--only {','.join(m.id for m in plan.milestones if m.id in whole)}"
    return [
        Problem("refused", name, f"{name} depends on {needed}, which would be left out", allowed)
        for name in sorted(only)
        for needed in needs[name]
        if needed not in only
    ]
