"""Command-line options that many commands share, and functions that open the run they name."""

from __future__ import annotations

import os
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import click

from cli import answers
from orchestrator.run.limits import settle
from shared.commands import CONSENTED, is_for_person, name_of, names_roles, roles_of
from shared.run import State, open_state
from state.actors import ROLES
from state.errors import Refused
from state.phases import PHASES

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Command = Callable[..., Any]

_STATE_DIR = "--state-dir"
_opened = ContextVar("opened", default="")  # the state directory of the run that is open


def state_dir_option(command: Command) -> Command:
    """Add the option --state-dir; by default, the repository's one active run is meant."""
    return click.option(_STATE_DIR, metavar="DIR", help="State directory of the run.")(command)


def agent_option(command: Command) -> Command:
    """Add the option --agent, an agent's name; default: the client's session or the repository."""
    return click.option("--agent", metavar="NAME", help="The agent that plans; else yours.")(
        command
    )


def unproven_option(command: Command) -> Command:
    """Add the option of the second act of an approval that nothing shows to be a person's."""
    text = "Approve although nothing shows that a person does; after a first try."
    return click.option("--unproven", is_flag=True, help=text)(command)


def role_option(command: Command) -> Command:
    """Add the option --role with its value, for a command whose deed depends on it."""
    return click.option(*_ROLE, **_CALLER)(command)


def json_option(command: Command) -> Command:
    """Add the option --json, which prints the command's output as JSON."""
    return click.option(
        "--json", "as_json", is_flag=True, default=lambda: answers.form() == answers.JSON,
        help="Print JSON.",
    )(command)  # fmt: skip


def _check_caller(ctx: click.Context, param: click.Parameter, role: str | None) -> str | None:
    """Return the caller's role; raise Refused if the table of commands does not name the caller.

    What asks for proof of its person itself, and what only shows, is not refused to an assistant.
    """
    del param
    name = name_of(ctx.command_path.split()[1:])
    if not name or ctx.resilient_parsing:
        return role
    if is_for_person(name):
        _check_person(ctx, name, role)
    elif role is not None and role not in roles_of(name):
        allowed = ", ".join(["the host (no --role)", *roles_of(name)])
        raise Refused("refused", "--role", f"the role {role} may not run this", allowed)
    return role


def _check_person(ctx: click.Context, name: str, role: str | None) -> None:
    if role is not None:
        text = f"the role {role} may not run this, since only a person may"
        raise Refused("refused", "--role", text, "end here and say that it waits for the user")
    from shared.mode.guarded import assistant_variable

    variable = assistant_variable()
    if not variable or name in CONSENTED or ctx.params.get("dry_run"):
        return
    text = f"only a person may run `planner {name}`, and {variable} says that an assistant does"
    shows = any(param.name == "dry_run" for param in ctx.command.params)
    also = ", or add --dry-run" if shows else ""
    raise Refused("refused", name, text, f"ask the user to type it in a terminal of theirs{also}")


_ROLE = ("--role",)
_CALLER: dict[str, Any] = {
    "envvar": "PLAN_AGENT_ROLE", "type": click.Choice(ROLES), "is_eager": True,
    "callback": _check_caller,
    "help": "Role of the calling agent; what the role may not do is refused.",
}  # fmt: skip
# `cli/answers.py` reads it before the command is parsed; here it is checked and explained.
FORMAT = click.Option(
    ["--format"], type=click.Choice(answers.FORMS), expose_value=False,
    help="Text is for people on a terminal, a block (xml) for all others.",
)  # fmt: skip
_OWN_OUTPUT = ("step", "ro")  # a step prints blocks alone, `ro` what its command prints


def with_shared_options(command: click.Command, path: str) -> click.Command:
    """Add --format and --role to a command or a group's commands, but where they have their own.

    `path` is what is typed before the command's own options. --role is shown where the table of
    commands names roles.
    """
    if isinstance(command, click.Group):
        for name, one in command.commands.items():
            with_shared_options(one, f"{path} {name}")
    elif path not in _OWN_OUTPUT:
        named = {name for param in command.params for name in param.opts}
        if "--format" not in named:
            command.params.append(FORMAT)
        if "--role" not in named:
            hidden = not names_roles(path.split())
            option = click.Option([*_ROLE], expose_value=False, hidden=hidden, **_CALLER)
            command.params.append(option)
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
    state = opened_to_read(state_dir)
    settle(state)
    return state


def opened_to_read(state_dir: str | None) -> State:
    """Return the run that --state-dir or the working directory names, opened for reading only."""
    state = open_state(state_dir, os.getcwd())
    _opened.set(state.state_dir)
    return state


def begin_call() -> None:
    """Forget which run the command before has opened in this process."""
    _opened.set("")


def as_called(argv: Sequence[str]) -> list[str]:
    """Return the words of this command with the run that it has found by its folder, if by that.

    So what leads out of its refusal works from any folder. A person on a terminal types it there.
    """
    named = any(word.partition("=")[0] == _STATE_DIR for word in argv)
    if named or not _opened.get() or answers.form() == answers.TEXT:
        return [*argv]
    return [*argv, _STATE_DIR, _opened.get()]


def allow_roles(role: str | None, *roles: str) -> None:
    """Raise Refused if the caller's role is not among `roles`; no role means the main assistant."""
    if role is not None and role not in roles:
        allowed = ", ".join(["the host (no --role)", *roles])
        raise Refused("refused", "--role", f"the role {role} may not run this", allowed)
