"""Workflow script: a reviewer judges what the plan names and nobody wrote (PL-4, PL-29)."""

from __future__ import annotations

import sys
from os.path import dirname, realpath
from typing import TYPE_CHECKING

if not __package__:  # started by its path, from any folder
    sys.path[0] = dirname(dirname(realpath(__file__)))

from quality_reviewer.review_slice import review_slice
from shared.resources import answer_path, answer_word, fill, read_prompt
from shared.steps.program import main
from shared.steps.workflow import Step, Workflow
from state.milestones import untouched

if TYPE_CHECKING:
    from shared.builders import Block
    from shared.steps.workflow import Context

AGENT = "quality-reviewer"
FILE = "reconcile.json"


def judge(ctx: Context) -> Block:
    """Return the prompt that asks what each gap between plan and result means.

    A reviewer is asked, or a host that starts no sub-agents.
    """
    state, gaps = ctx.state, untouched(ctx.plan)
    if not gaps:
        return ctx.block().task("Nothing that the plan names is left out: end here.")
    slots = {"worktree": state.worktree, "file": answer_path(state.state_dir, FILE)}
    text = fill(read_prompt("quality_reviewer", "exec_reconcile", "gaps"), slots)
    own = [gap.partition(" ")[0] for gap in gaps]
    block = ctx.block().task(text).data("gaps", "\n".join(gaps))
    block.data("plan", review_slice(ctx.plan, "impl-code", own))
    words = ("exec", "reconcile", "--file", answer_word(FILE))
    return block.next("done", state.command(*words, role=None if state.run.alone else AGENT))


STEPS = {1: Step("judge", "review", judge, agent=AGENT)}
WORKFLOW = Workflow(
    "exec-reconcile", "Judge what the plan names and nobody wrote.", STEPS, serves="reconcile"
)

if __name__ == "__main__":
    sys.exit(main(WORKFLOW, sys.argv[1:]))
