"""`planner guard`: ask whether a shell command may run while a plan is made."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING

import click

from cli.answers import write
from cli.options import json_option
from shared.builders import Block
from shared.config import load_config
from shared.git.repository import find_repository
from shared.guard.decide import Decision, decide
from shared.guard.denial import Denied
from shared.guard.permissions import refusal_for_assistant
from shared.guard.settings import Settings, load_settings
from shared.mode import sessions
from shared.mode.sessions import agent_name
from shared.named_files import read_named
from state.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Iterable

_FORM = '{"command": "git log -1"}'


@click.group("guard")
def guard_command() -> None:
    """Ask what an assistant may run while a plan is made."""


@guard_command.command("check")
@click.argument("command", required=False)
@click.option("--file", "path", metavar="JSONL", help='Objects {"command": …}, one a line.')
@json_option
@click.pass_context
def check(ctx: click.Context, command: str | None, path: str | None, *, as_json: bool) -> None:
    """Say whether a shell command would pass, why, and what would run; exit 1 if denied.

    With --file, or - for standard input, print a line of JSON for each line; the exit code is 0.
    Nothing is run.

    Example: planner guard check "git log --oneline -5"
    """
    if (command is None) == (path is None):
        raise click.UsageError("name a command, a --file, or - for standard input")
    if path is None and command is not None and command != "-":
        decision = _decide(command)
        write(f"{_line(decision)}\n" if as_json else _block(decision))
        ctx.exit(0 if decision.allowed else 1)
    elif path in (None, "-"):
        _answer(sys.stdin.buffer)
    else:
        _answer(read_named(path or "").data.splitlines())


def _answer(lines: Iterable[bytes]) -> None:
    for line in lines:
        try:
            command = json.loads(line)["command"]
        except (ValueError, TypeError, KeyError, RecursionError):
            command = None
        known = isinstance(command, str)
        denied = Decision(
            allowed=False,
            reason="the line is not a JSON object with a text as `command`",
            instead=_FORM,
        )
        write(f"{_line(_decide(command) if known else denied)}\n")


def _decide(command: str) -> Decision:
    folder = os.getcwd()
    try:
        settings = _settings(folder)
    except Denied as denied:
        return Decision(allowed=False, reason=denied.reason, instead=denied.instead)
    return decide(command, cwd=folder, planner=refusal_for_assistant, extra=settings)


def _settings(folder: str) -> Settings:
    """Return the settings by which a session that plans in `folder` is or would be held."""
    session = sessions.find(agent_name(None, ""), folder)
    if session is not None:
        return load_settings(session.state_dir)
    own = load_settings(None)
    try:
        repository = find_repository(folder)
    except Refused:
        return own
    try:
        lines = load_config(repository.git, "HEAD").deny
    except Refused as refusal:
        raise Denied(str(refusal), "correct the settings") from None
    return Settings(own.allow, (*own.deny, *(tuple(line.split()) for line in lines)), own.tools)


def _line(decision: Decision) -> str:
    answer = {"decision": "allow" if decision.allowed else "deny", "reason": decision.reason}
    if not decision.allowed:
        answer["instead"] = decision.instead
    return json.dumps({**answer, "rewritten": decision.rewritten}, ensure_ascii=True)


def _block(decision: Decision) -> str:
    block = Block("result", decision="allow" if decision.allowed else "deny")
    parts = {"reason": decision.reason, "instead": decision.instead, "runs": decision.rewritten}
    for name, text in parts.items():
        if text:
            block = block.data(name, text)
    return block.render()


if __name__ == "__main__":
    from cli.main import main

    sys.exit(main(["guard", *sys.argv[1:]]))
