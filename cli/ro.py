"""The help of `planner ro` (run read-only); the launcher itself runs `ro -- …` and `ro -c …`."""

from __future__ import annotations

import click

from shared.guard.runner import run_ro


@click.command("ro", context_settings={"ignore_unknown_options": True})
@click.option("-c", "text", help="A pipeline or list, as one word.")
@click.argument("words", nargs=-1, type=click.UNPROCESSED)
@click.pass_context
def ro_command(ctx: click.Context, text: str | None, words: tuple[str, ...]) -> None:
    """Run a command that provably changes nothing; the kernel prevents every change.

    Its output and exit code are the command's own; 127 if there is no such program.

    Example: planner ro -- git log -1
    """
    ctx.exit(run_ro(["--", *words] if text is None else ["-c", text, *words]))
