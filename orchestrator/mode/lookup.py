"""Whom a command of the mode is about: an agent, its row, the run that it is bound to."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from shared import resources
from shared.mode import limits
from shared.mode.sessions import agent_name, repository_root
from shared.mode.transitions import change_agent, status_of
from shared.mode.where import NOBODY, database_path, nobody, open_database, place
from shared.run import State, open_state
from state.clock import moment
from state.database import Database
from state.errors import Refused
from state.stages import ACTIVE, INACTIVE, PAUSED

if TYPE_CHECKING:
    from typing import Any

    from state.database import Planning


class Mode:
    """The mode of one agent at one moment, with what a time limit has just changed about it.

    `row` is None for an agent that never planned, `state` where no run is planned.
    """

    __slots__ = ("agent", "database", "home", "now", "row", "said", "state")

    def __init__(self, database: Database, agent: str, now: float, state: State | None) -> None:
        """`now` is seconds since the epoch; time limits are applied."""
        self.said = limits.settle(database, agent, now)
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
        return status_of(self.row) if self.row else "IDLE"

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

    @property
    def halted(self) -> str:
        """Return why it is paused, as the audit has it; empty where a command did it."""
        if self.state is not None:
            return self.state.halted
        rows = self.database.audit_rows(None)
        own = [r for r in rows if r["agent"] == self.agent and r["run_id"] is None]
        return next((r["detail"] for r in reversed(own) if r["action"] == "pause"), "")

    def change(self, action: str, who: str, detail: str = "", **values: object) -> None:
        """Take the agent, which plans without a run, through an action."""
        at = moment(self.now)
        with self.database as database:
            change_agent(database, self.agent, action, who, at=at, detail=detail, **values)
        self.reload()

    def reload(self) -> None:
        """Read the agent's row again."""
        self.row = self.database.planning(self.agent)

    def command(self, *words: str) -> str:
        """Return a printed command that means this mode from anywhere in its repository."""
        if self.state is not None:
            return self.state.command(*words)
        own = self.agent == agent_name(None, os.path.dirname(self.home))
        named = () if own else ("--agent", self.agent)
        return resources.command(*words, *named, state_dir=self.home)


def own_mode(folder: str, agent: str | None, state_dir: str | None, now: float) -> Mode:
    """Return the mode of the agent that runs a command, inactive where it does not plan."""
    folder, _ = place(folder, state_dir)
    database = open_database(folder)
    database.agent = agent_name(agent, repository_root(folder))
    return _of_agent(database, database.agent, now)


def find(folder: str, agent: str | None, state_dir: str | None, now: float) -> Mode:
    """Return the mode that a command means: the run's, the agent's own, else the only one here.

    A person's terminal has no session, so the plan that waits is another agent's. Raises Refused
    where nobody plans, or several do and none is named.
    """
    folder, state_dir = place(folder, state_dir)
    if state_dir is not None:
        state = open_state(state_dir, folder)
        name = agent_name(agent, state.run.repository)
        return Mode(state.database, name, now, state)
    found = own_mode(folder, agent, None, now)
    if found.stage != INACTIVE:
        return found
    database = found.database
    lone = [r for r in database.planning_live() if r.run_id is None] if agent is None else []
    runs = database.runs(ACTIVE, PAUSED) if agent is None else []
    if not lone and not runs:
        raise nobody(found.said)
    if len(lone) + len(runs) > 1:
        names = [f"--agent {resources.quote(r.agent_name)}" for r in lone]
        names += [f"--state-dir {resources.quote(r.state_dir)}" for r in runs]
        text = "several plans are under way here, so none is clear"
        raise Refused("not_found", folder, text, "; ".join(names))
    if lone:
        return _of_agent(database, lone[0].agent_name, now)
    return Mode(database, found.agent, now, open_state(runs[0].state_dir, folder))


def look(folder: str, agent: str | None, state_dir: str | None, now: float) -> Mode:
    """Return the mode that `find` finds; where nobody plans, the agent's own, which is inactive."""
    try:
        return find(folder, agent, state_dir, now)
    except Refused as refusal:
        if refusal.problems[0].at != NOBODY:
            raise
    folder, _ = place(folder, state_dir)
    if os.path.isfile(database_path(folder)):
        return own_mode(folder, agent, None, now)
    name = agent_name(agent, repository_root(folder))
    return Mode(Database(":memory:", create=True), name, now, None)


def find_light(
    folder: str, agent: str | None, state_dir: str | None, digest: str, now: float
) -> Mode | None:
    """Return the light plan with this digest, else the only one here; None where runs are meant."""
    folder, state_dir = place(folder, state_dir)
    if state_dir is not None or not os.path.isfile(database_path(folder)):
        return None
    database = open_database(folder)
    rows = [r for r in database.planning_live() if r.run_id is None and r.digest]
    rows = [r for r in rows if agent in (None, r.agent_name)]
    same = [r for r in rows if r.digest == digest]
    if len(same) > 1:
        text = "several sessions have submitted these very bytes"
        names = "; ".join(f"--agent {resources.quote(r.agent_name)}" for r in same)
        raise Refused("conflict", digest, text, names)
    if not same and (len(rows) != 1 or database.runs(ACTIVE, PAUSED)):
        return None
    return _of_agent(database, (same or rows)[0].agent_name, now)


def _of_agent(database: Database, agent: str, now: float) -> Mode:
    row: Planning | None = database.planning(agent)
    live = row is not None and row.phase != INACTIVE
    run = database.run(row.run_id) if row is not None and live and row.run_id else None
    return Mode(database, agent, now, State(run.state_dir, database, run) if run else None)
