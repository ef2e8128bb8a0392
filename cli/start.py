"""`planner start`: start a run for a request."""

from __future__ import annotations

import os
import sys

import click

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
@state_dir_option
@agent_option
def start_command(
    request: str | None,
    base: str | None,
    review: str | None,
    depth: str | None,
    state_dir: str | None,
    agent: str | None,
) -> None:
    """Start a run for a request, or go on with the one started with the same words.

    Example: planner start "Parse ISO dates in the importer"
    """
    chosen = Choices(base, review, depth)
    write(render_start(start_run(os.getcwd(), request, state_dir, chosen, agent)))


if __name__ == "__main__":
    from cli.main import main

    sys.exit(main(["start", *sys.argv[1:]]))
