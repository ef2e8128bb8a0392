"""The user's task: context.json, later words, answers to checkpoints."""

from __future__ import annotations

import sys

import click

from cli.options import allow_roles, opened, role_option, state_dir_option
from shared import plans, resources
from shared.builders import Block
from shared.stepping import write


@click.group("context")
def context_command() -> None:
    """Keep what the user asked for and said."""


@context_command.command("set")
@click.option("--file", "path", required=True, metavar="FILE", help="JSON with the categories.")
@state_dir_option
@role_option
def set_context(path: str, state_dir: str | None, role: str | None) -> None:
    """Store context.json and end step 2.

    Example: planner context set --file .planner/runs/20260102-abcdef/answers/context.json
    """
    allow_roles(role)
    state = opened(state_dir)
    write(plans.set_context(state, resources.find_answer(state.state_dir, path)))


@context_command.command("add-quote")
@click.argument("text")
@state_dir_option
@role_option
def add_quote(text: str, state_dir: str | None, role: str | None) -> None:
    """Add words of the user, verbatim, until the plan is frozen.

    Example: planner context add-quote "Keep the old flag working"
    """
    allow_roles(role)
    plans.add_quote(opened(state_dir), text)
    write(Block("result").data("quote", text).render())


@context_command.command("answer")
@click.argument("checkpoint", metavar="ID")
@click.argument("choice", metavar="CHOICE[,CHOICE]")
@state_dir_option
@role_option
def answer(checkpoint: str, choice: str, state_dir: str | None, role: str | None) -> None:
    """Store the user's answer to a checkpoint.

    Example: planner context answer CP-001 keep
    """
    allow_roles(role)
    plans.answer(opened(state_dir), checkpoint, choice.split(","))
    write(Block("result").data(checkpoint, choice).render())


if __name__ == "__main__":
    from cli.main import main

    sys.exit(main(["context", *sys.argv[1:]]))
