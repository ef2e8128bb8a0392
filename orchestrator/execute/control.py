"""Steer a run under way, also while agents work: decide, retry (PC-7)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from orchestrator.executor import WORKFLOW
from orchestrator.plan import context
from shared.builders import Block
from shared.execution.deeds import Execution
from state.errors import Refused

if TYPE_CHECKING:
    from shared.run import State


class Steered(NamedTuple):
    """What a command has changed: in words, and the milestones that are free to run since."""

    what: str
    freed: list[str]


def decide(state: State, checkpoint: str, choices: list[str]) -> Steered | None:
    """Store which options the user chose for a question, also while milestones wait for it.

    Returns what that has freed; None while planning, where the run goes on with the step due.
    """
    if not is_begun(state):
        context.answer(state, checkpoint, choices)
        return None
    with state.database:
        execution = Execution(state)
        waiting = [n for n, row in execution.progress.items() if checkpoint in row.waits]
        execution.decide(checkpoint, choices)
        freed = [n for n in waiting if not execution.progress[n].waits]
    return Steered(f"{checkpoint}: {', '.join(choices)}", freed)


def decide_in_words(state: State, checkpoint: str, words: str) -> Steered | None:
    """Store the user's own words, or several options, as the answer; else as `decide`."""
    if is_begun(state):
        return decide(state, checkpoint, [word.strip() for word in words.split(",")])
    context.answer_in_words(state, checkpoint, words)
    return None


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
        text = "no milestone is executed yet: the plan is not approved"
        allowed = "go on with the step that is due"
        raise Refused("conflict", command, text, allowed, state.command("step", state.run.workflow))


def render_steered(state: State, done: Steered) -> str:
    """Return the printed block of a command that steered a run."""
    block = Block("result").data("stored", done.what).data("free to run", "\n".join(done.freed))
    return block.next("done", state.command("step", state.run.workflow)).render()
