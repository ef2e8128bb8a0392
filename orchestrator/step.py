"""`planner step`: print the prompt of a workflow step; start a run if there is none."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from shared.output import write_answer
from shared.resources import command
from shared.run import open_state
from shared.steps.entry_points import discover_workflows, find_workflow
from shared.steps.program import (
    USAGE,
    Request,
    asks_for_help,
    help_of,
    print_asked,
    refuse_words,
    step_number,
)
from shared.which_run import has_run
from state.errors import Refused
from state.stages import IDLE

if TYPE_CHECKING:
    from shared.steps.workflow import Workflow


def run_step(argv: list[str]) -> int:
    """Print a workflow step, from words `WORKFLOW [N] [--state-dir DIR]`; return the exit code."""
    return write_answer(lambda: _step_text(argv), ["step", *argv])


def main(workflow: Workflow, argv: list[str]) -> int:
    """Print a step of a main assistant's workflow, from words `[--step N] [--state-dir DIR]`."""
    return write_answer(lambda: _answer(workflow, argv), ["step", workflow.name, *argv])


def _step_text(argv: list[str]) -> str:
    """Return the workflow step that the first command-line word names."""
    words = [word for word in argv if not word.startswith("-")]
    if asks_for_help(argv):
        return help_of(find_workflow(words[0])) if words else _help_of_all()
    asked = Request(list(argv))
    if not asked.words:
        known = ", ".join(sorted(discover_workflows()))
        raise Refused("usage", "step", "name a workflow", known, command("step", "planner"))
    workflow = find_workflow(asked.words.pop(0))
    if asked.words:
        asked.number = asked.words.pop(0)
    return _print(workflow, asked)


def _answer(workflow: Workflow, argv: list[str]) -> str:
    if asks_for_help(argv):
        return help_of(workflow)
    return _print(workflow, Request(list(argv)))


def _print(workflow: Workflow, asked: Request) -> str:
    """Return the prompt of the requested step; the planner's first step may start a run."""
    refuse_words(workflow, asked)
    first = workflow.name == "planner" and step_number(asked.number, workflow) == 1
    if first and _is_new(asked):
        return _start(os.getcwd(), asked.request, asked.state_dir)
    state = open_state(asked.state_dir, os.getcwd())
    if state.run.status == IDLE and state.run.workflow == "planner":
        return _start(state.run.repository, None, state.state_dir)
    return print_asked(workflow, asked, state)


def _is_new(asked: Request) -> bool:
    """Return whether the first step is to start a run, there being none that could be meant."""
    if asked.state_dir is not None:
        return not os.path.exists(asked.state_dir)
    return asked.request is not None or not has_run(os.getcwd())


def _help_of_all() -> str:
    lines = [USAGE, ""]
    lines.append("Print a step of a workflow; without a number, what is next. Changes nothing.")
    lines += [f"  {w.name:<12} {w.purpose}" for w in discover_workflows().values()]
    return "\n".join([*lines, "", "Example: planner step planner"]) + "\n"


def _start(folder: str, request: str | None, state_dir: str | None) -> str:
    """Start a run, or finish its interrupted start; only this step needs third-party packages."""
    from shared.dependencies import ensure

    ensure()
    from orchestrator.run.choices import Choices
    from orchestrator.run.settings import check_enabled
    from orchestrator.run.start import render_start, start_run

    if request:
        check_enabled(folder)
    named = (f"--state-dir={state_dir}",) if state_dir else ()
    again = ("start", "--beside", "--depth=full", *named, "--", request) if request else ()
    return render_start(start_run(folder, request, state_dir, Choices(beside=again)))
