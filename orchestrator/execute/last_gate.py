"""Freeze and submit a plan in the command that passes its last gate (FC-1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.execute.advance import approve_in_advance
from orchestrator.executor_steps import has_open_gaps
from orchestrator.plan.check import phases_of
from orchestrator.submit.freeze import freeze_plan
from shared.qr.types import LoopState
from shared.steps.entry_points import find_workflow
from state.errors import Refused
from state.stages import ACTIVE

if TYPE_CHECKING:
    from shared.run import State


def submit(state: State, *, allow_large: bool = False) -> None:
    """Freeze the plan and submit it; what an approval in advance covers is approved."""
    freeze_plan(state, allow_large=allow_large)
    approve_in_advance(state)


def submit_if_due(state: State, *, by_agent: bool = False) -> None:
    """Freeze and submit the plan once its last gate has passed; before that, do nothing.

    The gate stays passed where the freeze is refused, so that the same command tries it again: the
    refusal says what is kept. An agent could do nothing about it: its host meets it in the step
    that is due then.
    """
    state.reload()
    if not is_due(state):
        return
    try:
        submit(state)
    except Refused as refusal:
        if by_agent:
            return
        first = refusal.problems[0]
        first.problem = f"the plan cannot be frozen: {first.problem}"
        refusal.kept = "the work: all gates have passed"
        raise


def is_due(state: State) -> bool:
    """Return whether all that is left of planning is to freeze the plan."""
    run = state.run
    if run.status != ACTIVE or run.digest is not None:
        return False
    workflow = find_workflow(run.workflow)
    if run.workflow == "executor" and not state.is_writing:
        return False
    loops = {state.database.phase(run, phase)[0] for phase in phases_of(state)}
    at_end = run.step == workflow.last(run.depth) and loops == {LoopState.COMPLETE}
    return at_end and not (state.is_writing and has_open_gaps(state, state.plan))
