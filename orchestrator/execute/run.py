"""Carry out an approved plan with one command: apply, compare, commit, prove (FC-1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from orchestrator.execute.apply import apply_plan
from orchestrator.execute.commit import commit_plan
from shared.lifecycle import lane_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from developer.verify.job import Running
    from shared.run import State
    from state.models import Change


class Ran(NamedTuple):
    """How far the plan came: verify that still runs, or the changes that the commit holds.

    With neither, the step that is due says what is to be done.
    """

    running: Running | None = None
    proved: Sequence[Change] | None = None


def run_plan(state: State) -> Ran:
    """Apply an approved plan, compare the tree with it, commit it with the user's hooks, prove it.

    Repeated, also after a crash at any point, it finishes what is left. Of approved intents it
    starts the first milestones; a plan that implements requirements is applied and not committed,
    since they are committed together (RL-9).
    """
    running = apply_plan(state)
    if running is not None or state.is_writing or lane_of(state.state_dir):
        return Ran(running)
    return Ran(proved=commit_plan(state))
