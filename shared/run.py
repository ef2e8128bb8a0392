"""Open a run of the planner: its state directory, its database row, its plan as JSON.

Opening writes nothing (docs/decisions/0025). Printed steps read through this module, so it imports
no third-party package.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any

from shared import resources
from shared.digests import SHORTEST
from shared.mode import limits
from shared.mode.sessions import agent_name
from shared.mode.transitions import change_run
from shared.requirements_record import WORKFLOW as REQUIREMENTS
from shared.strategy_record import WORKFLOW as STRATEGY
from shared.which_run import run_here
from state import store
from state.clock import now
from state.database import Database
from state.errors import Refused
from state.files import Lock, read_bytes, refuse_links
from state.kept_settings import read_settings
from state.stages import ACTIVE, PAUSED

if TYPE_CHECKING:
    from shared.git.repository import Repository
    from state.database import Run
    from state.plan_table import Plan


class State:
    """A run with its state directory; `plan` is read from disk at every access."""

    def __init__(self, state_dir: str, database: Database, run: Run) -> None:
        self.state_dir = state_dir
        self.worktree = resources.worktree_path(state_dir)
        self._plan_path = resources.plan_path(state_dir)
        self.database = database
        self.opened_at = time.time()
        # The rows of those who plan it.
        self.agents = database.planning_of(run.run_id)
        # As the time limits leave it that had passed when it was opened; `overdue` says which.
        self.run, self.overdue = limits.run_at(run, self.agents, self.opened_at)
        # What `Vault.rebuilt` says.
        self.rebuilt: dict[tuple[object, ...], str] = {}
        # What `repository_at` says.
        self.opened: dict[str, Repository] = {}
        self._config: dict[str, Any] | None = None
        database.agent = agent_name(None, run.repository)

    @property
    def repository(self) -> Repository:
        """Return the user's git repository, opened."""
        from shared.git.repository import repository_at  # most printed steps need no git

        return repository_at(self.run.repository, self.opened)

    @property
    def plan_path(self) -> str:
        """Return the path of the run's plan.json; Refused if it is gone, or not there yet."""
        if self.run.workflow == STRATEGY:
            text = "the run has no plan yet: its strategy is not chosen"
            here = self.command("step", STRATEGY)
            raise Refused("conflict", self.state_dir, text, "do the step that is due", here)
        path = self._plan_path
        planned = self.run.status in (ACTIVE, PAUSED) and self.run.workflow != REQUIREMENTS
        if planned and not os.path.lexists(path):
            text = "the plan of this run is gone"
            allowed = "a person restores the file, or has the run repaired"
            raise Refused("not_found", path, text, allowed, self.command("repair"))
        return path

    @property
    def plan(self) -> Plan:
        """Return the run's plan.json as it can be read without pydantic."""
        return store.read_plan(self.plan_path)

    @property
    def config(self) -> dict[str, Any]:
        """Return the project's settings stored by `start`, with its commands' hash and text."""
        if self._config is None:
            path = resources.run_config_path(self.state_dir)
            self._config = read_settings(path, is_due=has_settings(self.run))
        return self._config

    def model(self, agent: str) -> str | None:
        """Return the model that the settings choose for an agent's role, None if they choose none.

        A dispatch carries it; the settings of providers say who it is (docs/requirements.md).
        """
        found: str | None = self.config.get("models", {}).get(agent)
        return found

    @property
    def halted(self) -> str:
        """Return why the run is paused or ended early: a time limit, else the recorded reason."""
        if self.overdue:
            return self.overdue
        rows = self.database.audit_rows(self.run)
        ways = ("pause", "reject", "cancel")
        return next((row["detail"] for row in reversed(rows) if row["action"] in ways), "")

    @property
    def is_writing(self) -> bool:
        """Return whether agents write the code of approved intents, in a revision still open."""
        return self.run.workflow == "executor" and self.run.digest is None

    def reload(self) -> None:
        """Read the run's row from the database again."""
        run = self.database.run_at(self.state_dir)
        if run is None:
            return
        self.run = run
        # A limit that had not passed when the run was opened has not passed at that moment now.
        if self.overdue:
            self.agents = self.database.planning_of(run.run_id)
            self.run, self.overdue = limits.run_at(run, self.agents, self.opened_at)

    def lock(self, command: str) -> Lock:
        """Return the state directory's lock, for use in a `with` statement.

        Refused where somebody has put a link into the folder: what is written would go elsewhere.
        """
        check_no_links(self.state_dir)
        return Lock(resources.lock_path(self.state_dir), command)

    def check_unedited(self) -> None:
        """Raise Refused if plan.json is not the plan that was submitted, since it would be shown.

        A plan that is not submitted may change, and one of a run that has ended leads nowhere.
        """
        if self.run.digest is None or self.run.status not in (ACTIVE, PAUSED):
            return
        from state.frozen_bytes import digest_of  # needs hashlib, which most steps do without

        path = self.plan_path
        if digest_of(read_bytes(path)) != (self.run.digest, self.run.digest):
            text = "the plan was edited after it was submitted, so it is not what the digest names"
            allowed = "a person restores the plan that was submitted"
            raise Refused("invalid", path, text, allowed, self.command("repair"))

    def command(self, *words: str, role: str | None = None) -> str:
        """Return a planner command line, for printing, that acts on the run."""
        return resources.command(*words, state_dir=self.state_dir, role=role)

    def typed(self, *words: str) -> str:
        """Return a planner command line that a person types in the run's repository (FC-4).

        It names the state directory only where the run could not be found without.
        """
        started = self.database.runs(ACTIVE, PAUSED)
        mine = [run.run_id for run in started if run.workflow != REQUIREMENTS] == [self.run.run_id]
        return resources.command(*words) if mine and self._is_here else self.command(*words)

    @property
    def approving(self) -> str:
        """The command by which a person approves the submitted plan: its digest names the run."""
        words = ("approve", (self.run.digest or "")[:SHORTEST])
        return resources.command(*words) if self._is_here else self.command(*words)

    @property
    def _is_here(self) -> bool:
        """Whether the run is in the database of its repository, where commands look for it."""
        home = os.path.join(self.run.repository, resources.PLANNER_FOLDER)
        return os.path.realpath(os.path.dirname(self.database.path)) == os.path.realpath(home)

    def go_to(self, workflow: str, step: int) -> None:
        """Set the run's workflow step and its agent's time of last call; use in a transaction."""
        database = self.database
        database.set_run(self.run.run_id, workflow=workflow, step=step)
        row = database.planning(database.agent)
        if row is not None and row.run_id == self.run.run_id:
            database.set_planning(database.agent, last_tool_at=now())
        self.reload()

    def move(
        self, action: str, who: str, *, at: str = "", detail: str = "", **values: object
    ) -> None:
        """Change the stage of the run and its agents by a named action; use in a transaction.

        `values` are further columns of the run, its step among them.
        """
        change_run(self.database, self.run, action, who, at=at, detail=detail, **values)
        self.reload()


