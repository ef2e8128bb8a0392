"""Commands on a whole run: step, status, edit, pause, resume, cancel.

What only some of these commands need is imported by those: `status` has to be quick.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import click

from cli.options import agent_option, json_option, opened, opened_to_read, state_dir_option
from orchestrator.run.status import render_status, status_of
from shared.mode.where import Target
from shared.output import write

if TYPE_CHECKING:
    from orchestrator.mode.lookup import Mode


@click.command(
    "step",
    add_help_option=False,
    context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
)
@click.pass_context
def step_command(ctx: click.Context) -> None:
    """Print a step of a workflow; without a number, the step that is next.

    Example: planner step planner
    """
    from orchestrator.step import run_step

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
    """End the run: its worktree goes, its plan and audit stay. Only a person may run it.

    Example: planner cancel --state-dir .planner/runs/20260102-abcdef
    """
    from orchestrator.run import end

    write(end.render_end(end.cancel(opened(state_dir))))


@click.command("pause")
@state_dir_option
@agent_option
def pause_command(state_dir: str | None, agent: str | None) -> None:
    """Pause planning until it is resumed; what was read-only stays read-only.

    Example: planner pause
    """
    from orchestrator.mode import light_plan
    from orchestrator.mode.view import render_mode

    found = _found(agent, state_dir)
    light_plan.pause(found)
    write(render_mode(found))


@click.command("resume")
@state_dir_option
@agent_option
def resume_command(state_dir: str | None, agent: str | None) -> None:
    """Resume a paused run at the same revision; this session joins the run.

    Example: planner resume --state-dir .planner/runs/20260102-abcdef
    """
    from orchestrator.mode import light_plan
    from orchestrator.mode.view import render_mode
    from shared.steps.printing import print_current

    found = _found(agent, state_dir)
    light_plan.resume(found, agent)
    write(print_current(found.state) if found.state else render_mode(found))


@click.command("edit")
@state_dir_option
def edit_command(state_dir: str | None) -> None:
    """Open the scratch worktree in your editor ($VISUAL, $EDITOR), then capture what changed.

    Example: planner edit
    """
    from cli.results import render_captured
    from developer.capture import capture_now

    state = opened(state_dir)
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if editor and sys.stdin.isatty():
        subprocess.run(["/bin/sh", "-c", f'{editor} "$1"', "sh", state.worktree], check=False)
    write(render_captured(capture_now(state)))


def _found(agent: str | None, state_dir: str | None) -> Mode:
    from orchestrator.mode import lookup

    return lookup.find(Target(os.getcwd(), agent, state_dir), time.time()).settle()


if __name__ == "__main__":
    from cli.main import main

    sys.exit(main(sys.argv[1:]))
