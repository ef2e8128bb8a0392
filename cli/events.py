"""Commands that print what has happened in a run: its events, and its whole log."""

from __future__ import annotations

import os
import sys
import time

import click

from cli.answers import write
from cli.audit import EVERY_S
from cli.options import json_option, opened_to_read, state_dir_option
from orchestrator.upkeep import events
from shared.builders import Block, json_text
from shared.mode.where import open_database
from state.errors import Refused


@click.command("events")
@click.option("--after", type=click.IntRange(0), default=0, help="Only events after this number.")
@click.option("--follow", is_flag=True, help="Go on with each new event, until the run ends.")
@click.option("--seconds", type=click.FloatRange(0), help="With --follow: for how long at most.")
@state_dir_option
@json_option
def events_command(
    after: int, seconds: float | None, state_dir: str | None, *, follow: bool, as_json: bool
) -> None:
    """Print what has happened to the milestones.

    With --json it is one JSON object per line.

    Example: planner events --follow --json --seconds 60
    """
    if state_dir is not None:
        state = opened_to_read(state_dir)
        database, run = state.database, state.run
    else:
        database, run = open_database(os.getcwd()), None
    shown = events.as_json if as_json else events.as_line
    if not follow:
        text = "".join(shown(row) + "\n" for row in events.rows_of(database, run, after))
        write(text if as_json else Block("result").data("events", text or "none").render())
        return
    if seconds is None and not sys.stdin.isatty():
        text = "`--follow` may never end, so it needs a terminal, or a limit"
        words = ["planner events --follow --seconds 60", *(["--json"] if as_json else [])]
        words += [f"--after {after}"] if after else []
        raise Refused("usage", "--follow", text, "--seconds N", " ".join(words))
    end = None if seconds is None else time.monotonic() + seconds

    def wait() -> bool:
        time.sleep(EVERY_S)
        return end is None or time.monotonic() < end

    for row in events.follow(database, run, after, wait):
        write(shown(row) + "\n")


@click.command("export")
@click.option("--format", "form", type=click.Choice(("json", "markdown")), default="json")
@state_dir_option
def export_command(form: str, state_dir: str | None) -> None:
    """Print all that is remembered of a run, to keep or to share.

    Example: planner export --format markdown
    """
    state = opened_to_read(state_dir)
    if form == "markdown":
        write(events.export_markdown(state))
    else:
        write(json_text(events.export(state)) + "\n")


if __name__ == "__main__":
    from cli.main import main

    sys.exit(main(sys.argv[1:]))
