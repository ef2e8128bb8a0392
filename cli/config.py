"""Commands that show the project's configuration and confirm the shell commands it lists."""

from __future__ import annotations

import json
import os
import sys

import click

from cli.answers import write
from cli.options import (
    json_option,
    opened,
    opened_to_read,
    state_dir_option,
)
from developer import verification
from orchestrator.run.settings import settings_of
from shared import resources
from shared.builders import Block


@click.group("config")
def config_command() -> None:
    """Show the project's configuration and confirm its commands."""


@config_command.command("show")
@json_option
@state_dir_option
def show(state_dir: str | None, *, as_json: bool) -> None:
    """Show every setting with its source, and whether a run's commands are confirmed.

    The settings are those of HEAD and the user's own; the commands those of the run's base.

    Example: planner config show
    """
    settings = settings_of(os.getcwd())
    if as_json:
        write(json.dumps([one._asdict() for one in settings], indent=2) + "\n")
        return
    lines = [f"{s.name}\t{s.value}\t{s.source}" for s in settings]
    block = Block("result").data("settings", "\n".join(lines))
    if state_dir is not None or resources.repository_database(os.getcwd()):
        config = opened_to_read(state_dir).config
        block.data("commands", config["text"])
        block.data("hash", config["hash"] or "no commands are configured")
    write(block.render())


@config_command.command("confirm")
@click.argument("hash_", metavar="HASH")
@state_dir_option
def confirm(hash_: str, state_dir: str | None) -> None:
    """Allow the commands or git hooks with this hash to be run. Only a person may run it.

    Example: planner config confirm 9b1d…07
    """
    verification.confirm(opened(state_dir), hash_)
    write(Block("result").data("confirmed", hash_).render())


if __name__ == "__main__":
    from cli.main import main

    sys.exit(main(["config", *sys.argv[1:]]))
