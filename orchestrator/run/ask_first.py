"""The questions to the user that come before a run can begin: its goal, its place, its base."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from shared import resources
from shared.builders import Block, first_of
from shared.mode.sessions import agent_name
from shared.requirements_record import lane_of
from shared.which_run import quoted, run_of_session, titled
from state.database import Database
from state.stages import INACTIVE

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


class Meanwhile(NamedTuple):
    """What a session plans already, how to go on with it, and how to begin a run beside it."""

    planned: str
    go_on: str
    beside: tuple[str, ...] = ()


def planned_by_session(state_dir: str, repository: str, agent: str | None) -> Meanwhile | None:
    """Return what a session plans beside the run of a state directory, None if nothing.

    There need be no such run yet. Requirements and the plan that implements them are one.
    """
    path = resources.database_path(state_dir)
    if not resources.is_database(path):
        return None
    database, name = Database(path), agent_name(agent, repository)
    if (run := run_of_session(database, name)) is not None:
        if state_dir in (run.state_dir, lane_of(run.state_dir).get("lifecycle")):
            return None
        step = resources.command("step", run.workflow, state_dir=run.state_dir)
        return Meanwhile(titled(run), step)
    row = database.planning(name)
    if row is None or row.phase == INACTIVE:
        return None
    named = ("--agent", agent) if agent else ()
    return Meanwhile(
        quoted(row.task_description or ""), resources.command("mode", "status", *named)
    )


def ask_beside(meanwhile: Meanwhile) -> str:
    """Return the block that asks whether a run begins beside what the session plans already."""
    block = Block("result").task(resources.read_prompt("orchestrator", "planner", "beside"))
    block.data("planned", meanwhile.planned)
    options = {"go on": "Go on with it.", "beside": "Begin the new request beside it."}
    block.ask("beside", "This session plans already. What now?", options.items())
    block.next("go on", meanwhile.go_on)
    return block.next("beside", resources.command(*meanwhile.beside)).render()


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
