"""Command-line options that many commands share, and functions that open the run they name."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from cli import answers
from orchestrator.run.limits import settle
from shared.run import State, open_state
from state.actors import ROLES
from state.errors import Refused
from state.phases import PHASES

if TYPE_CHECKING:
    from collections.abc import Callable

    Command = Callable[..., Any]


def state_dir_option(command: Command) -> Command:
    """Add the option --state-dir; by default, the repository's one active run is meant."""
    return click.option("--state-dir", metavar="DIR", help="State directory of the run.")(command)


def agent_option(command: Command) -> Command:
    """Add the option --agent, an agent's name; default: the client's session or the repository."""
    return click.option("--agent", metavar="NAME", help="The agent that plans; else yours.")(
        command
    )


def role_option(command: Command) -> Command:
    """Add the option --role; without it or PLAN_AGENT_ROLE, the caller is the main assistant."""
    text = "Role of the calling agent; what the role may not do is refused."
    return click.option("--role", envvar="PLAN_AGENT_ROLE", type=click.Choice(ROLES), help=text)(
        command
    )


def json_option(command: Command) -> Command:
    """Add the option --json, which prints the command's output as JSON."""
    return click.option(
        "--json", "as_json", is_flag=True, default=lambda: answers.form() == answers.JSON,
        help="Print JSON.",
    )(command)  # fmt: skip


# `cli/answers.py` reads it before the command is parsed; here it is checked and explained.
FORMAT = click.Option(
    ["--format"], type=click.Choice(answers.FORMS), expose_value=False,
    help="Text is for people on a terminal, a block (xml) for all others.",
)  # fmt: skip
_OWN_OUTPUT = ("step", "ro")  # a step prints blocks alone, `ro` what its command prints


def with_format(command: click.Command) -> click.Command:
    """Add the option --format to a command or a group's commands, but where they have their own."""
    if isinstance(command, click.Group):
        for one in command.commands.values():
            with_format(one)
    elif command.name not in _OWN_OUTPUT and not any("--format" in p.opts for p in command.params):
        command.params.append(FORMAT)
    return command


def phase_option(command: Command) -> Command:
    """Add the required option --phase, which names a review phase such as plan-code."""
    return click.option("--phase", type=click.Choice(PHASES), required=True)(command)


def group_option(command: Command) -> Command:
    """Add the option --group, which selects one reviewer's questions; by default all questions."""
    return click.option("--group", metavar="N", help="Only one reviewer's share.")(command)


def opened(state_dir: str | None) -> State:
    """Return the run that --state-dir or the working directory names, opened for changes.

    A time limit that has passed is stored first.
    """
    state = open_state(state_dir, os.getcwd())
    settle(state)
    return state


def opened_to_read(state_dir: str | None) -> State:
    """Return the run that --state-dir or the working directory names, opened for reading only."""
    return open_state(state_dir, os.getcwd())


def allow_roles(role: str | None, *roles: str) -> None:
    """Raise Refused if the caller's role is not among `roles`; no role means the main assistant."""
    if role is not None and role not in roles:
        allowed = ", ".join(["the host (no --role)", *roles])
        raise Refused("refused", "--role", f"the role {role} may not run this", allowed)
