"""Commands that store the user's task (context.json), later words and answers to questions."""

from __future__ import annotations

import sys

import click

from cli.answers import write
from cli.options import allow_roles, opened, role_option, state_dir_option
from orchestrator.plan import context
from shared.builders import Block
from shared.named_files import find_answer
from shared.steps.printing import print_current
from state.actors import ARCHITECT, DEVELOPER, WRITER
from state.files import read_json, read_text


@click.group("context")
def context_command() -> None:
    """Store what the user asked for and said."""


@context_command.command("set")
@click.option("--file", "path", required=True, metavar="FILE", help="JSON with the categories.")
@state_dir_option
@role_option
def set_context(path: str, state_dir: str | None, role: str | None) -> None:
    """Store the user's task as context.json and end step 2.

    Example: planner context set --file .planner/runs/20260102-abcdef/answers/context.json
    """
    allow_roles(role)
    state = opened(state_dir)
    context.set_context(state, find_answer(state.state_dir, path))
    write(print_current(state))


@context_command.command("add-quote")
@click.argument("text")
@state_dir_option
@role_option
def add_quote(text: str, state_dir: str | None, role: str | None) -> None:
    """Add words of the user, verbatim, until the plan is frozen.

    Example: planner context add-quote "Keep the old flag working"
    """
    allow_roles(role)
    context.add_quote(opened(state_dir), text)
    write(Block("result").data("quote", text).render())


@context_command.command("answer")
@click.argument("checkpoint", metavar="ID")
@click.argument("choice", required=False, metavar="[CHOICE[,CHOICE]]")
@click.option("--file", "path", metavar="FILE", help="The answer, or the user's own words.")
@state_dir_option
@role_option
def answer(
    checkpoint: str, choice: str | None, path: str | None, state_dir: str | None, role: str | None
) -> None:
    """Store the user's answer to a question and print what is next.

    Example: planner context answer CP-001 keep
    """
    allow_roles(role)
    if (choice is None) == (path is None):
        raise click.UsageError("give either a CHOICE, or a --file with the user's words")
    state = opened(state_dir)
    if path is None:
        context.answer(state, checkpoint, (choice or "").split(","))
    else:
        words = read_text(find_answer(state.state_dir, path)).strip()
        context.answer_in_words(state, checkpoint, words)
    write(print_current(state))


@context_command.command("ask")
@click.option("--file", "path", required=True, metavar="FILE", help="A JSON list of questions.")
@state_dir_option
@role_option
def ask(path: str, state_dir: str | None, role: str | None) -> None:
    """Ask the user at most three questions; the main assistant shows them.

    Example: planner context ask --file answers/questions.json --role architect
    """
    allow_roles(role, ARCHITECT, DEVELOPER, WRITER)
    state = opened(state_dir)
    asked = context.ask(state, read_json(find_answer(state.state_dir, path)))
    block = Block("result").task("Your questions are stored. End here and say that they wait.")
    write(block.data("questions", ", ".join(asked)).render())


if __name__ == "__main__":
    from cli.main import main

    sys.exit(main(["context", *sys.argv[1:]]))
