"""`planner init`: a person writes the project's verify commands to planner.toml."""

from __future__ import annotations

import contextlib
import os
import sys
from dataclasses import replace

import click

from cli.answers import write
from cli.options import opened_to_read
from developer.candidates.detect import candidates
from developer.candidates.settle import write_commands, write_network
from shared.builders import Block
from shared.candidates import chosen_commands
from shared.config import commands_hash, parse_config
from shared.git.repository import find_repository
from shared.plan_refs import refspec_command
from shared.resources import command
from state.errors import Refused

_COMMITTED = "Later runs verify so once you have committed the file."
_UNDER_WAY = (
    "A run that is under way takes it by `planner mode rebase` then. It counts once you have "
    "confirmed it together with the commands that the run verifies by:"
)
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
@click.option("--network", is_flag=True, help="Let these commands reach services and the network.")
def init_command(
    numbers: tuple[int, ...], own: tuple[str, ...], *, chosen: bool, network: bool
) -> None:
    """Write verify commands to planner.toml, or give them the network.

    Without an option it shows the candidates. Where the remote's plans are not fetched yet, it
    names the command that has them fetched.

    Example: planner init --use 1
    """  # fmt: skip
    repository = find_repository(os.getcwd())
    root = repository.root
    if network:
        path = write_network(root)
        write(Block("result").task(f"{_COMMITTED} {_UNDER_WAY}").data(path, "network = true")
              .person(command("config", "confirm", _hash_of(path))).render())  # fmt: skip
        return
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
    block = Block("result").task(_COMMITTED).data(path, "\n".join(commands))
    write(block.data(_PLANS, refspec_command(repository)).render())


def _hash_of(path: str) -> str:
    """Return what a person confirms: the settings as they are now, with what the run has chosen."""
    with open(path, "rb") as file:
        config = parse_config(file.read())
    with contextlib.suppress(Refused):  # there is no run, or there are several
        chosen = chosen_commands(opened_to_read(None).state_dir)
        config = replace(config, verify=tuple(dict.fromkeys([*config.verify, *chosen])))
    return commands_hash(config)


if __name__ == "__main__":
    from cli.main import main

    sys.exit(main(["init", *sys.argv[1:]]))
