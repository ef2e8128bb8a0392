"""Checks each command that a refusal prints as its way out, whichever test reaches the refusal.

It begins with the launcher or a program of the user's, it is a command of the table with options
that the command has, and where it is the refused command, it keeps what that was given.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
from typing import TYPE_CHECKING

import click

from cli import wrong_usage
from cli.main import planner
from shared.commands import name_of
from shared.resources import launcher_path

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

KEPT = ("--state-dir", "--alone")
# Options of `step`, whose words the command itself reads.
_OF_STEP = ("--step", "--again", "--state-dir", "--request", "--role", "--group", "--by",
            "--milestone")  # fmt: skip
_WAY = re.compile(r" · (retry|person|user): (.*)$", re.DOTALL)


def faults_of(texts: Iterable[str], call: Sequence[str]) -> list[str]:
    """Return what is wrong with the ways out in the texts of problems of a refused `call`."""
    found = (_WAY.search(text) for text in texts)
    return [
        f"{way[0]} after `{shlex.join(call)}`: {fault}"
        for way in found
        if way and (fault := fault_of(way[1], way[2], call))
    ]


def fault_of(label: str, command: str, call: Sequence[str]) -> str:
    """Return what is wrong with a printed way out, "" if nothing is."""
    program, *words = shlex.split(command)
    if label == "user":
        path = os.pathsep.join((os.environ.get("PATH", ""), os.defpath))  # a test may hide it
        return "" if shutil.which(program, path=path) else f"there is no program {program}"
    if program != launcher_path():
        return "it does not begin with the launcher"
    name = name_of(words)
    if not name and "--help" not in words:
        return "it is not a command of the table"
    if unknown := _unknown(words):
        return unknown
    if "--help" in words:
        return ""
    lost = [option for option in KEPT if option in _options(call) and option not in _options(words)]
    # A new run has a state directory of its own.
    lost = [option for option in lost if words[1:] or option != "--state-dir"]
    return f"it has lost {lost}" if name == name_of([*call]) and lost else ""


def root() -> click.Context:
    """Return the context of the planner's command, with its settings, which commands remember."""
    return click.Context(planner, info_name="planner", **planner.context_settings)


def _unknown(words: Sequence[str]) -> str:
    """Return what click says of options and words that the command does not take."""
    if words[0] == "step":
        unknown = [option for option in _options(words) if option not in _OF_STEP]
        return f"step has no option {unknown}" if unknown else ""
    if "--help" in words:
        words = [word for word in words if word != "--help"]
        try:
            wrong_usage.context_of(root(), words)
        except click.UsageError as error:
            return error.format_message()
        return ""
    ctx, rest = root(), [*words]
    command: click.Command = planner
    try:
        while isinstance(command, click.Group):
            name, found, rest = command.resolve_command(ctx, rest)
            assert found is not None
            ctx, command = click.Context(found, info_name=name, parent=ctx), found
        command.make_parser(ctx).parse_args(rest)
    except click.UsageError as error:
        return error.format_message()
    return ""


def _options(words: Sequence[str]) -> set[str]:
    before = words[: words.index("--")] if "--" in words else words
    return {word.partition("=")[0] for word in before if word.startswith("--")}
