"""Start a run: folder, database row, worktree; repeated, find the same run (PL-1, PL-32)."""

from __future__ import annotations

import os
import secrets
import time
import uuid
from typing import TYPE_CHECKING, NamedTuple

from developer.candidates.detect import detect
from orchestrator.folders import (
    Before,
    check_own,
    look,
    make_folder,
    make_planner_folder,
    only_here,
    taken_back_if_refused,
)
from orchestrator.run.ask_first import (
    Meanwhile,
    ask_beside,
    ask_for_base,
    ask_for_goal,
    planned_by_session,
)
from orchestrator.run.choices import (
    LEFT_OPEN,
    Choices,
    leave_strategy,
    only_intents,
    take_choices,
)
from orchestrator.run.limits import settle
from orchestrator.run.settings import write_settings
from orchestrator.run.startable import check_before, open_startable
from orchestrator.strategy_result import clarified, strategy_of
from shared import drift, resources
from shared.config import load_config
from shared.drift import tree_of
from shared.git.links import link
from shared.git.private import is_in_no_repository
from shared.git.repository import (
    Repository,
    exclude_planner,
    head,
    private_around,
    uncommitted,
    within,
)
from shared.git.snapshot import snapshot
from shared.git.worktree import make_worktree
from shared.mode import limits, transitions
from shared.mode.sessions import agent_name, repository_root
from shared.paths import check_one_reading
from shared.recall import keep_for_design
from shared.run import State
from shared.steps.printing import print_current
from shared.strategy_record import WORKFLOW as STRATEGY
from shared.user_config import limited, load_user_config
from shared.without_git import check_start, keep_up
from state import store
from state.clock import now
from state.database import Database, Run
from state.errors import Refused
from state.files import Lock, write_json
from state.models import Base, Checkpoint, Plan
from state.shape import SCHEMA_VERSION
from state.stages import ACTIVE, IDLE, PAUSED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orchestrator.strategy_result import Clarified


class Started(NamedTuple):
    """The result of starting a run: the run under way, or a question that the user gets first."""

    # None if there was no request.
    state: State | None
    # Paths that leave the base open.
    uncommitted: tuple[str, ...] = ()
    # What the session plans already, and the commands between which the user chooses.
    meanwhile: Meanwhile | None = None


def start_run(
    folder: str,
    request: str | None,
    state_dir: str | None,
    chosen: Choices = LEFT_OPEN,
    agent: str | None = None,
) -> Started:
    """Start a run for a request, or continue the unfinished run of the same request.

    A run that `state_dir` names is found from any folder. Raises Refused if the repository cannot
    carry a plan.
    """
    with only_here(repository_root(folder) or folder):
        return _start_run(folder, request, state_dir, chosen, agent)


def _start_run(
    folder: str, request: str | None, state_dir: str | None, chosen: Choices, agent: str | None
) -> Started:
    if state_dir is not None:
        check_one_reading(state_dir)
    state = _run_at(state_dir)
    if state is not None:
        folder = state.run.repository
    if is_in_no_repository(folder):
        check_start(folder, request or "", chosen.depth, state_dir)
        if not (request or "").strip() and private_around(folder) is None:
            return Started(None)
    repository = open_startable(folder, request, state_dir, chosen)
    if state is None and state_dir is None:
        state = _run_for(repository, request)
    before = work = None
    if state is None:
        if not (request or "").strip():
            return Started(None)
        run_id = f"{time.strftime('%Y%m%d')}-{secrets.token_hex(3)}"
        home = os.path.realpath(state_dir or _default_home(repository, run_id))
        check_own(home)
        if chosen.beside and (other := planned_by_session(home, repository.root, agent)):
            return Started(None, meanwhile=other._replace(beside=chosen.beside))
        work = check_before(repository, home, chosen, agent)
        before = look(home)
        state = _create(repository, (request or "").strip(), run_id, state_dir, chosen)
        if chosen.lane:
            write_json(resources.lane_path(home), dict(chosen.lane))
    state.opened[repository.root] = repository
    settle(state)
    return _go_on(repository, state, chosen, before, agent, work)


def _go_on(
    repository: Repository,
    state: State,
    chosen: Choices,
    before: Before | None,
    agent: str | None,
    work: list[str] | None,
) -> Started:
    """Take up a run; `work` are the paths with uncommitted work, if this command knows them."""
    if state.run.workflow == STRATEGY and state.run.status == IDLE and not chosen.strategy:
        leave_strategy(state)
    take_choices(state, chosen)
    if state.run.workflow == STRATEGY:
        return Started(state)
    if state.run.status == IDLE:
        if repository.is_private:
            keep_up(repository)
            only_intents(state)
            work = None  # it has just been kept
        if chosen.base is None and not os.path.exists(state.plan_path):
            aside = tree_of(state).aside
            work = uncommitted(repository) if work is None else work
            waiting = [path for path in work if not any(within(path, a) for a in aside)]
            if waiting:
                return Started(state, tuple(waiting))
        with taken_back_if_refused(repository, state, before):
            _prepare(repository, state, chosen.base or "head", agent)
    elif state.run.stage != "inactive":
        join(state, agent)
    return Started(state)


def render_start(started: Started) -> str:
    """Return the prompt of the run's current step, or the question that the user has to answer."""
    if started.meanwhile is not None:
        return ask_beside(started.meanwhile)
    if started.state is None:
        return ask_for_goal()
    if started.uncommitted:
        return ask_for_base(started.state, started.uncommitted)
    return print_current(started.state)


