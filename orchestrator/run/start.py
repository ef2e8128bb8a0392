"""Start a run: folder, database row, worktree; repeated, find the same run (PL-1, PL-32)."""

from __future__ import annotations

import os
import secrets
import time
import uuid
from typing import NamedTuple

from orchestrator.run.limits import settle
from shared import drift, resources
from shared.builders import Block, first_of
from shared.config import commands_hash, load_config, render_commands
from shared.drift import tree_of
from shared.git.links import link
from shared.git.repository import (
    Repository,
    check_path,
    check_startable,
    exclude_planner,
    find_repository,
    head,
    submodules,
    uncommitted,
)
from shared.git.snapshot import snapshot
from shared.git.worktree import make_worktree
from shared.mode import limits, transitions
from shared.mode.sessions import agent_name
from shared.run import State
from shared.steps.entry_points import find_workflow
from shared.steps.printing import print_current
from state import files, store
from state.clock import now
from state.database import Database, Run
from state.errors import Refused
from state.files import Lock, write_atomic, write_json
from state.models import Base, Plan
from state.shape import SCHEMA_VERSION
from state.validator import check_value

BASES = ("head", "snapshot")
DEPTHS = ("full", "intent")
SHOWN = 20  # paths with uncommitted work


class Choices(NamedTuple):
    """The choices made when a run starts; for None the program decides or asks the user."""

    base: str | None = None
    review: str | None = None
    depth: str | None = None


LEFT_OPEN = Choices()


class Started(NamedTuple):
    """The result of starting a run: the run under way, or a question to the user that comes first.

    Without a `state` there was no request; `uncommitted` are paths that leave the base open.
    """

    state: State | None
    uncommitted: tuple[str, ...] = ()


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
    state = _run_at(state_dir)
    if state is not None:
        folder = state.run.repository
    problems = [*check_startable(folder), *check_value("TEXT", request or "")]
    problems += check_path(os.path.realpath(state_dir)) if state_dir else []
    if problems:
        raise Refused.of(problems)
    repository = find_repository(folder)
    if state is None and state_dir is None:
        state = _run_for(repository, request)
    if state is None:
        if not (request or "").strip():
            return Started(None)
        state = _create(repository, (request or "").strip(), state_dir)
    settle(state)
    _take_choices(state, chosen)
    if state.run.status == "IDLE":
        waiting = uncommitted(repository)
        prepared = os.path.exists(state.plan_path)
        if waiting and chosen.base is None and not prepared:
            return Started(state, tuple(waiting))
        _prepare(repository, state, chosen.base or "head", agent)
    elif state.run.stage != "inactive":
        join(state, agent)
    return Started(state)


def render_start(started: Started) -> str:
    """Return the prompt of the run's current step, or the question that the user has to answer."""
    if started.state is None:
        return _ask_for_goal()
    if started.uncommitted:
        return _ask_for_base(started.state, started.uncommitted)
    return print_current(started.state)


def join(state: State, agent: str | None) -> None:
    """Let an agent take part in a run; the run's time limits then apply to the agent."""
    name = agent_name(agent, state.run.repository)
    with state.database as database:
        transitions.bind(database, state.run, name, limits.columns(state.config["config"]))


def _take_choices(state: State, chosen: Choices) -> None:
    if chosen.review not in (None, state.run.review):
        _choose(state, "review", chosen.review)
    if chosen.depth not in (None, state.run.depth):
        _check_depth_open(state)
        _choose(state, "depth", chosen.depth)


def _choose(state: State, column: str, value: str | None) -> None:
    before = getattr(state.run, column)
    with state.lock("start"), state.database as database:
        database.set_run(state.run.run_id, **{column: value})
        database.audit(state.run, "host", column, before=before, after=value)
    state.reload()


def _check_depth_open(state: State) -> None:
    """Raise Refused if a run's depth (full or intent) would change after its design is decided."""
    run, planner = state.run, find_workflow("planner")
    early = run.workflow == planner.name and run.step <= planner.last("intent")
    if not early or run.revision > 1:
        text = f"the depth is {run.depth}, which cannot change after the design is decided"
        raise Refused("conflict", "--depth", text, run.depth, state.command("step", "planner"))


def _run_at(state_dir: str | None) -> State | None:
    """Return the run stored for a state directory, or None if no run was started there."""
    real = os.path.realpath(state_dir or "")
    path = resources.database_path(real)
    if state_dir is None or not os.path.isfile(path):
        return None
    database = Database(path)
    run = database.run_at(real)
    return State(real, database, run) if run else None


def _run_for(repository: Repository, request: str | None) -> State | None:
    """Return the newest unfinished run with the same request, or None."""
    path = resources.database_path(os.path.join(repository.root, resources.PLANNER_FOLDER))
    if not os.path.isfile(path):
        return None
    database = Database(path)
    wanted = (request or "").strip()
    for run in reversed(database.runs("IDLE", "ACTIVE", "PAUSED")):
        same = run.request == wanted and run.repository == repository.root
        if same and os.path.isdir(run.state_dir):
            return State(run.state_dir, database, run)
    return None


