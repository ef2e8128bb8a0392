"""Whom a command of the mode is about: an agent, its row, the run that it is bound to."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from shared import mode, resources, sessions, stages
from shared.run import State, open_state
from state.clock import moment
from state.database import Database
from state.errors import Refused
from state.mode import ACTIVE, INACTIVE, PAUSED

if TYPE_CHECKING:
    from state.database import Planning


class Mode:
    """The mode of one agent at one moment, with what a time limit has just changed about it.

    `row` is None for an agent that never planned, `state` where no run is planned.
    """

    __slots__ = ("agent", "database", "home", "now", "row", "said", "state")

    def __init__(self, database: Database, agent: str, now: float, state: State | None) -> None:
        """`now` is seconds since the epoch; time limits are applied."""
        self.said = mode.settle(database, agent, now)
        self.database = database
        self.home = os.path.dirname(database.path)
        self.agent = agent
        self.now = now
        self.row = database.planning(agent)
        self.state = state
        if state is not None:
            state.reload()

    @property
    def stage(self) -> str:
        """Return the stage: the run's where there is one."""
        if self.state is not None:
            return self.state.run.stage
        return self.row.phase if self.row else INACTIVE

    @property
    def status(self) -> str:
        """Return the run's status, or what comes to the same for an agent without one."""
        if self.state is not None:
            return self.state.run.status
        return stages.status_of(self.row) if self.row else "IDLE"

    @property
    def revision(self) -> int:
        """Return the number of the revision, 0 before the first light plan."""
        subject = self.state.run if self.state else self.row
        return subject.revision if subject else 0

    @property
    def digest(self) -> str | None:
        """Return what names the revision that was submitted."""
        subject = self.state.run if self.state else self.row
        return subject.digest if subject else None

    @property
    def plan(self) -> dict[str, Any] | None:
        """Return the light plan, None where none was submitted."""
        text = self.row.plan_json if self.row and self.state is None else None
        plan: dict[str, Any] | None = json.loads(text) if text else None
        return plan

    def change(self, action: str, who: str, detail: str = "", **values: object) -> None:
        """Take the agent, which plans without a run, through an action."""
        at = moment(self.now)
        with self.database as database:
            stages.change_agent(database, self.agent, action, who, at=at, detail=detail, **values)
        self.row = self.database.planning(self.agent)

    def command(self, *words: str) -> str:
        """Return a printed command that means this mode from anywhere in its repository."""
        if self.state is not None:
            return self.state.command(*words)
        own = self.agent == sessions.agent_name(None, os.path.dirname(self.home))
        return resources.command(*words, *(() if own else ("--agent", self.agent)))


def open_database(folder: str) -> Database:
    """Open the database of the repository around `folder`; Refused where nobody plans there."""
    path = os.path.join(
        sessions.repository_root(folder), resources.PLANNER_FOLDER, resources.DATABASE
    )
    if not os.path.isfile(path):
        raise nobody(folder)
    return Database(path)


def own_mode(folder: str, agent: str | None, now: float) -> Mode:
    """Return the mode of the agent that runs a command, inactive where it does not plan."""
    database = open_database(folder)
    database.agent = sessions.agent_name(agent, sessions.repository_root(folder))
    return _of_agent(database, database.agent, now)


def find(folder: str, agent: str | None, state_dir: str | None, now: float) -> Mode:
    """Return the mode that a command means: the run's, the agent's own, else the only one here.

    A person's terminal has no session, so the plan that waits is another agent's. Raises Refused
    where nobody plans, or several do and none is named.
    """
    if state_dir is not None:
        state = open_state(state_dir, folder)
        name = sessions.agent_name(agent, state.run.repository)
        return Mode(state.database, name, now, state)
    found = own_mode(folder, agent, now)
    if found.stage != INACTIVE:
        return found
    database = found.database
    lone = [r for r in database.planning_live() if r.run_id is None] if agent is None else []
    runs = database.runs(ACTIVE, PAUSED) if agent is None else []
    if not lone and not runs:
        raise nobody(folder, found.said)
    if len(lone) + len(runs) > 1:
        names = [f"--agent {resources.quote(r.agent_name)}" for r in lone]
        names += [f"--state-dir {resources.quote(r.state_dir)}" for r in runs]
        text = "several plans are under way here, so none is clear"
        raise Refused("not_found", folder, text, "; ".join(names))
    if lone:
        return _of_agent(database, lone[0].agent_name, now)
    return Mode(database, found.agent, now, open_state(runs[0].state_dir, folder))


def _of_agent(database: Database, agent: str, now: float) -> Mode:
    row: Planning | None = database.planning(agent)
    live = row is not None and row.phase != INACTIVE
    run = database.run(row.run_id) if row is not None and live and row.run_id else None
    return Mode(database, agent, now, State(run.state_dir, database, run) if run else None)


def nobody(folder: str, said: str = "") -> Refused:
    """Return the refusal where no mode is active."""
    text = f"{said} nobody plans here".strip()
    return Refused("not_found", folder, text, "planning, once begun", "planner mode enter")
