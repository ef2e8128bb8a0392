"""What a plan says to the person who decides on it: the list of its contents, with outcomes.

The review page and plan.md give these rows their form.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from quality_reviewer.criteria import judged_criteria
from shared.contents import (
    ACCEPTED,
    GOAL,
    MILESTONE,
    PARTS,
    PERSON,
    PLAN,
    REMARKS,
    TASK,
    Content,
    Row,
    rows_for,
)
from state.statements import outcome_of

if TYPE_CHECKING:
    from typing import Any

    from state.milestones import AnyMilestone
    from state.models import Milestone, Plan

    Rows = dict[Content[Any], list[Row]]

# What shows all criteria of a milestone, where it is not known which shows which.
_TOGETHER: Content[AnyMilestone] = Content(
    "all of it shown by", "all of it shown by", lambda _: (), ACCEPTED.shown
)


def rows_of_plan(plan: Plan) -> dict[str, Rows]:
    """Return what a plan says by the parts of page and plan.md: statements with their outcomes."""
    parts: dict[str, Rows] = {part: {} for part in PARTS}
    revisions = {one.id: f"on revision {one.revision}" for one in plan.user_remarks}
    for content, row in rows_for(PERSON, PLAN, plan):
        parts[content.part].setdefault(content, []).append(row)
    for content in (TASK, REMARKS):
        rows = parts[GOAL].get(content, [])
        rows[:] = [
            row._replace(
                kind=revisions.get(row.id, ""), outcome=outcome_of(plan, row.id, row.outcome)
            )
            for row in rows
        ]
    return parts


def rows_of_milestone(plan: Plan, milestone: Milestone) -> Rows:
    """Return what a milestone says: each criterion with what its reviewer named to show it."""
    criteria, together = judged_criteria(plan, milestone)
    rows: Rows = {
        ACCEPTED: [Row(text, why=shown and f"shown by {shown}") for text, shown in criteria],
        _TOGETHER: [Row(together)] if together else [],
    }
    others = [content for content in MILESTONE if content is not ACCEPTED]
    for content, row in rows_for(PERSON, others, milestone):
        rows.setdefault(content, []).append(row)
    return {content: found for content, found in rows.items() if found}
