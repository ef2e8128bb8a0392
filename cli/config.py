"""Commands that show the project's configuration and confirm the shell commands it lists."""

from __future__ import annotations

import sys

import click

from cli.options import allow_roles, opened, opened_to_read, role_option, state_dir_option
from developer import verification
from shared.builders import Block
from shared.output import write


@click.group("config")
def config_command() -> None:
    """Show the project's configuration and confirm its commands."""


@config_command.command("show")
@state_dir_option
def show(state_dir: str | None) -> None:
    """Show the configuration at the run's base and whether its commands are confirmed.

    Example: planner config show
    """
    config = opened_to_read(state_dir).config
    block = Block("result").data("commands", config["text"])
    write(block.data("hash", config["hash"] or "no commands are configured").render())


@config_command.command("confirm")
@click.argument("hash_", metavar="HASH")
@state_dir_option
@role_option
def confirm(hash_: str, state_dir: str | None, role: str | None) -> None:
    """Allow the project's commands with this hash to be run. Only a person may run it.

    Example: planner config confirm 9b1d…07
    """
    allow_roles(role)
    verification.confirm(opened(state_dir), hash_)
    write(Block("result").data("confirmed", hash_).render())


if __name__ == "__main__":
    from cli.main import main

    sys.exit(main(["config", *sys.argv[1:]]))
