"""`planner start`: start a run for a request."""

from __future__ import annotations

import os
import sys

import click

from cli.lanes import lane_options, render_in_advance
from cli.options import agent_option, state_dir_option
from orchestrator.run.start import BASES, DEPTHS, Choices, render_start, start_run
from quality_reviewer.scale import MODES
from shared.output import write


@click.command("start")
@click.argument("request", required=False, metavar="TEXT")
@click.option("--base", type=click.Choice(BASES), help="Plan against HEAD or on uncommitted work.")
@click.option(
    "--review", type=click.Choice(MODES), help="How much review; else by the plan's size."
)
@click.option(
    "--depth", type=click.Choice(DEPTHS), help="intent: the design is approved, then the code."
)
@lane_options
@state_dir_option
@agent_option
def start_command(
    request: str | None,
    state_dir: str | None,
    agent: str | None,
    *,
    in_advance: bool,
    **chosen: str | None,
) -> None:
    """Start a run for a request, or go on with the one started with the same words.

    Example: planner start "Parse ISO dates in the importer"
    """
    choices = Choices(chosen["base"], chosen["review"], chosen["depth"])
    started = start_run(os.getcwd(), request, state_dir, choices, agent)
    if in_advance and started.state is not None and not started.uncommitted:
        write(render_in_advance(started.state))
    else:
        write(render_start(started))


if __name__ == "__main__":
    from cli.main import main

    sys.exit(main(["start", *sys.argv[1:]]))
