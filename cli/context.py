"""Commands that store the user's task (context.json), later words and answers to questions."""

from __future__ import annotations

import sys

import click

from cli.answers import write
from cli.options import opened, state_dir_option
from orchestrator.plan import context
from shared.builders import Block
from shared.named_files import read_answer
from shared.steps.printing import print_current


@click.group("context")
def context_command() -> None:
    """Store what the user asked for and said."""


@context_command.command("set")
@click.option("--file", "path", required=True, metavar="FILE", help="JSON with the categories.")
@state_dir_option
def set_context(path: str, state_dir: str | None) -> None:
    """Store the user's task as context.json and end step 2.

    Example: planner context set --file .planner/runs/20260102-abcdef/answers/context.json
    """
    state = opened(state_dir)
    context.set_context(state, read_answer(state.state_dir, path).json())
    write(print_current(state))


@context_command.command("add-quote")
@click.argument("text")
@state_dir_option
def add_quote(text: str, state_dir: str | None) -> None:
    """Add words of the user, verbatim, until the plan is frozen.

    Once the design has ended they are a remark on it, which makes it due again.

    Example: planner context add-quote "Keep the old flag working"
    """
    from orchestrator.submit.revise import remark

    state = opened(state_dir)
    if context.add_quote(state, text):
        write(Block("result").data("quote", text).render())
    else:
        remark(state, text)
        write(print_current(state))


@context_command.command("ask")
@click.option("--file", "path", required=True, metavar="FILE", help="A JSON list of questions.")
@state_dir_option
def ask(path: str, state_dir: str | None) -> None:
    """Ask the user at most three questions; the main assistant shows them.

    Example: planner context ask --file answers/questions.json --role architect
    """
    state = opened(state_dir)
    asked = context.ask(state, read_answer(state.state_dir, path).json())
    block = Block("result").task("Your questions are stored. End here and say that they wait.")
    write(block.data("questions", ", ".join(asked)).render())


if __name__ == "__main__":
    from cli.main import main

    sys.exit(main(["context", *sys.argv[1:]]))
