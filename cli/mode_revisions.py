"""Commands `mode rebase` and `mode edit`, and the option `mode approve --only`."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import click

from cli.answers import write
from cli.options import agent_option, allow_roles, opened, role_option, state_dir_option
from shared.mode.where import Target
from shared.steps.printing import print_current

if TYPE_CHECKING:
    from cli.options import Command


def only_option(command: Command) -> Command:
    """Add the command option --only, which names some milestones of the plan."""
    text = "Only these milestones, joined by commas."
    return click.option("--only", metavar="ID[,ID]", help=text)(command)


def submit_part(state_dir: str | None, digest: str, only: str) -> str:
    """Submit some milestones of a plan as its next revision; return the block to print."""
    from cli.results import render_part
    from orchestrator.execute.approve import full_digest
    from orchestrator.submit import part

    names = {name.strip() for name in only.split(",")} - {""}
    state = opened(state_dir)
    whole = full_digest(digest, os.getcwd(), state_dir)
    return render_part(state, part.submit_part(state, whole, names), whole, names)


@click.command("rebase")
@state_dir_option
@agent_option
@role_option
def rebase(state_dir: str | None, agent: str | None, role: str | None) -> None:
    """Accept what changed in your tree while the plan was made. Only a person may run it.

    Example: planner mode rebase --state-dir .planner/runs/20260102-abcdef
    """
    from cli.results import render_rebased
    from orchestrator.mode import lookup
    from orchestrator.mode.light_plan import rebase_light
    from orchestrator.mode.render import render_mode
    from orchestrator.plan.rebase import rebase_run

    allow_roles(role)
    found = lookup.find(Target(os.getcwd(), agent, state_dir), time.time()).settle()
    if found.state is not None:
        write(render_rebased(found.state, rebase_run(found.state)))
        return
    rebase_light(found)
    write(render_mode(found))


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
    from orchestrator.mode.render import render_mode
    from orchestrator.submit import revise

    allow_roles(role)
    found = lookup.find(Target(os.getcwd(), agent, state_dir), time.time()).settle()
    if found.state is not None:
        revise.remark(found.state, text)
        write(print_current(found.state))
        return
    light_plan.remark(found, text)
    write(render_mode(found))


REVISIONS = (rebase, edit)
