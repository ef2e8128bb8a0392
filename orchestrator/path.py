"""Count where a run stands on its own path: the steps that lie on it, not all of a table (FC-4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quality_reviewer.scale import designs_itself, review_of
from shared.requirements_record import lane_of
from state.milestones import changes_of, promised_files

if TYPE_CHECKING:
    from shared.steps.workflow import Context

# A part of the path – planning, the executor, the executor with bytes that agents wrote – and
# a step's number in its table.
Place = tuple[int, int]

_CONTEXT, _DESIGN, _CODE, _DOCS = 2, 3, 6, 9
_APPROVAL, _RUN, _WRITING, _WRITING_DOCS, _RECONCILE = 1, 2, 3, 6, 9


def path_of(ctx: Context) -> str:
    """Return which step of the run's path a printed step is: `3 of 6`.

    Gates and what only ends a step count with the step before them. What lies ahead is as the plan
    is now: with another milestone there may be more reviews.
    """
    part = 0 if ctx.workflow.name == "planner" else 2 if _is_written(ctx) else 1
    places = _places(ctx, part)
    at = sum(place <= (part, ctx.number) for place in places)
    return f"{max(at, 1)} of {len(places)}"


def _places(ctx: Context, part: int) -> list[Place]:
    """Return the steps on the run's path, in order."""
    mode = review_of(ctx.state, ctx.plan)[0]
    is_full, is_read = mode == "full", mode != "none"
    found: list[Place] = [] if designs_itself(ctx.state.run) else [(0, _CONTEXT)]
    found += [(0, _DESIGN)]
    found += [(0, _DESIGN + 1)] if is_full else []
    writes = ctx.state.run.depth == "intent" or ctx.state.is_writing or part > 1
    last = 2 if writes else 1
    if writes:
        found += [(1, _APPROVAL), (1, _RUN), *_written(ctx, 1, _WRITING, _WRITING_DOCS, is_read)]
    else:
        found += _written(ctx, 0, _CODE, _DOCS, is_read)
    found += [(last, _APPROVAL), (last, _RUN)]
    return [*found, (last, _RECONCILE)] if lane_of(ctx.state.state_dir) else found


def _written(ctx: Context, part: int, code: int, docs: int, is_read: bool) -> list[Place]:
    """Return the steps in which code and promised documents are written, and read if they are."""
    steps = [code, docs] if _documents_due(ctx, code, docs) else [code]
    return [(part, n) for step in steps for n in ((step, step + 1) if is_read else (step,))]


def _documents_due(ctx: Context, code: int, docs: int) -> bool:
    """Return whether a step of its own writes documents: known once there is code."""
    number = ctx.number
    if number in (docs, docs + 1):
        return True
    milestones = ctx.plan.milestones
    changed = {change.file for m in milestones for change in changes_of(m)}
    promised = {file for m in milestones for file in promised_files(m)}
    return bool(code < number < docs and promised - changed)


def _is_written(ctx: Context) -> bool:
    """Return whether agents have written the bytes that are approved or carried out now."""
    done = any(o.phase == "impl-code" for o in ctx.plan.reviews)
    return done and not ctx.state.is_writing
