"""Count where a run stands on its own path: the steps that lie on it, not all of a table (FC-4).

The first number never falls: what is gone through again counts anew, and its cause is named.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from quality_reviewer.scale import designs_itself
from shared.requirements_record import lane_of
from shared.steps.entry_points import find_workflow
from shared.steps.workflow import Context

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shared.run import State

# A part of the path – planning, the executor, the executor with bytes that agents wrote – and
# a step's number in its table.
Place = tuple[int, int]

_CONTEXT, _DESIGN, _CODE = 2, 3, 6
_APPROVAL, _RUN, _WRITING, _RECONCILE = 1, 2, 3, 9


def path_of(ctx: Context) -> str:
    """Return which step of the run's path a printed step is: `3 of 6`, or `4 of 8 (revision 2)`.

    Gates, what only ends a step, and documents of their own count with the step before them; so
    does the review of a design of which nobody knew that it would have one. What is in brackets
    has made the path longer, and stands there until the run goes on.
    """
    at, of, why = _path(ctx)
    return f"{at} of {of} ({why})" if why else f"{at} of {of}"


@contextlib.contextmanager
def going_back(state: State, why: str, at: int = 0) -> Iterator[None]:
    """Count on where the block takes a run back to a step before; use it in a transaction.

    `why` names the cause in a few words. `at` is where the run stood, by `path_now`, if what tells
    that has changed before the block.
    """
    before = at or path_now(state)
    yield
    behind = state.database.gone_back(state.run)[0]
    now = path_now(state)
    if now < before:
        state.database.go_back(state.run, behind + before + 1 - now, before + 1, why)


def path_now(state: State) -> int:
    """Return the first number of the path of a run's present step."""
    return _path(Context(find_workflow(state.run.workflow), state.run.step, state))[0]


def _path(ctx: Context) -> tuple[int, int, str]:
    part = 0 if ctx.workflow.name == "planner" else 2 if _is_written(ctx) else 1
    places = _places(ctx.state, part)
    behind, began, why = ctx.state.database.gone_back(ctx.state.run)
    at = behind + max(1, sum(place <= (part, ctx.number) for place in places))
    return at, behind + len(places), why if at == began else ""


def _places(state: State, part: int) -> list[Place]:
    """Return the steps on the run's path, in order: by its settings, which do not change."""
    run = state.run
    found: list[Place] = [] if designs_itself(run) else [(0, _CONTEXT)]
    # Who works alone is asked nothing of its own design.
    reads = run.review == "full" and not run.alone
    found += [(0, _DESIGN), (0, _DESIGN + 1)] if reads else [(0, _DESIGN)]
    writes = run.depth == "intent" or state.is_writing or part > 1
    code, last = ((1, _WRITING), 2) if writes else ((0, _CODE), 1)
    if writes:
        found += [(1, _APPROVAL), (1, _RUN)]
    found += [code] if run.review == "none" else [code, (code[0], code[1] + 1)]
    found += [(last, _APPROVAL), (last, _RUN)]
    return [*found, (last, _RECONCILE)] if lane_of(state.state_dir) else found


def _is_written(ctx: Context) -> bool:
    """Return whether agents have written the bytes that are approved or carried out now."""
    done = any(o.phase == "impl-code" for o in ctx.plan.reviews)
    return done and not ctx.state.is_writing
