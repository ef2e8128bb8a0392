"""Steer a run under way, also while agents work: decide, retry, what can run now (PC-7, PC-8)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from orchestrator.executor import WORKFLOW
from orchestrator.plan import context
from shared.builders import Block
from shared.execution.deeds import Execution
from shared.execution.progress import View
from state.errors import Refused

if TYPE_CHECKING:
    from shared.run import State


class Steered(NamedTuple):
    """What a command has changed: in words, and the milestones that are free to run since."""

    what: str
    freed: list[str]


def decide(state: State, checkpoint: str, choices: list[str]) -> Steered:
    """Store the user's answer to a question, while planning or while milestones wait for it."""
    if is_begun(state):
        with state.database:
            execution = Execution(state)
            waiting = [n for n, row in execution.progress.items() if checkpoint in row.waits]
            execution.decide(checkpoint, choices)
            freed = [n for n in waiting if not execution.progress[n].waits]
    else:
        context.answer(state, checkpoint, choices)
        freed = []
    return Steered(f"{checkpoint}: {', '.join(choices)}", freed)


def retry(state: State, milestone: str) -> Steered:
    """Let a blocked milestone run again."""
    check_begun(state, "retry")
    with state.database:
        execution = Execution(state)
        execution.retry(milestone)
        row = execution.progress[milestone]
    return Steered(f"{milestone}: {row.status}", [] if row.waits else [milestone])


def is_begun(state: State) -> bool:
    """Return whether the run's milestones are carried out, its plan or its intents approved."""
    return state.run.workflow == WORKFLOW.name and bool(state.database.progress(state.run))


def check_begun(state: State, command: str) -> None:
    """Raise Refused unless the run's milestones are carried out."""
    if not is_begun(state):
        text = "no milestone is executed yet: the plan is not approved"
        allowed = "go on with the step that is due"
        raise Refused("conflict", command, text, allowed, state.command("step", state.run.workflow))


def runnable(state: State) -> dict[str, object]:
    """Return what can start now, what is in progress, and why each other milestone waits."""
    check_begun(state, "runnable")
    view = View(state)
    return {
        "runnable": view.runnable(),
        "in_progress": view.with_status("IN_PROGRESS"),
        "most": view.most,
        "paused": state.run.status == "PAUSED",
        "waiting": view.reasons(),
    }


def render_steered(state: State, done: Steered) -> str:
    """Return the printed block of a command that steered a run."""
    block = Block("result").data("stored", done.what).data("free to run", "\n".join(done.freed))
    return block.next("done", state.command("step", state.run.workflow)).render()


def render_runnable(state: State, found: dict[str, object]) -> str:
    """Return the printed block that says what can start now and why the rest waits."""
    waiting = found["waiting"]
    lines = [f"{name}: {why}" for name, why in waiting.items()] if isinstance(waiting, dict) else []
    block = Block("result", most=found["most"], paused="yes" if found["paused"] else None)
    for title, key in (("can start now", "runnable"), ("in progress", "in_progress")):
        names = found[key]
        block.data(title, "\n".join(names) if isinstance(names, list) else "")
    block.data("waiting", "\n".join(lines))
    return block.next("done", state.command("step", state.run.workflow)).render()
