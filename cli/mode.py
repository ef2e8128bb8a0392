"""Commands of planning mode: enter, submit a light plan, approve or reject it, steps, status.

What changes the mode is imported by the commands that do so: `mode status` has to be quick.
"""

from __future__ import annotations

import json
import os
import sys
import time
from typing import TYPE_CHECKING

import click

from cli.answers import write, write_standing
from cli.mode_revisions import REVISIONS, only_option, submit_part
from cli.options import agent_option, allow_roles, json_option, role_option, state_dir_option
from orchestrator.mode import lookup
from orchestrator.mode.render import render_mode, status_of
from shared.mode.where import Target
from state.light import DONE, STARTED

if TYPE_CHECKING:
    from shared.run import State


@click.group("mode")
def mode_command() -> None:
    """Plan before anything is changed; approve or reject the plan."""


for revision_command in REVISIONS:
    mode_command.add_command(revision_command)


@mode_command.command("enter")
@click.argument("task", required=False)
@click.option("--reason", metavar="TEXT", help="Why to plan first; the user is shown it.")
@agent_option
@role_option
def enter(task: str | None, reason: str | None, agent: str | None, role: str | None) -> None:
    """Start planning without a run: read-only until a person approves.

    Example: planner mode enter "Move the importer to ISO dates" --reason "several files"
    """
    from orchestrator.mode import light_plan

    allow_roles(role)
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
@role_option
def submit(file: str, state_dir: str | None, agent: str | None, role: str | None) -> None:
    """Submit a light plan: summary, steps with tools and risk, open questions, notes.

    Example: planner mode submit --file answers/light.json
    """
    from orchestrator.mode import light_plan

    allow_roles(role)
    found = _own(agent, state_dir)
    light_plan.submit(found, file)
    write(render_mode(found))


@mode_command.command("approve")
@click.argument("digest")
@only_option
@state_dir_option
@agent_option
@role_option
def approve(
    digest: str, only: str | None, state_dir: str | None, agent: str | None, role: str | None
) -> None:
    """Approve exactly the bytes that the digest names. Only a person may run it.

    At least 12 digits of it are enough, if no other plan has them. With --only, these milestones
    become a revision of their own, with a digest to approve.

    Example: planner mode approve 3f0c…e1 --state-dir .planner/runs/20260102-abcdef
    """
    from orchestrator.mode import light_plan
    from shared.steps.printing import print_current

    allow_roles(role)
    if only is not None:
        write(submit_part(state_dir, digest, only))
        return
    found = light_plan.approve(Target(os.getcwd(), agent, state_dir), digest, time.time())
    if isinstance(found, lookup.Mode):
        write(render_mode(found))
    elif found.config["config"].get("auto_run"):
        run_at_once(found)
    else:
        write(print_current(found))


def run_at_once(state: State) -> None:
    """Carry out a plan that was just approved, as the settings want it; write what is next."""
    from cli.results import write_ran
    from orchestrator.execute.carry_out import run_plan

    write_ran(state, run_plan(state))


@mode_command.command("reject")
@click.argument("digest", required=False)
@click.option("--reason", default="", metavar="TEXT", help="Why; the audit keeps it.")
@state_dir_option
@agent_option
@role_option
def reject(
    digest: str | None, reason: str, state_dir: str | None, agent: str | None, role: str | None
) -> None:
    """Reject what was submitted; planning ends, nothing is changed. Only a person may run it.

    Example: planner mode reject 3f0c…e1 --reason "not before the release"
    """
    from orchestrator.mode import light_plan

    allow_roles(role)
    found = _settled_mode(agent, state_dir)
    light_plan.reject(found, digest, reason)
    _write_end(found)


@mode_command.command("cancel")
@state_dir_option
@agent_option
@role_option
def cancel(state_dir: str | None, agent: str | None, role: str | None) -> None:
    """End planning mode and its run; the plan is kept. Only a person may run it.

    Example: planner mode cancel
    """
    from orchestrator.mode import light_plan

    allow_roles(role)
    found = _settled_mode(agent, state_dir)
    light_plan.cancel(found)
    _write_end(found)


@mode_command.command("step")
@click.argument("number", type=int, metavar="N")
@click.argument("status", type=click.Choice(("start", "done")), metavar="start|done")
@state_dir_option
@agent_option
@role_option
def step(
    number: int, status: str, state_dir: str | None, agent: str | None, role: str | None
) -> None:
    """Record that a step of an approved light plan is started or done; the last ends planning.

    Example: planner mode step 1 start
    """
    from orchestrator.mode import light_plan

    allow_roles(role)
    found = _own(agent, state_dir)
    light_plan.track(found, number, {"start": STARTED, "done": DONE}[status])
    write(render_mode(found))


def _own(agent: str | None, state_dir: str | None) -> lookup.Mode:
    return lookup.own_mode(Target(os.getcwd(), agent, state_dir), time.time()).settle()


def _settled_mode(agent: str | None, state_dir: str | None) -> lookup.Mode:
    return lookup.find(Target(os.getcwd(), agent, state_dir), time.time()).settle()


def _write_end(found: lookup.Mode) -> None:
    from orchestrator.run.end import render_end

    if found.state is not None:
        write_standing(found.state, render_end(found.note))
    else:
        write(render_mode(found))


if __name__ == "__main__":
    from cli.main import main

    sys.exit(main(["mode", *sys.argv[1:]]))
