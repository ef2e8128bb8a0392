"""The questions to the user that come before a run can begin: its goal, its base."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shared import resources
from shared.builders import Block, first_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shared.run import State

SHOWN = 20  # paths with uncommitted work
BASES = {
    "head": "Plan against the last commit; the uncommitted work stays out.",
    "snapshot": "Plan on top of it; commit those files before the plan is applied.",
}


def ask_for_goal() -> str:
    """Return the block that asks the user what should be changed."""
    block = Block("step", workflow="planner", number=1, of=11, name="plan-init")
    block.ask("goal", "What should be changed?", [])
    command = resources.command("start")
    block.task(f"Ask the user, then run `{command}` with their words as its one argument.")
    return block.render()


def ask_for_base(state: State, paths: Sequence[str]) -> str:
    """Return the block that asks what the plan is made against where work is not committed."""
    block = Block(
        "step", workflow="planner", number=1, of=11, name="plan-init", state_dir=state.state_dir
    )
    block.task("The repository holds work that is not committed. Let the user choose.")
    block.data("uncommitted", "\n".join(first_of(paths, SHOWN)))
    return with_bases(block, state.state_dir).render()


def with_bases(block: Block, state_dir: str) -> Block:
    """Add the question what the plan is made against, and the command of each answer."""
    block.ask("base", "What is the plan made against?", BASES.items())
    for value in BASES:
        block.next(value, resources.command("start", "--base", value, state_dir=state_dir))
    return block
