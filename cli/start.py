"""`planner start`: start a run for a request."""

from __future__ import annotations

import os
import sys
from typing import Any

import click

from cli.answers import write
from cli.installed import keep_current
from cli.lanes import lane_options, render_in_advance
from cli.options import agent_option, state_dir_option
from orchestrator.run.choices import BASES, DEPTHS, Choices
from orchestrator.run.start import render_start, start_run
from orchestrator.strategy_route.opening import begin
from quality_reviewer.scale import MODES
from shared.steps.printing import print_current
from shared.strategy_record import CHAT, CODE, WORKFLOW
from state.errors import Refused


@click.command("start")
@click.argument("request", required=False, metavar="[TEXT]")
@click.option("--base", type=click.Choice(BASES), help="Plan against HEAD or on uncommitted work.")
@click.option(
    "--review", type=click.Choice(MODES), help="How much review; else by the plan's size."
)
@click.option(
    "--depth", type=click.Choice(DEPTHS), help="intent: the design is approved, then the code."
)
@click.option("--alone", is_flag=True, help="You start no sub-agents: you do all work yourself.")
@click.option("--beside", is_flag=True, help="Begin it although this session plans already.")
@lane_options
@state_dir_option
@agent_option
def start_command(
    request: str | None,
    state_dir: str | None,
    agent: str | None,
    *,
    in_advance: bool,
    chat: bool,
    alone: bool,
    **chosen: Any,  # noqa: ANN401 – what other options give
) -> None:
    """Start a run for a request; the same words go on with it.

    Without an option that says how to plan, it begins with the question whether to plan at all.

    Example: planner start "Parse ISO dates in the importer"
    """
    beside = chosen.pop("beside")
    given = [f"--{name}" for name, value in chosen.items() if value is not None]
    if chat and given:
        text = f"--chat and {given[0]} exclude each other: a chat plans no change"
        raise Refused("usage", given[0], text, "leave one of them out")
    weighs = not given and not in_advance
    keep_current()
    choices = Choices(chosen["base"], chosen["review"], chosen["depth"], strategy=weighs)
    if not beside and request:
        flags = {"--alone": alone, "--chat": chat, "--autonomous": in_advance}
        values = [f"--{name}={value}" for name, value in chosen.items() if value is not None]
        values += [f"--codepath={os.getcwd()}", *([f"--agent={agent}"] if agent else [])]
        values += [f"--state-dir={state_dir}"] if state_dir else []
        again = ("start", "--beside", *(name for name in flags if flags[name]), *values)
        choices = choices._replace(beside=(*again, "--", request))
    choices = choices._replace(alone=alone, chat=chat)
    started = start_run(os.getcwd(), request, state_dir, choices, agent)
    state = started.state
    if state is not None and state.run.workflow == WORKFLOW:
        begin(state, CHAT if chat else CODE)
        write(print_current(state))
    elif in_advance and state is not None and not started.uncommitted:
        write(render_in_advance(state))
    else:
        write(render_start(started))


if __name__ == "__main__":
    from cli.main import main

    sys.exit(main(["start", *sys.argv[1:]]))