def go_on(state: State, agent: str | None) -> str:
    """Return what is next in a run that has not begun: its strategy, its base, or its first step.

    Where nothing has to be asked any more, the run begins.
    """
    if state.run.workflow == STRATEGY:
        return print_current(state)
    return render_start(start_run(state.run.repository, None, state.state_dir, agent=agent))


def join(state: State, agent: str | None) -> None:
    """Let an agent take part in a run; the run's time limits then apply to the agent."""
    with state.database:
        bind_agent(state, agent)


def bind_agent(state: State, agent: str | None) -> None:
    """Let an agent take part in a run, in the caller's transaction."""
    name = agent_name(agent, state.run.repository)
    columns = limits.columns(state.config["config"])
    transitions.bind(state.database, state.run, name, columns)


def _run_at(state_dir: str | None) -> State | None:
    """Return the run stored for a state directory, or None if no run was started there."""
    real = os.path.realpath(state_dir or "")
    path = resources.database_path(real)
    if state_dir is None or not resources.is_database(path):
        return None
    database = Database(path)
    run = database.run_at(real)
    return State(real, database, run) if run else None


def _run_for(repository: Repository, request: str | None) -> State | None:
    """Return the newest unfinished run with the same request, or None."""
    path = resources.database_path(os.path.join(repository.root, resources.PLANNER_FOLDER))
    if not resources.is_database(path):
        return None
    database = Database(path)
    wanted = (request or "").strip()
    for run in reversed(database.runs(IDLE, ACTIVE, PAUSED)):
        same = run.request == wanted and run.repository == repository.root
        if same and os.path.isdir(run.state_dir):
            return State(run.state_dir, database, run)
    return None


def _default_home(repository: Repository, run_id: str) -> str:
    return os.path.join(repository.root, resources.PLANNER_FOLDER, "runs", run_id)


def _create(
    repository: Repository, request: str, run_id: str, state_dir: str | None, chosen: Choices
) -> State:
    if state_dir is None:
        make_planner_folder(repository.root)
        exclude_planner(repository)
    folder = os.path.realpath(state_dir or _default_home(repository, run_id))
    make_folder(os.path.join(folder, "answers"))
    database = Database(resources.database_path(folder), create=True)
    with Lock(resources.lock_path(folder), "start"), database:
        run = new_run(database, run_id, request, repository.root, folder)
        if chosen.strategy:
            database.set_run(run_id, workflow=STRATEGY)
    return State(folder, database, database.run_at(folder) or run)


def new_run(database: Database, run_id: str, request: str, repository: str, folder: str) -> Run:
    """Add the database row of a run that is about to start; call it in a transaction."""
    values = {
        "run_id": run_id, "request": request, "repository": repository, "state_dir": folder,
        "depth": "full", "status": IDLE, "stage": "inactive", "workflow": "planner", "step": 1,
    }  # fmt: skip
    database.add_run(values)
    run = database.run_at(folder)
    if run is None:
        text = "the new run was stored, but cannot be found again"
        raise Refused("conflict", folder, text, "run the command again")
    return run


def _prepare(repository: Repository, state: State, base: str, agent: str | None) -> None:
    """Choose the base commit, make the scratch worktree, start planning; repeated, complete it."""
    with state.lock("start"):
        path = state.plan_path
        facts = strategy_of(state.state_dir)
        asked = clarified(facts) if facts else []
        if not os.path.exists(path):
            store.save_plan(path, _first_plan(repository, base, state.run.depth, asked))
        plan = store.load_plan(path)
        if plan.base is None:
            raise Refused("invalid", path, "the plan has no base commit", "start a new run")
        commit = plan.base.snapshot or plan.base.commit
        config = limited(load_config(repository.git, commit), load_user_config())
        make_worktree(repository, state.worktree, commit)
        link(repository, state.worktree, config.link)
        write_settings(state, repository, config, commit)
        detect(state.state_dir, state.worktree, repository.root, verified=bool(config.verify))
        keep_for_design(state, state.run.request)
        drift.take(tree_of(state))
        with state.database as database:
            database.add_steps(state.run, "planner", [(1, "plan-init")], "script")
            for number, one in enumerate(asked, 1):
                database.answer(state.run, _checkpoint_id(number), [one.answer])
            name = agent_name(agent, state.run.repository)
            state.move("enter", "host", workflow="planner", step=2)
            transitions.bind(database, state.run, name, limits.columns(config.to_json()))


def _checkpoint_id(number: int) -> str:
    return f"CP-{number:03d}"


def _first_plan(repository: Repository, base: str, depth: str, asked: Sequence[Clarified]) -> Plan:
    """Return a plan that holds nothing but its base, and the questions of the strategy."""
    at = head(repository)
    saved = snapshot(repository) if base == "snapshot" else None
    tree = repository.git.text("rev-parse", f"{saved}^{{tree}}").strip() if saved else at.tree
    return Plan(
        schema_version=SCHEMA_VERSION,
        plan_id=str(uuid.uuid4()),
        created_at=now(),
        depth="intent" if depth == "intent" else "full",
        base=Base(commit=at.commit, branch=at.branch or "", tree=tree, snapshot=saved),
        checkpoints=tuple(
            Checkpoint(id=_checkpoint_id(n), question=one.question, origin=STRATEGY, options=())
            for n, one in enumerate(asked, 1)
        ),
        counters={"CP": len(asked)} if asked else {},
    )
