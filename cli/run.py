"""A run as a whole: start, step, status, edit, cancel."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time

import click

from cli.options import agent_option, json_option, opened, opened_to_read, state_dir_option
from orchestrator.mode import light_plan, lookup
from orchestrator.mode.lookup import Mode
from orchestrator.run import end
from orchestrator.run.start import BASES, DEPTHS, Choices, begin
from orchestrator.run.status import render_status, status_of
from orchestrator.step import run_step
from quality_reviewer.scale import MODES
from shared.mode.where import Target
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
    """Begin a run for a request, or find the one begun with the same words.

    Example: planner start "Parse ISO dates in the importer"
    """
    write(begin(os.getcwd(), request, state_dir, Choices(base, review, depth), agent))


@click.command(
    "step",
    add_help_option=False,
    context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
)
@click.pass_context
def step_command(ctx: click.Context) -> None:
    """Print a step of a workflow; without a number, what is next.

    Example: planner step planner
    """
    ctx.exit(run_step(ctx.args))


@click.command("status")
@state_dir_option
@json_option
def status_command(state_dir: str | None, *, as_json: bool) -> None:
    """Say where the run is and what is next.

    Example: planner status
    """
    status = status_of(opened_to_read(state_dir))
    write(json.dumps(status, indent=2) + "\n" if as_json else render_status(status))


@click.command("cancel")
@state_dir_option
def cancel_command(state_dir: str | None) -> None:
    """End the run: its worktree goes, its plan and audit stay. A person's command.

    Example: planner cancel --state-dir .planner/runs/20260102-abcdef
    """
    write(end.cancel(opened(state_dir)))


@click.command("pause")
@state_dir_option
@agent_option
def pause_command(state_dir: str | None, agent: str | None) -> None:
    """Begin nothing new until it is resumed; what was read-only stays so.

    Example: planner pause
    """
    write(light_plan.pause(_found(agent, state_dir)))


@click.command("resume")
@state_dir_option
@agent_option
def resume_command(state_dir: str | None, agent: str | None) -> None:
    """Go on where it stopped, at the same revision; this session takes part from now on.

    Example: planner resume --state-dir .planner/runs/20260102-abcdef
    """
    write(light_plan.resume(_found(agent, state_dir), agent))


@click.command("edit")
@state_dir_option
def edit_command(state_dir: str | None) -> None:
    """Open the scratch worktree in your editor ($VISUAL, $EDITOR), then capture what changed.

    Example: planner edit
    """
    from developer.capture import capture_now

    state = opened(state_dir)
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if editor and sys.stdin.isatty():
        subprocess.run(["/bin/sh", "-c", f'{editor} "$1"', "sh", state.worktree], check=False)
    write(capture_now(state))


def _found(agent: str | None, state_dir: str | None) -> Mode:
    return lookup.find(Target(os.getcwd(), agent, state_dir), time.time()).settle()


if __name__ == "__main__":
    from cli.main import main

    sys.exit(main(sys.argv[1:]))
