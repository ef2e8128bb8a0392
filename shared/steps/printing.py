"""Prints a workflow's step: the current one, a finished one, or a refusal if it is not due yet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shared.resources import read_prompt
from shared.steps.entry_points import find_workflow
from shared.steps.workflow import Context
from shared.strategy_record import WORKFLOW as STRATEGY
from state.errors import Refused
from state.stages import ACTIVE, CANCELLED, COMPLETED, PAUSED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from shared.builders import Block
    from shared.run import State
    from shared.steps.workflow import Workflow


def paused(ctx: Context) -> Block:
    """Return the output block that says that the run is paused, why, and how to resume it."""
    block = ctx.block().task(read_prompt("orchestrator", "planner", "paused"))
    block.data("why", ctx.state.halted)
    return block.next("resume", ctx.state.command("resume"))


def done(ctx: Context, here: str) -> Block:
    """Return the output block saying that a step is done, and what is next or how the run ended."""
    run = ctx.state.run
    if run.ending:
        block = ctx.block().task(f"The run is {run.ending}. Nothing is left to do.")
        return block.data("why", "" if run.commit_id else ctx.state.halted)
    return ctx.block().task("This step is done; go on.").next("done", here)


def print_step(
    workflow: Workflow,
    number: int | None,
    state: State,
    selectors: Mapping[str, str] | None = None,
    *,
    again: bool = False,
) -> str:
    """Return the text of the workflow step `number`; of the current step if `number` is None.

    That is a step of the next workflow where this one has ended: no call is needed to learn so.
    A step that is done says so and names the current one, or prints what it says, to look at, if
    that is wanted `again`; one that is not yet due is Refused.
    `selectors` narrow what an agent is shown.
    """
    run = state.run
    current = run.step if run.workflow == workflow.name else None
    here = state.command("step", run.workflow)
    ended = current is None and not workflow.serves and not _comes_later(workflow, run.workflow)
    if ended and number is None and run.status == ACTIVE:
        return print_current(state)
    if number is None:
        number = 1 if workflow.serves else current or max(workflow.steps)
    if number not in workflow.steps:
        steps = ", ".join(f"{n} {s.name}" for n, s in workflow.steps.items())
        text = f"{workflow.name} has no step {number}"
        raise Refused("usage", "--step", text, steps, here)
    context = Context(workflow, number, state, selectors)
    if workflow.serves:
        return _print_for_agent(context, again=again)
    if current is None and _comes_later(workflow, run.workflow):
        first = run.workflow == STRATEGY
        text = "this step is due once " + (
            "the strategy asks for a plan" if first else "the plan is frozen (submitted)"
        )
        at = f"{workflow.name} {number}"
        raise Refused("conflict", at, text, "go on with the current step", here)
    if current is None or number < current or run.status in (COMPLETED, CANCELLED):
        return _print_done(context, here, again=again)
    if run.status == PAUSED:
        return paused(context).render()
    if number > current:
        name = workflow.steps[current].name
        text = f"step {number} is not due yet; the run is at step {current} ({name})"
        at = f"{workflow.name} {number}"
        raise Refused("conflict", at, text, f"go on with step {current}", here)
    return context.step.handler(context).render()


def _print_done(context: Context, here: str, *, again: bool) -> str:
    if again:
        # Not at the top: few ask for it.
        from shared.steps.earlier import shown_again

        return shown_again(context, here)
    is_paused = context.state.run.status == PAUSED
    return (paused(context) if is_paused else done(context, here)).render()


def _print_for_agent(context: Context, *, again: bool) -> str:
    workflow, run = context.workflow, context.state.run
    here = context.state.command("step", run.workflow)
    current = find_workflow(run.workflow).steps[run.step]
    due = (current.phase, current.kind) == (context.step.phase, workflow.serves)
    if again and not due:
        from shared.steps.earlier import is_done

        if is_done(context):
            return _print_done(context, here, again=True)
    if not due or run.status != ACTIVE:
        text = (
            f"{workflow.name} has nothing to do now; "
            f"the run is at {run.workflow} step {run.step} ({current.name})"
        )
        raise Refused(
            "conflict", workflow.name, text, "stop here, or go on with the current step", here
        )
    return context.step.handler(context).render()


def _comes_later(workflow: Workflow, current: str) -> bool:
    return workflow.name == "executor" or (workflow.name, current) == ("planner", STRATEGY)


def print_current(state: State) -> str:
    """Return the text of the run's current workflow step."""
    return print_step(find_workflow(state.run.workflow), None, state)
