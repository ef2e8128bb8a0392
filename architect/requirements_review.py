"""The architect's script for reviewing requirements before they are implemented (RL-6, RL-7)."""

from __future__ import annotations

import sys
from os.path import dirname, realpath
from typing import TYPE_CHECKING

if not __package__:  # started by its path, from any folder
    sys.path[0] = dirname(dirname(realpath(__file__)))

from shared.requirements_record import CURRENT, NEW, ORIGINAL, read_lane
from shared.resources import fill, read_prompt
from shared.steps.program import main
from shared.steps.workflow import Step, Workflow
from state.actors import HOST

if TYPE_CHECKING:
    from shared.builders import Block
    from shared.steps.workflow import Context


def review(ctx: Context) -> Block:
    """Return the task of the agent that reviews the requirements and edits their file."""
    facts = read_lane(ctx.state.state_dir)
    alone, state = ctx.selectors.get("by") == HOST, ctx.state
    slots = {"codepath": facts.codepath, "file": facts.path(NEW)}
    marks = {mark.strip("{}"): mark for mark in (CURRENT, ORIGINAL)}
    text = fill(read_prompt("architect", "requirements_review", "review"), slots | marks)
    end = read_prompt("architect", "requirements_review", "tell" if alone else "report")
    as_it_is = alone and CURRENT in facts.read(NEW).decode("utf-8", "replace")
    if as_it_is:
        end += "\n\n" + read_prompt("architect", "requirements_review", "unchanged")
    block = ctx.block().task(f"{text}\n\n{end}")
    rules = "rewrite-rules" if facts.rewrite else "review-rules"
    block.rules(read_prompt("architect", "requirements_review", rules))
    if alone:
        block.next("done", state.command("requirements", "accept"))
        if as_it_is:
            block.next("unchanged", state.command("requirements", "accept", "--unchanged"))
        block.next("rewrite", state.command("requirements", "refine", "--rewrite"))
        block.next("unusable", state.command("requirements", "accept", "--no"))
    return block


STEPS = {1: Step("review", "work", review, agent="architect")}
WORKFLOW = Workflow(
    "requirements-review", "Review requirements and edit them.", STEPS, serves="refine"
)

if __name__ == "__main__":
    sys.exit(main(WORKFLOW, sys.argv[1:]))
