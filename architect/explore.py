"""Build the printed prompt that asks an agent to explore the code before the design."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shared.resources import fill, read_prompt
from shared.steps.brief import earlier_plans, notes_for
from shared.steps.slices import agent_slice, answer_lines
from shared.steps.workflow import Step

if TYPE_CHECKING:
    from shared.builders import Block
    from shared.steps.workflow import Context
    from state.phases import Phase


def explore(ctx: Context, script: str) -> Block:
    """Return the prompt of an explore step: instructions, the user's request, answers and notes."""
    folder, _, module = script.partition(".")
    state = ctx.state
    text = fill(read_prompt(folder, module, ctx.step.name), {"worktree": state.worktree})
    block = ctx.block().task(text)
    block.data("request", state.run.request)
    block.data("task", agent_slice(ctx.plan, ctx.phase))
    block.data("earlier plans", earlier_plans(ctx))
    block.data("answers", answer_lines(ctx.plan.checkpoints, state.database.answers(state.run)))
    block.data("notes of an agent before you", notes_for(ctx))
    return block.next("done", state.command("step", ctx.workflow.name, str(ctx.number + 1)))


def explore_step(name: str, *, phase: Phase, agent: str, script: str) -> Step:
    """Return the workflow step in which an agent explores the code before it writes the design."""
    return Step(name, "explore", lambda ctx: explore(ctx, script), phase=phase, agent=agent)
