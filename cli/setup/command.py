"""`planner setup`: make the planner known to the assistants of this machine, or remove it again."""

from __future__ import annotations

import os
import sys

import click

from cli.answers import TEXT, form, in_colour, width, write
from cli.pen import Pen
from cli.setup.assistants import Asked, carry_out, prepare
from cli.setup.hosts import HOSTS
from cli.setup.report import report_block
from cli.setup.telling import done_of, plan_of

_NO = 130  # as for Ctrl-C


@click.command("setup")
@click.argument("hosts", nargs=-1, metavar=f"[{'|'.join(HOSTS)}]…", type=click.Choice([*HOSTS]))
@click.option("--project", is_flag=True, help="For this repository alone, not for all of yours.")
@click.option("--dry-run", is_flag=True, is_eager=True, help="Only show what would be written.")
@click.option("--remove", is_flag=True, help="Take out what setup has put there.")
@click.option("--yes", is_flag=True, help="Do not ask on a terminal.")
@click.option("--fresh", is_flag=True, help="Install the planner's packages again, if damaged.")
def setup_command(
    hosts: tuple[str, ...], *, project: bool, dry_run: bool, remove: bool, yes: bool, fresh: bool
) -> None:
    """Let assistants load the skill and run its commands. Only a person may run it.

    Without a name it takes the assistants that it finds. Each gets a link to the skill, a rule for
    the planner's commands, and hooks. Run it again after an update; what is already there stays.

    Example: planner setup claude --dry-run
    """
    del fresh  # the launcher has done it
    with prepare(Asked(hosts, project=project, remove=remove, dry_run=dry_run)) as work:
        asks = any(one.changes for one in work.works.values()) and not (dry_run or yes)
        asks = asks and os.isatty(0) and os.isatty(2)
        is_text, pen = form() == TEXT, Pen(width(), in_colour())
        if is_text or asks:
            click.echo(plan_of(work, pen), err=not is_text, nl=False)
        if asks and not _agreed(remove=remove):
            click.echo("Nothing was written.", err=True)
            raise click.exceptions.Exit(_NO)
        if not dry_run:
            carry_out(work)
        write(done_of(work, pen) if is_text else report_block(work))


def _agreed(*, remove: bool) -> bool:
    """Return whether the person at the terminal wants it; Ctrl-C and Ctrl-D mean no."""
    try:
        return click.confirm("Remove this?" if remove else "Write this?", default=True, err=True)
    except click.exceptions.Abort:
        click.echo(err=True)
        return False


if __name__ == "__main__":
    from cli.main import main

    sys.exit(main(["setup", *sys.argv[1:]]))
