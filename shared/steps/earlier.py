"""Prints a step that is done once more, to look at: what it would say now, with nothing to run."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from shared.resources import review_path, strategy_path
from shared.steps.entry_points import find_workflow
from shared.strategy_record import WORKFLOW as STRATEGY
from state.errors import Refused
from state.stages import ACTIVE, PAUSED

if TYPE_CHECKING:
    from shared.builders import Block
    from shared.steps.workflow import Context

_SAID = "This step is done. It is only shown again, so do nothing that it says."
_HOSTS = ("planner", "executor")  # in the order in which a run goes through them
# Steps that read the answers of a review.
_OF_REVIEW = ("qr", "gate", "review")


def shown_again(ctx: Context, here: str) -> str:
    """Return the text of a step that is done; its commands are data, and only `here` is next.

    Refused for a step that the run has left out, or whose review is no longer there.
    """
    run, phase = ctx.state.run, ctx.phase
    if not _is_of_run(ctx):
        _refuse(ctx, f"this run has left {ctx.workflow.name} out", here)
    if phase and ctx.state.database.phase(run, phase)[0] == "INITIAL":
        _refuse(ctx, f"this run has left {phase} out", here)
    if ctx.step.kind in _OF_REVIEW and not os.path.exists(review_path(ctx.state.state_dir, phase)):
        _refuse(ctx, f"the questions of {phase} are gone, since its review has ended", here)
    block = _looked_at(ctx.step.handler(ctx))
    return (block.next("done", here) if run.status in (ACTIVE, PAUSED) else block).render()


def _is_of_run(ctx: Context) -> bool:
    """Return whether a run goes through a workflow at all; only some begin with a strategy."""
    name, state = ctx.workflow.name, ctx.state
    known = name in _HOSTS or name == state.run.workflow or bool(ctx.workflow.serves)
    return known or (name == STRATEGY and os.path.exists(strategy_path(state.state_dir)))


def _refuse(ctx: Context, text: str, here: str) -> None:
    at = f"{ctx.workflow.name} {ctx.number}"
    allowed = f"`{ctx.state.command('audit')}` shows what became of the run's steps"
    raise Refused("conflict", at, f"the step cannot be printed again: {text}", allowed, here)


def _looked_at(block: Block) -> Block:
    """Return a block that is marked as one to look at, its commands and questions made data."""
    acts = ("<dispatch", "<ask", "<next", "<person")
    asked = [part for part in block.parts if part.startswith(acts)]
    kept = [part for part in block.parts if not part.startswith(acts)]
    block.parts = []
    block.task(_SAID)
    block.parts += kept
    block.values["again"] = "true"
    return block.data("what it asked for", "\n".join(asked))


def is_done(ctx: Context) -> bool:
    """Return whether the step that starts an agent's workflow is behind the run."""
    run, wanted = ctx.state.run, (ctx.step.phase, ctx.workflow.serves)
    for place, name in enumerate(_HOSTS):
        for number, step in find_workflow(name).steps.items():
            if (step.phase, step.kind) == wanted and run.workflow in _HOSTS:
                return (place, number) < (_HOSTS.index(run.workflow), run.step)
    return False
