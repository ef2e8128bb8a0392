"""Approval: the person's word on a digest."""

from __future__ import annotations

import os
import sys

import click

from cli.mode_revisions import REVISIONS
from cli.options import allow_roles, role_option, state_dir_option
from shared import execution
from shared.stepping import write


@click.group("mode")
def mode_command() -> None:
    """Say what becomes of a submitted plan."""


for revision_command in REVISIONS:
    mode_command.add_command(revision_command)


@mode_command.command("approve")
@click.argument("digest")
@state_dir_option
@role_option
def approve(digest: str, state_dir: str | None, role: str | None) -> None:
    """Approve exactly the bytes that the digest names. A person's command.

    Example: planner mode approve 3f0c…e1 --state-dir .planner/runs/20260102-abcdef
    """
    allow_roles(role)
    write(execution.approve(execution.open_or_adopt(state_dir, os.getcwd()), digest))


if __name__ == "__main__":
    from cli.main import main

    sys.exit(main(["mode", *sys.argv[1:]]))
