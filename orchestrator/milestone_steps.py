"""The prompt for the main assistant while agents write approved milestones (depth intent)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from developer.exec_implement import milestone_task
from orchestrator.host_steps import work
from orchestrator.open_questions import add_questions, asks_first, how_to_ask
from quality_reviewer.scale import review_of
from shared.execution.progress import View
from shared.resources import fill, read_prompt
from shared.steps.brief import late_in, with_commands
from shared.steps.workflow import Step
from state.actors import WRITER
from state.execution import BLOCKED, IN_PROGRESS

if TYPE_CHECKING:
    from shared.builders import Block
    from shared.steps.workflow import Context
    from state.phases import Phase


def write_milestones(ctx: Context, script: str) -> Block:
    """Return the prompt that starts an agent for each milestone of a wave, all at once.

    Without a full review, or without sub-agents, the main assistant writes one milestone after the
    other itself. After a failed review, the findings go to one agent, in the worktree in which
    everything has met; so does what was said once all was written.
    """
    if ctx.iteration > 1 or late_in(ctx):
        return work(ctx, script)
    state, view = ctx.state, View(ctx.state)
    running = view.with_status(IN_PROGRESS)
    one = len(running) == 1 and review_of(state, ctx.plan)[0] != "full"
    if one or (running and state.run.alone):
        block = milestone_task(ctx, running[0], agent=False)
        return add_questions(block, state, view.open_checkpoints())
    name = "wave" if running else "wave-waits" if view.summary().counts[BLOCKED] else "wave-next"
    text = read_prompt("orchestrator", "executor", name)
    asked = view.open_checkpoints()
    if asked and not running:
        slots = {"ask": how_to_ask(state)}
        text = fill(read_prompt("orchestrator", "executor", "wave-asks"), slots)
    block = with_commands(ctx, text, asks=True)
    prose = {m.id for m in ctx.plan.milestones if m.is_documentation_only}
    for role in ctx.step.agent or "", WRITER:
        own = [m for m in running if (m in prose) == (role == WRITER)]
        runs = [state.command("step", "exec-implement", "--milestone", m) for m in own]
        if runs:
            at_once = len(running) > 1
            block.dispatch(role, runs, parallel=at_once, model=state.model(role))
    reasons = view.reasons()
    figures = view.summary()
    block.data("written", f"{figures.done} of {figures.total}")
    block.data("waiting", "\n".join(f"{name}: {why}" for name, why in reasons.items()))
    block.next("done", state.command("exec", "next"))
    add_questions(block, state, asked)
    for name in view.with_status(BLOCKED):
        block.next(f"retry {name}", state.command("retry", name))
    return block


def wave_step(name: str, *, phase: Phase, agent: str, script: str) -> Step:
    """Make the step in which agents write milestones at once, each in a worktree of its own."""
    handler = asks_first(lambda ctx: write_milestones(ctx, script))
    return Step(name, "execute", handler, phase=phase, agent=agent)
