"""`planner init`: a person writes the project's verify commands to planner.toml."""

from __future__ import annotations

import os
import sys

import click

from cli.answers import write
from cli.options import opened_to_read
from developer.candidates.detect import candidates
from developer.candidates.settle import write_commands
from shared.builders import Block
from shared.candidates import chosen_commands
from shared.git.repository import find_repository
from shared.plan_refs import refspec_command
from shared.resources import command
from state.errors import Refused

_PLANS = "to fetch the plans of other people's commits, run once"


@click.command("init")
@click.option(
    "--use",
    "numbers",
    type=int,
    multiple=True,
    metavar="N",
    help="Candidate of this number; repeatable.",
)
@click.option("--command", "own", multiple=True, metavar="TEXT", help="A command of your own.")
@click.option("--chosen", is_flag=True, help="What the assistant chose in the current run.")
def init_command(numbers: tuple[int, ...], own: tuple[str, ...], *, chosen: bool) -> None:
    """Write the commands that verify a change to planner.toml.

    Without an option it shows the candidates. Where the remote's plans are not fetched yet, it
    names the command that has them fetched.

    Example: planner init --use 1
    """  # fmt: skip
    repository = find_repository(os.getcwd())
    root = repository.root
    found = candidates(root, root)
    if not (numbers or own or chosen):
        block = Block("result").data("candidates", found.lines() or "none was found")
        block.data(_PLANS, refspec_command(repository))
        write(block.person(command("init", "--use", "1")).render())
        return
    wrong = [number for number in numbers if not 1 <= number <= len(found.candidates)]
    if wrong:
        allowed = found.lines() or "none was found; name commands by --command"
        raise Refused("not_found", f"--use {wrong[0]}", "there is no such candidate", allowed)
    commands = [found.candidates[number - 1][0] for number in numbers]
    commands += [*own, *(chosen_commands(opened_to_read(None).state_dir) if chosen else ())]
    if not commands:
        raise Refused("refused", "--chosen", "nothing is chosen in the current run", "--use N")
    path = write_commands(root, [*dict.fromkeys(commands)])
    text = "Later runs verify by these commands once you have committed the file."
    block = Block("result").task(text).data(path, "\n".join(commands))
    write(block.data(_PLANS, refspec_command(repository)).render())


if __name__ == "__main__":
    from cli.main import main

    sys.exit(main(["init", *sys.argv[1:]]))
