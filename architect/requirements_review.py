"""The architect's script for reviewing requirements before they are implemented (RL-6, RL-7)."""

from __future__ import annotations

import sys

from shared.lifecycle import CURRENT, NEW, ORIGINAL, read_lifecycle
from shared.resources import fill, read_prompt
from shared.steps.program import main
from shared.steps.workflow import Step, Workflow

TYPE_CHECKING = False
if TYPE_CHECKING:
    from shared.builders import Block
    from shared.steps.workflow import Context


def review(ctx: Context) -> Block:
    """Return the task of the agent that reviews the requirements and edits their file."""
    facts = read_lifecycle(ctx.state.state_dir)
    slots = {"codepath": facts.codepath, "file": facts.path(NEW)}
    marks = {mark.strip("{}"): mark for mark in (CURRENT, ORIGINAL)}
    text = fill(read_prompt("architect", "requirements_review", "review"), slots | marks)
    block = ctx.block().task(text)
    rules = "rewrite-rules" if facts.rewrite else "review-rules"
    return block.rules(read_prompt("architect", "requirements_review", rules))


STEPS = {1: Step("review", "work", review, agent="architect")}
WORKFLOW = Workflow(
    "requirements-review", "Review requirements and edit them.", STEPS, serves="refine"
)

if __name__ == "__main__":
    sys.exit(main(WORKFLOW, sys.argv[1:]))