def has_settings(run: Run) -> bool:
    """Return whether a run was begun with settings that it keeps: every one that has a plan."""
    return run.status in (ACTIVE, PAUSED) and run.workflow != STRATEGY


def _check_no_link_above(state_dir: str) -> None:
    """Raise Refused if `.planner` or a folder below it, on the way to a run, is a symbolic link."""
    ours, folder = [], state_dir
    while os.path.basename(folder):
        ours.append(folder)
        if os.path.basename(folder) == resources.PLANNER_FOLDER:
            refuse_links(ours)
            return
        folder = os.path.dirname(folder)


def check_no_links(state_dir: str) -> None:
    """Raise Refused if the state directory or anything directly in it is a symbolic link."""
    names = os.listdir(state_dir) if os.path.isdir(state_dir) else []
    found = [os.path.join(state_dir, name) for name in names]
    refuse_links([state_dir] if os.path.islink(state_dir) else found)


def without_links(state: State) -> State:
    """Return the run if no symbolic link leads to its state directory or lies in it; or Refused."""
    if not os.path.isdir(state.state_dir):
        raise _folder_gone(state.state_dir)
    check_no_links(state.state_dir)
    _check_no_link_above(state.state_dir)
    return state


def _is_of_a_run(state_dir: str) -> bool:
    path = resources.database_path(state_dir)
    return resources.is_database(path) and Database(path).run_at(state_dir) is not None


def _folder_gone(state_dir: str) -> Refused:
    text = "the folder of this run is gone, with all that was not frozen"
    allowed = "a person has its plan restored, where it was frozen, to go on or to undo it"
    repair = resources.command("repair", state_dir=state_dir)
    return Refused("not_found", state_dir, text, allowed, repair)


def open_state(state_dir: str | None, folder: str) -> State:
    """Return the run of `state_dir`, or the one that is meant in the repository around `folder`.

    Raises Refused naming the runs under way when there is none or more than one.
    """
    if state_dir is None:
        database, meant = run_here(folder)
        return without_links(State(meant.state_dir, database, meant))
    _check_no_link_above(os.path.abspath(state_dir))
    if not os.path.isdir(state_dir) and _is_of_a_run(os.path.realpath(state_dir)):
        raise _folder_gone(os.path.realpath(state_dir))
    real = resources.known_state_dir(state_dir)
    check_no_links(real)
    path = resources.database_path(real)
    if not resources.is_database(path):
        text = f"the planner's database {path} is gone, and with it what was approved"
        allowed = (
            "a person takes up the plans that are left, so that they can be approved or undone"
        )
        raise Refused(
            "not_found", state_dir, text, allowed, resources.command("repair", state_dir=real)
        )
    database = Database(path)
    run = database.run_at(real)
    if run is None:
        text = "no run has this state directory (the folder of a run)"
        if os.path.isfile(resources.plan_path(real)):
            allowed = "a person takes up the plan that lies there, to approve or undo it"
            retry = resources.command("repair", state_dir=real)
            raise Refused("not_found", state_dir, text, allowed, retry)
        known = (
            ", ".join(r.state_dir for r in database.runs(ACTIVE)) or "start a run; none is active"
        )
        raise Refused("not_found", state_dir, text, known)
    return State(real, database, run)
