"""The choices with which a run starts: base, reviews, depth, a strategy first or not."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from shared.steps.entry_points import find_workflow
from state import store
from state.errors import Refused
from state.validator import check_plan

if TYPE_CHECKING:
    from collections.abc import Mapping

    from shared.run import State

BASES = ("head", "snapshot")
DEPTHS = ("full", "intent")


class Choices(NamedTuple):
    """The choices made when a run starts; for None the program decides or asks the user."""

    base: str | None = None
    review: str | None = None
    depth: str | None = None
    # Where the requirements come from that a run of the requirements lane implements.
    lane: Mapping[str, str] | None = None
    # Whether a new run begins with the choice of one, before anything is prepared.
    strategy: bool = False
    # True if the host starts no sub-agents.
    alone: bool = False
    # Whether it only answers, and plans nothing.
    chat: bool = False
    # The words of the command that begins a new run beside what the session plans already; where
    # it is empty nobody is asked.
    beside: tuple[str, ...] = ()


LEFT_OPEN = Choices()
_SHOWN = {"0": "no", "1": "yes"}  # in the audit


def take_choices(state: State, chosen: Choices) -> None:
    """Store what was chosen for a run; Refused for what can change no more."""
    if chosen.review not in (None, state.run.review):
        _choose(state, "review", chosen.review)
    if chosen.alone and not state.run.alone:
        _choose(state, "alone", "1")
    if chosen.depth not in (None, state.run.depth):
        _check_depth_open(state)
        _note_depth(state, chosen.depth)
        _choose(state, "depth", chosen.depth)


def _choose(state: State, column: str, value: str | None) -> None:
    before = str(getattr(state.run, column))
    with state.lock("start"), state.database as database:
        database.set_run(state.run.run_id, **{column: value})
        shown = [_SHOWN.get(text, text) for text in (before, value or "")]
        database.audit(state.run, "host", column, before=shown[0], after=shown[1])
    state.reload()


def _check_depth_open(state: State) -> None:
    """Raise Refused if a run's depth (full or intent) would change after its design is decided."""
    run, planner = state.run, find_workflow("planner")
    early = run.workflow == planner.name and run.step <= planner.last("intent")
    if not early or run.revision > 1:
        text = f"the depth is {run.depth}, which cannot change after the design is decided"
        raise Refused("conflict", "--depth", text, run.depth, state.command("step", "planner"))


def _note_depth(state: State, depth: str | None) -> None:
    """Store the depth in the draft, where there is one; Refused if its milestones do not fit it."""
    if not os.path.exists(state.plan_path):
        return
    with state.lock("start"):
        plan = store.load_plan(state.plan_path).model_copy(update={"depth": depth})
        if problems := check_plan(plan):
            raise Refused.of(problems)
        store.save_plan(state.plan_path, plan)


def only_intents(state: State) -> None:
    """Let intents be approved first, since git, which bytes need, is not there (PL-35)."""
    if state.run.depth != "intent":
        _choose(state, "depth", "intent")


def leave_strategy(state: State) -> None:
    """Go on from the choice of a strategy to the planner's first step."""
    with state.lock("start"), state.database as database:
        database.set_run(state.run.run_id, workflow="planner", step=1)
    state.reload()
