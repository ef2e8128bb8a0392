"""Open the lane for a command that changes it: finish what a crash has interrupted first."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

from orchestrator.requirements_lane import closing
from orchestrator.requirements_lane.transition import finish, interrupted, sweep_folder
from orchestrator.run.limits import settle
from shared import resources
from shared.plan_file import check_going
from shared.requirements_record import WORKFLOW, lane_of, read_lane
from shared.run import State, open_state
from state.database import Database
from state.errors import Refused
from state.stages import CANCELLED, COMPLETED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shared.requirements_record import Lane


@contextlib.contextmanager
def at_work(state: State, command: str) -> Iterator[Lane]:
    """Yield the lane's facts under its lock, with an interrupted transition finished."""
    with state.lock(command):
        recover(state)
        check_going(state)
        if state.run.status in (COMPLETED, CANCELLED):
            text = "the requirements lane was left by the user"
            again = state.command("requirements", "startup")
            raise Refused("conflict", state.state_dir, text, "begin it again", again)
        facts = read_lane(state.state_dir)
        facts.root = state.run.repository
        facts.check_files()
        yield facts


def recover(state: State) -> None:
    """Finish a transition that a crash has interrupted; take an unfinished commit back."""
    state.reload()
    sweep_folder(state)
    recorded = interrupted(state)
    if recorded is None:
        return
    if recorded["name"] == closing.COMMIT:
        closing.recover(state)
    else:
        finish(state, recorded)
    state.reload()


def find_lane(state_dir: str | None) -> State:
    """Return the requirements lane to change, with a time limit that has passed stored first."""
    state = find_lane_to_read(state_dir)
    settle(state)
    return state


def find_lane_to_read(state_dir: str | None) -> State:
    """Return the requirements lane of a state directory, else the only one of this repository."""
    if state_dir is not None:
        state = open_state(state_dir, os.getcwd())
        lane = lane_of(state.state_dir)
        return open_state(lane["lifecycle"], os.getcwd()) if lane else _checked(state)
    path = resources.repository_database(os.getcwd())
    database = Database(path) if path else None
    found = [r for r in database.runs() if r.workflow == WORKFLOW] if database else []
    here = [r for r in found if os.path.isdir(r.state_dir)]
    if database is None or len(here) != 1:
        begin = resources.command("start", "--planning")
        text = (
            "several requirements lanes are here, so name one"
            if here
            else "no requirements lane was begun here"
        )
        known = "; ".join(f"--state-dir {resources.quote(r.state_dir)}" for r in here)
        raise Refused("not_found", os.getcwd(), text, known or f"begin one with {begin}")
    return State(here[0].state_dir, database, here[0])


def _checked(state: State) -> State:
    if state.run.workflow != WORKFLOW:
        text = "this is the state directory of a run, not of a requirements lane"
        begin = resources.command("start", "--planning")
        raise Refused("not_found", state.state_dir, text, f"begin one with {begin}")
    return state
