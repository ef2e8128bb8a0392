"""Say what is wrong with a command line: a guess at what was meant, and a right example."""

from __future__ import annotations

import inspect
import re
from typing import TYPE_CHECKING

import click

from shared import resources
from shared.commands import COMMANDS, GONE
from state.errors import Problem

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_MOST_GUESSES = 2
_EXAMPLE = re.compile(r"^\s*Example: planner (.+)$", re.MULTILINE)


def problem_of(error: click.UsageError) -> Problem:
    """Return a command line's fault with what is allowed instead and the command for help."""
    ctx = error.ctx
    if ctx and isinstance(error, click.exceptions.NoSuchCommand):
        name = f"{ctx.command_path} {error.command_name}".partition(" ")[2]
        if gone := GONE.get(name):
            text = f"`planner {name}` is gone; `planner {gone}` does its deed"
            retry = f"{resources.launcher()} {gone.partition(' --')[0]} --help"
            return Problem("usage", f"planner {name}", text, f"planner {gone}", retry)
    if isinstance(error, click.NoSuchOption):
        allowed = ", ".join(_options(ctx))
    else:
        allowed = _commands(ctx) or _example(ctx)
    return _problem(ctx, error.format_message(), allowed)


def nothing_named(ctx: click.Context) -> Problem:
    """Return the fault of a group of commands that was called without one of them."""
    return _problem(ctx, "name a command", _commands(ctx))


def no_such_command(
    word: str, known: Iterable[str], ctx: click.Context
) -> click.exceptions.NoSuchCommand:
    """Return the error for a word that is no command: with those inside groups, else a guess."""
    from difflib import get_close_matches  # every command would load it, and most words are right

    inside = [name for name in COMMANDS if name.endswith(f" {word}")]
    near = inside or get_close_matches(word, known)
    # Letters that changed places are the likeliest slip.
    near = sorted(near, key=lambda name: sorted(name) != sorted(word))[:_MOST_GUESSES]
    said = " or ".join(f"'{name}'" for name in near)
    text = f"No such command '{word}'." + (f" Did you mean {said}?" if near else "")
    return click.exceptions.NoSuchCommand(word, text, ctx=ctx)


def context_of(ctx: click.Context, words: Sequence[str]) -> click.Context:
    """Return the context of the command that the words name; click.UsageError if there is none."""
    for word in words:
        group = ctx.command
        if not isinstance(group, click.Group):
            raise click.UsageError(f"{ctx.command_path} has no command '{word}'", ctx)
        command = group.resolve_command(ctx, [word])[1]
        assert command is not None  # noqa: S101 – else an error was raised
        ctx = click.Context(command, info_name=word, parent=ctx)
    return ctx


def list_whole(group: click.Group) -> None:
    """Have the help of a group list its commands with the whole first paragraph of theirs."""
    for command in group.commands.values():
        paragraph = inspect.cleandoc(command.help or "").partition("\n\n")[0]
        command.short_help = paragraph.replace("\n", " ")


def _problem(ctx: click.Context | None, text: str, allowed: str) -> Problem:
    where = ctx.command_path if ctx else "planner"
    retry = f"{where.replace('planner', resources.launcher(), 1)} --help"
    return Problem("usage", where, text, allowed, retry)


def _commands(ctx: click.Context | None) -> str:
    """Return the commands of a group; "" for that of all, which would be longer than its help."""
    if ctx is None or ctx.parent is None or not isinstance(ctx.command, click.Group):
        return ""
    return ", ".join(ctx.command.list_commands(ctx))


def _example(ctx: click.Context | None) -> str:
    found = _EXAMPLE.search(ctx.command.help or "") if ctx and ctx.parent else None
    return f"for example {resources.launcher()} {found[1]}" if found else ""


def _options(ctx: click.Context | None) -> list[str]:
    params = ctx.command.get_params(ctx) if ctx else []
    return [p.opts[-1] for p in params if isinstance(p, click.Option)]
