"""Steer a run under way, also while agents work: decide, retry (PC-7)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from orchestrator.executor import WORKFLOW
from orchestrator.plan import answers
from orchestrator.submit.revise import revise_plan
from shared.builders import Block
from shared.execution.deeds import Execution
from shared.plan_file import check_not_ended
from state.errors import Refused
from state.stages import SUBMITTED

if TYPE_CHECKING:
    from orchestrator.plan.answers import Reply
    from shared.run import State


class Steered(NamedTuple):
    """What a command has changed: in words, and the milestones that are free to run since."""

    what: str
    freed: list[str]


def decide(state: State, checkpoint: str, reply: Reply) -> Steered | None:
    """Store what the user has answered to a question, also while milestones wait for it.

    Returns what that has freed; None where no milestone has asked: the run goes on with the step
    due. Of a submitted plan, another answer opens the next revision, whose remark it is (SD-3).
    """
    if state.run.stage == SUBMITTED and (remark := answers.as_remark(state, checkpoint, reply)):
        check_not_ended(state)
        revise_plan(state, remark, is_plain=True)
    if checkpoint not in state.database.checkpoints(state.run) or not is_begun(state):
        check_not_ended(state)
        answers.answer(state, checkpoint, reply)
        return None
    with state.database:
        execution = Execution(state)
        waiting = [n for n, row in execution.progress.items() if checkpoint in row.waits]
        asked = execution.checkpoints.get(checkpoint)
        choices = reply.choices(checkpoint, asked.keys, multi=asked.multi) if asked else []
        execution.decide(
            checkpoint, choices, in_words=reply.in_words, by_assistant=reply.by_assistant
        )
        freed = [n for n in waiting if not execution.progress[n].waits]
    return Steered(f"{checkpoint}: {', '.join(choices)}", freed)


def retry(state: State, milestone: str) -> Steered:
    """Let a blocked milestone run again."""
    _check_begun(state, "retry")
    with state.database:
        execution = Execution(state)
        execution.retry(milestone)
        row = execution.progress[milestone]
    return Steered(f"{milestone}: {row.status}", [] if row.waits else [milestone])


def is_begun(state: State) -> bool:
    """Return whether the run's milestones are carried out, its plan or its intents approved."""
    return state.run.workflow == WORKFLOW.name and bool(state.database.progress(state.run))


def _check_begun(state: State, command: str) -> None:
    """Raise Refused unless the run's milestones are carried out."""
    if not is_begun(state):
        check_not_ended(state)
        text = "no milestone is executed yet: the plan is not approved"
        allowed = "go on with the step that is due"
        raise Refused("conflict", command, text, allowed, state.command("step", state.run.workflow))


def render_steered(state: State, done: Steered) -> str:
    """Return the printed block of a command that steered a run."""
    block = Block("result").data("stored", done.what).data("free to run", "\n".join(done.freed))
    return block.next("done", state.command("step", state.run.workflow)).render()
