"""What a plan says to the person who decides on it: the list of its contents, with outcomes.

The review page and plan.md give these rows their form.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from quality_reviewer.criteria import judged_criteria
from shared.contents import ACCEPTED, MILESTONE, PERSON, PLAN, REMARKS, TASK, Content, Row, rows_for
from state.statements import outcome_of

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from state.milestones import AnyMilestone
    from state.models import Milestone, Plan

    Rows = dict[Content[Any], list[Row]]

# What shows all criteria of a milestone, where it is not known which shows which.
_TOGETHER: Content[AnyMilestone] = Content(
    "all of it shown by", "all of it shown by", lambda _: (), ACCEPTED.shown
)


def rows_of_plan(plan: Plan, part: str) -> Rows:
    """Return what a plan says in a part of page and plan.md: each statement with its outcome."""
    rows = _by_content(rows_for(PERSON, [c for c in PLAN if c.part == part], plan))
    revisions = {one.id: f"on revision {one.revision}" for one in plan.user_remarks}
    for content in (TASK, REMARKS):
        if content in rows:
            rows[content] = [
                row._replace(
                    kind=revisions.get(row.id, ""), outcome=outcome_of(plan, row.id, row.outcome)
                )
                for row in rows[content]
            ]
    return rows


def rows_of_milestone(plan: Plan, milestone: Milestone) -> Rows:
    """Return what a milestone says: each criterion with what its reviewer named to show it."""
    criteria, together = judged_criteria(plan, milestone)
    judged = [Row(text, why=shown and f"shown by {shown}") for text, shown in criteria]
    others = [content for content in MILESTONE if content is not ACCEPTED]
    rows = {
        ACCEPTED: judged,
        _TOGETHER: [Row(together)] if together else [],
        **_by_content(rows_for(PERSON, others, milestone)),
    }
    return {content: found for content, found in rows.items() if found}


def _by_content(rows: Iterable[tuple[Content[Any], Row]]) -> Rows:
    found: Rows = {}
    for content, row in rows:
        found.setdefault(content, []).append(row)
    return found
