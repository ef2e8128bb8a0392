"""Begin the choice of a strategy for a run, and open it again for each of its commands."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

from orchestrator.strategy import number_of
from orchestrator.strategy_result import store
from orchestrator.upkeep.stats import costs_by_depth, render_depths
from shared import resources
from shared.recall import as_block, useful
from shared.run import State, open_state
from shared.strategy_record import CHAT, NONE, WORKFLOW, Strategy, read_strategy
from state.clock import now
from state.database import Database
from state.errors import Refused
from state.stages import COMPLETED, IDLE

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    Json = dict[str, Any]


def begin(state: State, mode: str) -> None:
    """Store the request of a new run as §0 and §1, and go to the choice; repeated, do nothing."""
    with state.lock("start"):
        state.reload()
        if os.path.exists(resources.strategy_path(state.state_dir)) and state.run.step > 1:
            return
        facts = Strategy(state.run.request, mode)
        facts.gathered = recalled(state, [state.run.request])
        facts.costs = render_depths(costs_by_depth(state.database))
        store(state.state_dir, facts)
        with state.database as database:
            lane = {"lane": CHAT} if mode == CHAT else {}
            database.set_run(state.run.run_id, step=number_of("strategy"), **lane)
    state.reload()


def recalled(state: State, queries: list[str]) -> list[Json]:
    """Return what earlier plans say to some queries, as blocks of gathered context, each once."""
    found = [as_block(one) for query in queries for one in useful(state, query)]
    unique = {block["node_ids"][0]: {**block, "gathered_at": now()} for block in found}
    return list(unique.values())


def move(state: State, step: int) -> None:
    """Go to another step of the strategy."""
    with state.database:
        state.go_to(WORKFLOW, step)


@contextlib.contextmanager
def at_work(state: State, command: str) -> Iterator[Strategy]:
    """Yield the facts of a strategy under its lock; Refused once its run has gone on or ended."""
    with state.lock(f"strategy {command}"):
        state.reload()
        if state.run.workflow != WORKFLOW:
            text = f"the strategy is chosen; the run is at {state.run.workflow}"
            here = state.command("step", state.run.workflow)
            raise Refused("conflict", f"strategy {command}", text, "go on there", here)
        if state.run.status != IDLE:
            text = f"the run is {state.run.status.lower()}"
            again = resources.command("start")
            raise Refused("conflict", f"strategy {command}", text, "start a new run", again)
        yield read_strategy(state.state_dir)


def check_step(state: State, names: tuple[str, ...], command: str) -> None:
    """Raise Refused unless the strategy is at one of the named steps."""
    if state.run.step not in map(number_of, names):
        from orchestrator.strategy import STEPS

        at = STEPS[state.run.step].name
        text = f"this belongs to {' and '.join(names)}; the strategy is at {at}"
        here = state.command("step", WORKFLOW)
        raise Refused("conflict", f"strategy {command}", text, "do what this step asks", here)


def find_strategy(state_dir: str | None) -> State:
    """Return the run of a state directory or folder that has a strategy; Refused if it has none."""
    state = open_state(state_dir, os.getcwd())
    if not os.path.exists(resources.strategy_path(state.state_dir)):
        text = "this run has no strategy: it began with its plan"
        here = state.command("step", state.run.workflow)
        raise Refused("not_found", state.state_dir, text, "go on with the plan", here)
    return state


def closed_run(state_dir: str | None) -> State | None:
    """Return the run that a state directory belonged to, if it ended without a plan, else None."""
    real = os.path.realpath(state_dir or "")
    path = resources.database_path(real)
    if state_dir is None or not resources.is_database(path):
        return None
    database = Database(path)
    run = database.run_at(real)
    if run is None or run.status != COMPLETED or run.depth != NONE:
        return None
    return State(real, database, run)