def _create(repository: Repository, request: str, state_dir: str | None) -> State:
    planner = os.path.join(repository.root, resources.PLANNER_FOLDER)
    run_id = f"{time.strftime('%Y%m%d')}-{secrets.token_hex(3)}"
    folder = os.path.realpath(state_dir or os.path.join(planner, "runs", run_id))
    if state_dir is None:
        make_planner_folder(repository.root)
        exclude_planner(repository)
    make_folder(os.path.join(folder, "answers"))
    database = Database(resources.database_path(folder), create=True)
    with Lock(resources.lock_path(folder), "start"), database:
        run = new_run(database, run_id, request, repository.root, folder)
    return State(folder, database, run)


def make_planner_folder(root: str) -> str:
    """Make the planner's folder in a repository, hidden from git, and return it."""
    planner = os.path.join(root, resources.PLANNER_FOLDER)
    make_folder(os.path.join(planner, "answers"))
    write_atomic(os.path.join(planner, ".gitignore"), b"*\n")
    return planner


def make_folder(path: str) -> None:
    """Make one of the planner's folders, with its parent folders."""
    try:
        os.makedirs(path, exist_ok=True)
    except OSError as error:
        raise files.unusable(path, error) from None


def new_run(database: Database, run_id: str, request: str, repository: str, folder: str) -> Run:
    """Add the database row of a run that is about to start; call it in a transaction."""
    values = {
        "run_id": run_id, "request": request, "repository": repository, "state_dir": folder,
        "depth": "full", "status": "IDLE", "stage": "inactive", "workflow": "planner", "step": 1,
    }  # fmt: skip
    database.add_run(values)
    run = database.run_at(folder)
    if run is None:
        raise Refused(
            "conflict",
            folder,
            "the new run was stored, but cannot be found again",
            "run the command again",
        )
    database.event(run, "PlanStarted", {"goal": request})
    return run


def _prepare(repository: Repository, state: State, base: str, agent: str | None) -> None:
    """Choose the base commit, make the scratch worktree, start planning; repeated, complete it."""
    with state.lock("start"):
        path = state.plan_path
        if not os.path.exists(path):
            store.save_plan(path, _empty_plan(repository, base))
        plan = store.load_plan(path)
        if plan.base is None:
            raise Refused("invalid", path, "the plan has no base commit", "start a new run")
        commit = plan.base.snapshot or plan.base.commit
        config = load_config(repository.git, commit)
        make_worktree(repository, state.worktree, commit)
        link(repository, state.worktree, config.link)
        values = {
            "config": config.to_json(),
            "hash": commands_hash(config),
            "text": render_commands(config),
            "submodules": submodules(repository, plan.base.tree),
        }
        write_json(resources.run_config_path(state.state_dir), values)
        drift.take(tree_of(state))
        with state.database as database:
            database.add_steps(state.run, "planner", [(1, "plan-init")], "script")
            name = agent_name(agent, state.run.repository)
            state.move("enter", "host", workflow="planner", step=2)
            transitions.bind(database, state.run, name, limits.columns(config.to_json()))


def _empty_plan(repository: Repository, base: str) -> Plan:
    at = head(repository)
    saved = snapshot(repository) if base == "snapshot" else None
    tree = repository.git.text("rev-parse", f"{saved}^{{tree}}").strip() if saved else at.tree
    return Plan(
        schema_version=SCHEMA_VERSION,
        plan_id=str(uuid.uuid4()),
        created_at=now(),
        base=Base(commit=at.commit, branch=at.branch or "", tree=tree, snapshot=saved),
    )


def _ask_for_goal() -> str:
    block = Block("step", workflow="planner", number=1, of=11, name="plan-init")
    block.ask("goal", "What should be changed?", [])
    command = resources.command("start")
    block.task(f"Ask the user, then run `{command}` with their words as its one argument.")
    return block.render()


def _ask_for_base(state: State, paths: tuple[str, ...]) -> str:
    block = Block(
        "step", workflow="planner", number=1, of=11, name="plan-init", state_dir=state.state_dir
    )
    block.task("The repository holds work that is not committed. Let the user choose.")
    block.data("uncommitted", "\n".join(first_of(paths, SHOWN)))
    options = [
        ("head", "Plan against the last commit; the uncommitted work stays out."),
        ("snapshot", "Plan on top of it; commit those files before the plan is applied."),
    ]
    block.ask("base", "What is the plan made against?", options)
    for value, _ in options:
        block.next(value, resources.command("start", "--base", value, state_dir=state.state_dir))
    return block.render()
