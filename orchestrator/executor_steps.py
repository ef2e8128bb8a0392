"""The prompts of the executor's steps that a program carries out: apply, compare, commit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.host_steps import freeze
from orchestrator.open_questions import asks_first
from quality_reviewer.exec_reconcile import judge
from shared.git.kept import is_kept
from shared.requirements_record import lane_of
from shared.resources import read_prompt
from shared.steps.workflow import Context, Step
from state.milestones import untouched

if TYPE_CHECKING:
    from shared.builders import Block
    from shared.run import State
    from state.plan_table import Plan


def program(ctx: Context, prompt: str, words: tuple[str, ...], intent: str) -> Block:
    """Return the prompt that names the one command that does all the work of a step."""
    state = ctx.state
    apart = lane_of(state.state_dir) or is_kept(state.run.repository)
    name = f"{prompt}-only" if apart else prompt
    text = read_prompt("orchestrator", "executor", intent if state.run.depth == "intent" else name)
    return ctx.block().task(text).next("done", state.command(*words))


def reconcile(ctx: Context, prompt: str) -> Block:
    """Return the prompt to commit what is applied, or to submit what agents have written."""
    state = ctx.state
    if state.is_writing:
        return asks_first(_submit)(ctx)
    if lane_of(state.state_dir):
        # Only here, since few runs implement requirements and each import costs a printed step.
        from orchestrator.requirements_steps import completing

        return completing(ctx)
    name = f"{prompt}-nothing" if is_kept(state.run.repository) else prompt
    block = ctx.block().task(read_prompt("orchestrator", "executor", name))
    return block.next("done", state.command("exec", "run"))


def _submit(ctx: Context) -> Block:
    """Return the prompt to judge the planned files that nobody touched, then to submit the work."""
    state = ctx.state
    if not has_open_gaps(state, ctx.plan):
        return freeze(ctx)
    if state.run.alone:
        return judge(ctx)
    block = ctx.block().task(read_prompt("orchestrator", "executor", "gaps"))
    block.dispatch("quality-reviewer", [state.command("step", "exec-reconcile")])
    return block.next("done", state.command("step", ctx.workflow.name))


def has_open_gaps(state: State, plan: Plan) -> bool:
    """Return whether agents have left planned files untouched and nobody has judged that yet."""
    return bool(untouched(plan)) and not state.database.outcomes(state.run, "reconcile")


def program_step(name: str, *words: str, prompt: str, intent: str | None = None) -> Step:
    """Make a workflow step in which one command of the program does all the work.

    `intent` is the prompt at depth intent, if that is a different one.
    """
    return Step(name, "program", lambda ctx: program(ctx, prompt, words, intent or prompt))


def reconcile_step(name: str, prompt: str) -> Step:
    """Make the step that compares plan and result, before a commit or another approval."""
    return Step(name, "reconcile", lambda ctx: reconcile(ctx, prompt))
