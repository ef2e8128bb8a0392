"""Runs a script that prints one workflow step: arguments in, text on standard output, exit code."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from shared.output import write_answer
from shared.run import open_state
from shared.steps.printing import print_current, print_step
from state.errors import Refused

if TYPE_CHECKING:
    from shared.run import State
    from shared.steps.workflow import Workflow

# Options that narrow what an agent is shown.
_SELECTORS = ("--group", "--by", "--milestone")
_AGAIN = "--again"
USAGE = "Usage: planner step WORKFLOW [N] [--again] [--state-dir DIR]"


class Request:
    """The workflow step that a script's command line asks for, with its options."""

    def __init__(self, argv: list[str]) -> None:
        values, self.words = _options(argv)
        self.again = _AGAIN in values
        self.number = values.get("--step")
        self.state_dir = values.get("--state-dir")
        self.request = values.get("--request")
        self.selectors = {name[2:]: values[name] for name in _SELECTORS if name in values}


def main(workflow: Workflow, argv: list[str]) -> int:
    """Print a step of an agent's workflow: `[--step N] [--state-dir DIR]`; return the exit code."""
    return write_answer(lambda: answer(workflow, argv), ["step", workflow.name, *argv])


def answer(workflow: Workflow, argv: list[str]) -> str:
    """Return the text that a workflow step's script prints for these command-line arguments."""
    if asks_for_help(argv):
        return help_of(workflow)
    asked = Request(list(argv))
    return print_asked(workflow, asked, open_state(asked.state_dir, os.getcwd()))


def print_asked(workflow: Workflow, asked: Request, state: State) -> str:
    """Return the text of the workflow step asked for; of the current step without a number."""
    refuse_words(workflow, asked)
    if asked.number is None and not workflow.serves:
        return print_current(state)
    number = step_number(asked.number, workflow)
    return print_step(workflow, number, state, asked.selectors, again=asked.again)


def refuse_words(workflow: Workflow, asked: Request) -> None:
    """Take a step's number from the command line's words; Refused for words that are none."""
    if asked.number is None and len(asked.words) == 1 and asked.words[0].isdigit():
        asked.number = asked.words.pop()
    if asked.words:
        text = f"the command takes no such words: {' '.join(asked.words)}"
        raise Refused("usage", "step", text, _usage(workflow))


def step_number(text: str | None, workflow: Workflow) -> int | None:
    """Return the step number in `text`, None for None; Refused if `text` is no number."""
    if text is None:
        return None
    if not text.isascii() or not text.isdigit():
        steps = ", ".join(f"{n} {s.name}" for n, s in workflow.steps.items())
        raise Refused("usage", "--step", f"{text!r} is not the number of a step", steps)
    return int(text[:9])


def _options(argv: list[str]) -> tuple[dict[str, str], list[str]]:
    known = ("--step", "--state-dir", "--request", "--role", *_SELECTORS)
    values: dict[str, str] = {}
    words: list[str] = []
    while argv:
        word = argv.pop(0)
        name, equals, value = word.partition("=")
        if not word.startswith("--"):
            words.append(word)
        elif word == _AGAIN:
            values[word] = ""
        elif name not in known or (not equals and not argv):
            text = f"{name} needs a value" if name in known else f"there is no option {name}"
            raise Refused("usage", name, text, ", ".join((*known, _AGAIN)))
        else:
            values[name] = value if equals else argv.pop(0)
    return values, words


def _usage(workflow: Workflow) -> str:
    return f"planner step {workflow.name} [N] [--again] [--state-dir DIR]"


def asks_for_help(argv: list[str]) -> bool:
    """Return whether command-line arguments ask for help."""
    return "--help" in argv or "-h" in argv


def help_of(workflow: Workflow) -> str:
    """Return the help text of a workflow's script: the workflow's steps and an example call."""
    steps = [f"  {n:>2} {s.name}" for n, s in workflow.steps.items()]
    options = ["  --step N         a step by its number", "  --state-dir DIR  the run's folder"]
    options.append(
        "  --again          a step that is done as well, to look at: nothing in it is due"
    )
    if workflow.name == "planner":
        options.append("  --request TEXT   start a run for these words, with step 1")
    example = f"Example: {_usage(workflow)}"
    lines = [USAGE, "", workflow.purpose, *steps, "", "Options:", *options, "", example]
    return "\n".join(lines) + "\n"
