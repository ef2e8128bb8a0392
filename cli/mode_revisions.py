"""Commands `mode rebase` and `mode edit`: a submitted plan goes on, changed."""

from __future__ import annotations

import os
import time

import click

from cli.answers import write
from cli.options import agent_option, state_dir_option
from shared.mode.where import Target
from shared.steps.printing import print_current


@click.command("rebase")
@state_dir_option
@agent_option
def rebase(state_dir: str | None, agent: str | None) -> None:
    """Accept what changed in your tree while the plan was made. Only a person may run it.

    Example: planner mode rebase --state-dir .planner/runs/20260102-abcdef
    """
    from cli.results import render_rebased
    from orchestrator.mode import lookup
    from orchestrator.mode.light_plan import rebase_light
    from orchestrator.mode.render import render_mode
    from orchestrator.plan.rebase import rebase_run

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
def edit(text: str, state_dir: str | None, agent: str | None) -> None:
    """Give remarks on the plan: a submitted one gets a new revision, else its design is due again.

    Example: planner mode edit "Keep the old name as an alias"
    """
    from orchestrator.mode import light_plan, lookup
    from orchestrator.mode.render import render_mode
    from orchestrator.submit import revise

    found = lookup.find(Target(os.getcwd(), agent, state_dir), time.time()).settle()
    if found.state is not None:
        revise.remark(found.state, text)
        write(print_current(found.state))
        return
    light_plan.remark(found, text)
    write(render_mode(found))


REVISIONS = (rebase, edit)
