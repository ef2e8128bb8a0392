"""Find the planning mode that a command is about: its agent, its database row, its run."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from orchestrator.run import limits as run_limits
from shared import resources
from shared.mode import limits
from shared.mode.sessions import agent_name, join_client, repository_root
from shared.mode.transitions import change_agent, status_of
from shared.mode.where import NOBODY, database_path, nobody_plans, open_database
from shared.requirements_record import WORKFLOW as REQUIREMENTS
from shared.run import State, open_state, without_links
from shared.which_run import holds_session, quoted, several, under_way
from state.clock import moment
from state.database import Database
from state.errors import Refused
from state.stages import IDLE, INACTIVE

if TYPE_CHECKING:
    from typing import Any

    from shared.mode.where import Target
    from state.database import Planning, Run


class Mode:
    """The planning mode of one agent at one moment, with time limits that have passed applied.

    Looking a mode up writes nothing; a command that changes it calls `settle` first.
    """

    def __init__(self, database: Database, agent: str, now: float, state: State | None) -> None:
        """Keep the planning mode of one agent as it is at `now`, in seconds since 1970."""
        # None for an agent that never planned; `overdue` says which limit has passed.
        self.row, self.overdue = limits.row_at(database, agent, now)
        self.database = database
        self.home = os.path.dirname(database.path)
        self.agent = agent
        self.now = now
        # What a command did that the stage does not show.
        self.note = ""
        # None if no run is planned.
        self.state = state

    def settle(self) -> Mode:
        """Pause or cancel planning if a time limit has passed; return this planning mode."""
        if self.state is not None:
            run_limits.settle(self.state)  # first, since it also removes what a cancelled run needs
            self.state.reload()
        limits.settle(self.database, self.agent, self.now)
        self.reload()
        if self.agent == self.database.agent and self.stage != INACTIVE:
            join_client(self.agent)
        return self

    @property
    def stage(self) -> str:
        """Return the planning stage stored for the active run, or for the agent without a run."""
        if self.state is not None:
            return self.state.run.stage
        return self.row.phase if self.row else INACTIVE

    @property
    def status(self) -> str:
        """Return the planning status stored for the active run, or for the agent without a run."""
        if self.state is not None:
            return self.state.run.status
        return status_of(self.row) if self.row else IDLE

    @property
    def revision(self) -> int:
        """Return the revision number of the plan, 0 before the first light plan."""
        subject = self.state.run if self.state else self.row
        return subject.revision if subject else 0

    @property
    def digest(self) -> str | None:
        """Return the digest of the submitted plan revision, or None."""
        subject = self.state.run if self.state else self.row
        return subject.digest if subject else None

    @property
    def plan(self) -> dict[str, Any] | None:
        """Return the light plan (a list of steps), or None if none was submitted."""
        text = self.row.plan_json if self.row and self.state is None else None
        plan: dict[str, Any] | None = json.loads(text) if text else None
        return plan

    @property
    def limit_note(self) -> str:
        """Return a sentence on what a passed time limit has changed in planning mode, or ""."""
        return limits.limit_sentence(self.row, self.overdue) if self.row and self.overdue else ""

    @property
    def halted(self) -> str:
        """Return the name of the time limit that paused planning; empty if a command paused it."""
        if self.state is not None:
            return self.state.halted
        if self.overdue:
            return self.overdue
        own = self._own_rows()
        return next((r["detail"] for r in reversed(own) if r["action"] == "pause"), "")

    @property
    def remarks(self) -> list[str]:
        """Return what the user has said of the light plan, in order; none for a run."""
        if self.state is not None:
            return []
        said: list[str] = []
        for one in self._own_rows():
            if one["action"] == "enter":
                said = []
            elif one["action"] == "revise":
                said.append(one["detail"])
        return said

    def _own_rows(self) -> list[dict[str, Any]]:
        """Return the audit of what this agent has planned without a run."""
        rows = self.database.audit_rows(None)
        return [r for r in rows if r["agent"] == self.agent and r["run_id"] is None]

    def change(self, action: str, who: str, detail: str = "", **values: object) -> None:
        """Carry out an action such as pause or submit for an agent that plans without a run."""
        at = moment(self.now)
        with self.database as database:
            change_agent(database, self.agent, action, who, at=at, detail=detail, **values)
        self.reload()

    def reload(self) -> None:
        """Read the agent's planning mode from the database again."""
        self.row = self.database.planning(self.agent)

    def command(self, *words: str) -> str:
        """Return a command line to print that addresses this planning mode from any folder."""
        if self.state is not None:
            return self.state.command(*words)
        own = self.agent == agent_name(None, os.path.dirname(self.home))
        named = () if own else ("--agent", self.agent)
        return resources.command(*words, *named, state_dir=self.home)


