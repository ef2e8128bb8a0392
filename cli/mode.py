"""Commands of planning mode: enter, submit a light plan, reject it, steps, status.

What changes the mode is imported by the commands that do so: `mode status` has to be quick.
"""

from __future__ import annotations

import json
import os
import sys
import time

import click

from cli.answers import write, write_end, write_standing
from cli.mode_revisions import REVISIONS
from cli.options import agent_option, json_option, state_dir_option
from orchestrator.mode import lookup
from orchestrator.mode.render import render_mode, status_of
from shared.mode.where import Target
from state.light import DONE, STARTED


@click.group("mode")
def mode_command() -> None:
    """Plan before anything is changed; approve or reject the plan."""


for revision_command in REVISIONS:
    mode_command.add_command(revision_command)


@mode_command.command("enter")
@click.argument("task", required=False)
@click.option("--reason", metavar="TEXT", help="Why to plan first; the user is shown it.")
@agent_option
def enter(task: str | None, reason: str | None, agent: str | None) -> None:
    """Start planning without a run: read-only until a person approves.

    Example: planner mode enter "Move the importer to ISO dates" --reason "several files"
    """
    from orchestrator.mode import light_plan

    write(render_mode(light_plan.enter(Target(os.getcwd(), agent), task, reason, time.time())))


@mode_command.command("status")
@state_dir_option
@agent_option
@json_option
def status(state_dir: str | None, agent: str | None, *, as_json: bool) -> None:
    """Say in which stage planning mode is, and show the plan that waits or is carried out.

    Example: planner mode status --json
    """
    found = lookup.find_or_inactive(Target(os.getcwd(), agent, state_dir), time.time())
    if as_json:
        write(json.dumps(status_of(found), indent=2) + "\n")
    elif found.state is not None:
        write_standing(found.state, render_mode(found))
    else:
        write(render_mode(found))


@mode_command.command("submit")
@click.option("--file", required=True, metavar="FILE", help="The light plan as JSON.")
@state_dir_option
@agent_option
def submit(file: str, state_dir: str | None, agent: str | None) -> None:
    """Submit a light plan: summary, steps with tools and risk, open questions, notes.

    Example: planner mode submit --file answers/light.json
    """
    from orchestrator.mode import light_plan

    found = _own(agent, state_dir)
    light_plan.submit(found, file)
    write(render_mode(found))


@mode_command.command("reject")
@click.argument("digest", required=False)
@click.option("--reason", default="", metavar="TEXT", help="Why; the audit keeps it.")
@state_dir_option
@agent_option
def reject(digest: str | None, reason: str, state_dir: str | None, agent: str | None) -> None:
    """Reject what was submitted; planning ends, nothing is changed. Only a person may run it.

    Example: planner mode reject 3f0c…e1 --reason "not before the release"
    """
    from orchestrator.mode import light_plan

    found = lookup.find(Target(os.getcwd(), agent, state_dir), time.time()).settle()
    light_plan.reject(found, digest, reason)
    write_end(found)


@mode_command.command("step")
@click.argument("number", type=int, metavar="N")
@click.argument("status", type=click.Choice(("start", "done")), metavar="start|done")
@state_dir_option
@agent_option
def step(number: int, status: str, state_dir: str | None, agent: str | None) -> None:
    """Record that a step of an approved light plan is started or done; the last ends planning.

    Example: planner mode step 1 start
    """
    from orchestrator.mode import light_plan

    found = _own(agent, state_dir)
    light_plan.track(found, number, {"start": STARTED, "done": DONE}[status])
    write(render_mode(found))


def _own(agent: str | None, state_dir: str | None) -> lookup.Mode:
    return lookup.own_mode(Target(os.getcwd(), agent, state_dir), time.time()).settle()


if __name__ == "__main__":
    from cli.main import main

    sys.exit(main(["mode", *sys.argv[1:]]))
