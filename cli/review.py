"""`planner review`: write review.html, the page on which a person reads the plan."""

from __future__ import annotations

import os
import sys
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cli.answers import write
from cli.options import opened, state_dir_option
from orchestrator.submit.readable import write_readable
from shared.builders import Block
from shared.resources import answer_word
from shared.steps.printing import print_current
from state.errors import Refused
from state.stages import ACTIVE, SUBMITTED

if TYPE_CHECKING:
    from shared.run import State

_OPENED = "The page is handed to your browser."
_NO_REMARK = "No remark was written, and nothing is changed."
_NOT_OPENED = "No browser was found; open the page in one yourself."


@click.command("review")
@click.option("--open", "shows", is_flag=True, help="Show it in your browser (at a terminal only).")
@click.option("--edit", "edits", is_flag=True, help="Write remarks between its lines in $EDITOR.")
@state_dir_option
def review_command(state_dir: str | None, *, shows: bool, edits: bool) -> None:
    """Write review.html: the whole plan on one page.

    It ends with the exact text to approve. With --edit, at a terminal, your editor opens on the
    submitted plan with its diff: what you write below a line is a remark on it, and all of them
    open the next revision as you close the file.

    Example: planner review --open
    """
    state = opened(state_dir)
    if edits:
        write(_edited(state))
        return
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


def _edited(state: State) -> str:
    """Return what is due after a person has written remarks in their editor (LP-4)."""
    from orchestrator.submit.editing import edit_remarks, editor_words

    if not sys.stdin.isatty():
        text = "an editor needs a terminal"
        ways = "the remarks in a file, each after its place, such as `src/a.py:20: words`"
        retry = state.command("plan", "revise", "--file", answer_word("remarks.md"))
        raise Refused("refused", "--edit", text, ways, retry)
    edited = edit_remarks(state, editor_words(os.environ))
    if edited.is_sent:
        return print_current(state)
    return Block("result").task(_NO_REMARK).render()


if __name__ == "__main__":
    from cli.main import main

    sys.exit(main(["review", *sys.argv[1:]]))
