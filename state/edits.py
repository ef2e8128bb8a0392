"""Add, change and remove a plan's entities by edits, all or none (PL-11, PL-12, PL-13).

An edit is one JSON object of a batch:
`{"op": "add", "kind": "milestone", "as": "$m1", "fields": {…}}`,
`{"op": "set", "id": "M-001", "version": 2, "fields": {…}}`,
`{"op": "remove", "id": "M-001", "version": 2}`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from state import models
from state.batch import Batch
from state.errors import Refused
from state.invalid import problems_of
from state.validator import check_plan
from state.waves import compute_waves

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from state.batch import Applied


def apply_edits(
    plan: models.Plan,
    edits: Sequence[object],
    role: str | None,
    first: int = 0,
    answered: Collection[str] = (),
) -> tuple[models.Plan, list[Applied]]:
    """Return the plan after all edits, and each edited entity's id and version; else raise Refused.

    Raises Refused with every problem of every edit; then none is done. `role` limits the kinds
    that may be written; None is the orchestrator, which may write all. `first` is the number of the
    first edit in the list from which they come; `answered` are the ids of questions that have an
    answer.
    """
    if plan.frozen_at is not None:
        raise Refused(
            "frozen",
            "plan.json",
            f"revision {plan.revision} is frozen",
            "start a new revision",
            "planner plan revise",
        )
    batch = Batch(plan, role, answered)
    applied = batch.run(edits, first)
    if batch.problems:
        raise Refused.of(batch.problems)
    return finish(batch.plan.model_copy(update={"counters": batch.counters})), applied


def parsed(data: Mapping[str, Any]) -> models.Plan:
    """Return a plan from its fields, given as JSON or models; Refused with every wrong field."""
    try:
        return models.Plan.model_validate(data)
    except ValidationError as error:
        raise Refused.of(problems_of(error, "plan")) from None


def finish(plan: models.Plan) -> models.Plan:
    """Return a plan with its waves computed anew; Refused with each rule that it breaks."""
    unordered = plan.milestone_dependencies.model_copy(update={"waves": ()})
    plan = plan.model_copy(update={"milestone_dependencies": unordered})
    if problems := check_plan(plan):
        raise Refused.of(problems)
    waves = tuple(
        models.Wave(wave=n, milestones=tuple(ids))
        for n, ids in enumerate(compute_waves(plan.milestones), start=1)
    )
    dependencies = plan.milestone_dependencies.model_copy(update={"waves": waves})
    return plan.model_copy(update={"milestone_dependencies": dependencies})
