"""`planner review`: write review.html, the page on which a person reads the plan."""

from __future__ import annotations

import sys
import webbrowser
from pathlib import Path

import click

from cli.answers import write
from cli.options import opened, state_dir_option
from orchestrator.submit.readable import write_readable
from shared.builders import Block
from state.stages import ACTIVE, SUBMITTED

_OPENED = "The page is handed to your browser."
_NOT_OPENED = "No browser was found; open the page in one yourself."


@click.command("review")
@click.option("--open", "shows", is_flag=True, help="Show it in your browser (at a terminal only).")
@state_dir_option
def review_command(state_dir: str | None, *, shows: bool) -> None:
    """Write review.html: the whole plan on one page.

    It ends with the exact text to approve.

    Example: planner review --open
    """
    state = opened(state_dir)
    with state.lock("review"):
        state.reload()
        path = write_readable(state)
    block = Block("result").data("page", path)
    # A browser in the terminal would wait for keys that no program types.
    if shows and sys.stdin.isatty():
        opened_it = webbrowser.open(Path(path).as_uri())
        block.task(_OPENED if opened_it else _NOT_OPENED)
    if state.run.stage == SUBMITTED and state.run.status == ACTIVE:
        block.person(state.approving)
    write(block.render())


if __name__ == "__main__":
    from cli.main import main

    sys.exit(main(["review", *sys.argv[1:]]))