def find(target: Target, now: float) -> Mode:
    """Return the planning mode that a command is about: by run, by agent, or the only one here.

    A person's terminal has no session, so the plan that waits is another agent's. Raises Refused
    if nobody plans, or if several do and none is named.
    """
    if target.state_dir is not None:
        state = open_state(target.state_dir, target.folder)
        name = agent_name(target.agent, state.run.repository)
        return Mode(state.database, name, now, state)
    found = own_mode(target, now)
    if found.stage != INACTIVE:
        return found
    database, any_agent = found.database, target.agent is None
    lone = [r for r in database.planning_live() if r.run_id is None] if any_agent else []
    runs = _plans(database) if any_agent else []
    if not lone and not runs:
        raise nobody_plans(found.limit_note)
    if len(lone) + len(runs) > 1:
        names = (
            f"{quoted(r.task_description or 'a light plan')}: "
            f"--agent {resources.quote(r.agent_name)}"
            for r in lone
        )
        raise several(target.folder, runs, [*names])
    if lone:
        return _of_agent(database, lone[0].agent_name, now)
    return Mode(database, found.agent, now, open_state(runs[0].state_dir, target.folder))


def _plans(database: Database) -> list[Run]:
    """Return the runs that somebody plans or carries out.

    Between two rounds a requirements lane holds no session: nobody plans then.
    """
    runs = [run for run in under_way(database) if run.status != IDLE]
    return [r for r in runs if r.workflow != REQUIREMENTS or holds_session(database, r)]


def own_mode(target: Target, now: float) -> Mode:
    """Return the planning mode of the agent that runs a command, inactive if it does not plan."""
    database = open_database(target.folder)
    database.agent = agent_name(target.agent, repository_root(target.folder))
    return _of_agent(database, database.agent, now)


def find_or_inactive(target: Target, now: float) -> Mode:
    """Return the planning mode that a command is about; if nobody plans, an inactive one."""
    try:
        return find(target, now)
    except Refused as refusal:
        if refusal.problems[0].at != NOBODY:
            raise
    if resources.is_database(database_path(target.folder)):
        return own_mode(target, now)
    name = agent_name(target.agent, repository_root(target.folder))
    return Mode(Database(":memory:", create=True), name, now, None)


def find_light(target: Target, digest: str, now: float) -> Mode | None:
    """Return the light plan with this digest, else the only one here; None if a run is meant."""
    if target.state_dir is not None or not resources.is_database(database_path(target.folder)):
        return None
    database = open_database(target.folder)
    rows = [r for r in database.planning_live() if r.run_id is None and r.digest]
    rows = [r for r in rows if target.agent in (None, r.agent_name)]
    same = [r for r in rows if r.digest == digest]
    if len(same) > 1:
        text = "several sessions submitted a plan with this digest; add one of these options"
        names = "; ".join(f"--agent {resources.quote(r.agent_name)}" for r in same)
        raise Refused("conflict", digest, text, names)
    if not same and (len(rows) != 1 or _plans(database)):
        return None
    return _of_agent(database, (same or rows)[0].agent_name, now)


def _of_agent(database: Database, agent: str, now: float) -> Mode:
    row: Planning | None = database.planning(agent)
    live = row is not None and row.phase != INACTIVE
    run = database.run(row.run_id) if row is not None and live and row.run_id else None
    state = without_links(State(run.state_dir, database, run)) if run else None
    return Mode(database, agent, now, state)
