"""The help of `planner ro`, which runs a command in the place; the launcher does without it."""

from __future__ import annotations

import os

import click

from cli.answers import write
from cli.ending import end_near
from shared.builders import Block
from shared.guard.runner import FILE, run_ro


@click.command("ro", context_settings={"ignore_unknown_options": True})
@click.option(FILE, "path", help="A file with a shell command, in answers/ of the run.")
@click.option("-c", "text", help="A shell command, as one word.")
@click.option("--end", "number", type=int, metavar="N", help="End the running command N.")
@click.argument("words", nargs=-1, type=click.UNPROCESSED)
@click.pass_context
def ro_command(
    ctx: click.Context,
    path: str | None,
    text: str | None,
    number: int | None,
    words: tuple[str, ...],
) -> None:
    """Run a command so that nothing that it writes lasts.

    Where the place does not hold, only a command that provably changes nothing runs. Output and
    exit code are the command's own; 127 if there is no such program. It gets no input. What it
    writes among the answers and in the worktree lasts; while it runs no file tool writes there, and
    `status` lists it with its number.

    Example: planner ro -- git log -1
    """
    if number is not None:
        ended = end_near(os.getcwd(), number)
        write(Block("result").data("ended", ended, number=number).render())
        return
    given = {FILE: path, "-c": text}
    form = next((name for name, value in given.items() if value is not None), "--")
    ctx.exit(run_ro([form, *filter(None, [given.get(form)]), *words], write))
