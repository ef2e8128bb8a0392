"""Say which evidence of a plan's reviews shows which acceptance criterion (RV-7)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from quality_reviewer.questions import CRITERIA
from shared.qr.types import PASS

if TYPE_CHECKING:
    from state.models import Milestone, Plan


class Judged(NamedTuple):
    """The acceptance criteria of a milestone, each with what shows it; '' where nothing does."""

    criteria: list[tuple[str, str]]
    # What shows all of them, where a reviewer named more references than there are criteria, so
    # that it is not known which belongs to which.
    together: str


def judged_criteria(plan: Plan, milestone: Milestone) -> Judged:
    """Return a milestone's acceptance criteria with what the reviewer named to show them."""
    references: list[str] = []
    for answer in (answer for outcome in plan.reviews for answer in outcome.answers):
        if (answer.check, answer.scope) == (CRITERIA, milestone.id):
            references = answer.evidence.splitlines() if answer.status == PASS else []
    criteria = milestone.acceptance_criteria
    paired = len(references) == len(criteria)
    each = references if paired else [""] * len(criteria)
    together = "" if paired else "; ".join(references)
    return Judged([*zip(criteria, each, strict=True)], together)
