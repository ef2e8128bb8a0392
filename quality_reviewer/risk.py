"""Say how risky a plan is, by what a program can see, and if an approval in advance covers it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from quality_reviewer.scale import AUTO, HIGH_RISK, is_sensitive, review_mode
from state.milestones import changes_of, files_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from state.milestones import AnyPlan
    from state.rows import Auto

LOW, MEDIUM, HIGH = "low", "medium", "high"
RISKS = (LOW, MEDIUM, HIGH)


def beyond(plan: AnyPlan, config: Mapping[str, Any], auto: Auto) -> list[str]:
    """Return why a plan is beyond an approval in advance; empty if it is within."""
    files = len({file for milestone in plan.milestones for file in files_of(milestone)})
    found, why = risk_of(plan, config)
    reasons = []
    if files > auto.most_files:
        reasons.append(f"it touches {files} files, and {auto.most_files} are approved in advance")
    if RISKS.index(found) > RISKS.index(auto.risk):
        reasons.append(f"its risk is {found} ({why}), and {auto.risk} is approved in advance")
    return reasons


def risk_of(plan: AnyPlan, config: Mapping[str, Any]) -> tuple[str, str]:
    """Return a plan's risk – low, medium or high – and the first reason for it.

    High: a milestone is flagged so, a file is deleted or on the project's sensitive list, or
    changes are not verified. Medium: the plan is too big to count as small. Low: all others.
    """
    for milestone in plan.milestones:
        if HIGH_RISK in milestone.flags:
            return HIGH, f"{milestone.id} is flagged {HIGH_RISK}"
        for file in sorted(files_of(milestone)):
            if is_sensitive(file, config.get("sensitive", ())):
                return HIGH, f"{file} is on the project's sensitive list"
        for change in changes_of(milestone):
            if change.after is None:
                return HIGH, f"{change.file} is deleted"
    changed = any(changes_of(milestone) for milestone in plan.milestones)
    if changed and not plan.verify:
        return HIGH, "no command verifies it"
    size, why = review_mode(AUTO, plan, config)
    return (MEDIUM, why) if size == "full" else (LOW, why)
