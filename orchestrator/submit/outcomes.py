"""What a plan says to the person who decides on it: the list of its contents, with outcomes.

The review page and plan.md give these rows their form. What a person has said is one list (SD-1).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

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
    answer_of,
    rows_for,
)
from state.statements import outcome_of, overruled_by, place_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from state.milestones import AnyMilestone, AnyPlan
    from state.models import Milestone, Plan

    Rows = dict[Content[Any], list[Row]]

_OUT_OF_SCOPE, _UNANSWERED = "out of scope", "not answered"
_WITH_TASK = "read with the task, by whoever designs and judges"

# What shows all criteria of a milestone, where it is not known which shows which.
_TOGETHER: Content[AnyMilestone] = Content(
    "all of it shown by", "all of it shown by", lambda _: (), ACCEPTED.shown
)


class Statement(NamedTuple):
    """One thing that a person has said of a run, with what has become of it."""

    id: str
    # `request`, `strategy`, `requirements`; `question` of an agent or the host; `remark`; `quote`.
    origin: str
    # The one that the person had before them, or whose questions they were asked.
    revision: int
    text: str
    # Of a question, its answer; where that came late, also what it has changed.
    outcome: str
    # What a remark is about, as its author had it before them, and where that is now.
    place: str = ""
    now: str = ""

    @property
    def kind(self) -> str:
        """Where it comes from, in words; '' for what the request says."""
        if self.origin == "remark":
            return f"on revision {self.revision}{self.now and ', '}{self.now}"
        later = f", revision {self.revision}" if self.revision > 1 else ""
        return "" if self.origin == "request" else f"{self.origin}{later}"


def statements(
    plan: AnyPlan, answers: Mapping[str, Sequence[str]], now: Mapping[str, str] | None = None
) -> Iterator[Statement]:
    """Yield all that a person has said of a run: the task, questions with answers, remarks (SD-1).

    Words that are kept beside the task have no outcome of their own. A plan of before RM- has the
    remarks of its revision in the task. `now` says by a remark's id where its place is now.
    """
    notes = {note.strip() for note in plan.remarks}
    for task in plan.task_spec:
        is_remark = task.text in notes
        origin, revision = ("remark", plan.revision - 1) if is_remark else (task.origin, 1)
        is_out = task.out_of_scope and not overruled_by(plan, task.id)
        outcome = _OUT_OF_SCOPE if is_out else outcome_of(plan, task)
        yield Statement(task.id, origin, max(revision, 1), task.text, outcome)
    for number, text in enumerate(plan.context.user_quotes, start=1):
        yield Statement(f"quote {number}", "quote", 1, text, _WITH_TASK)
    for asked in plan.checkpoints:
        origin = asked.origin if asked.origin == "strategy" else "question"
        said = answer_of(asked, answers) or asked.answer or _UNANSWERED
        outcome = f"{said}{asked.outcome and ' → '}{asked.outcome}"
        yield Statement(asked.id, origin, asked.revision, asked.question, outcome)
    for one in plan.user_remarks:
        outcome = outcome_of(plan, one, one.outcome)
        place = place_of(one.anchor) if one.anchor else ""
        yield Statement(
            one.id, "remark", one.revision, one.text, outcome, place, (now or {}).get(one.id, "")
        )


def rows_of_plan(plan: Plan, now: Mapping[str, str] | None = None) -> dict[str, Rows]:
    """Return what a plan says by the parts of page and plan.md: statements with their outcomes."""
    parts: dict[str, Rows] = {part: {} for part in PARTS}
    known = {one.id: one for one in statements(plan, {}, now)}
    for content, row in rows_for(PERSON, PLAN, plan):
        parts[content.part].setdefault(content, []).append(row)
    for content in (TASK, REMARKS):
        rows = parts[GOAL].get(content, [])
        rows[:] = [
            row._replace(kind=known[row.id].kind, outcome=known[row.id].outcome) for row in rows
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
