"""What leads from one revision to another, and on to a tree that has changed: rebase, edit."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import click

from cli.options import agent_option, allow_roles, opened, role_option, state_dir_option
from shared.mode.where import Target
from shared.output import write

if TYPE_CHECKING:
    from cli.options import Command


def only_option(command: Command) -> Command:
    """Add --only: some milestones of the plan."""
    text = "Only these milestones, joined by commas."
    return click.option("--only", metavar="ID[,ID]", help=text)(command)


def submit_part(state_dir: str | None, digest: str, only: str) -> str:
    """Return what is printed when a person takes a part of a submitted plan."""
    from orchestrator.submit import part

    names = {name.strip() for name in only.split(",")} - {""}
    return part.submit_part(opened(state_dir), digest, names)


@click.command("rebase")
@state_dir_option
@agent_option
@role_option
def rebase(state_dir: str | None, agent: str | None, role: str | None) -> None:
    """Accept what changed in your tree while the plan was made. A person's command.

    Example: planner mode rebase --state-dir .planner/runs/20260102-abcdef
    """
    from orchestrator.mode import lookup
    from orchestrator.mode.light_plan import rebase_light
    from orchestrator.plan import rebase as rebasing
    from orchestrator.planner import WORKFLOW

    allow_roles(role)
    found = lookup.find(Target(os.getcwd(), agent, state_dir), time.time()).settle()
    write(rebasing.rebase(found.state, WORKFLOW) if found.state else rebase_light(found))


@click.command("edit")
@click.argument("text")
@state_dir_option
@agent_option
@role_option
def edit(text: str, state_dir: str | None, agent: str | None, role: str | None) -> None:
    """Send the submitted plan back with remarks: the next revision is made from them.

    Example: planner mode edit "Keep the old name as an alias"
    """
    from orchestrator.mode import light_plan, lookup
    from orchestrator.submit import revise

    allow_roles(role)
    found = lookup.find(Target(os.getcwd(), agent, state_dir), time.time()).settle()
    write(revise.remark(found.state, text) if found.state else light_plan.remark(found, text))


REVISIONS = (rebase, edit)
