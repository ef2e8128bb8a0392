"""Begin the requirements lane: where the code is, what is changed there, what was left behind.

The planning folder is made, a crash is recovered, and the user's answer is taken (RL-3 to RL-5).
"""

from __future__ import annotations

import os
import time
from typing import NamedTuple

from orchestrator.folders import make_folder as make_own_folder
from orchestrator.folders import make_planner_folder
from orchestrator.requirements import after
from orchestrator.requirements_lane import history
from orchestrator.requirements_lane.opening import at_work, recover
from orchestrator.requirements_lane.transition import (
    append,
    carry_out,
    create,
    make_folder,
)
from orchestrator.run.ask_first import Meanwhile, planned_by_session
from orchestrator.run.providers import load_models
from orchestrator.run.settings import check_enabled, git_of, write_lane_settings
from orchestrator.run.start import new_run
from shared import resources
from shared.git.private import is_in_no_repository
from shared.git.readiness import check_readable, check_startable
from shared.git.repository import (
    Repository,
    exclude_planner,
    find_repository,
    head,
    repository_at,
    uncommitted,
)
from shared.mode.sessions import agent_name, repository_root
from shared.mode.transitions import check_only_here
from shared.requirements_record import (
    ATTRIBUTES,
    HISTORY,
    IN_WORK,
    NEW,
    TODO,
    WORKFLOW,
    Lane,
    read_lane,
)
from shared.run import State
from shared.without_git import check_start
from state.beneath import Beneath
from state.database import Database
from state.errors import Problem, Refused
from state.files import Lock


class Wanted(NamedTuple):
    """How a lane begins: with git or without, a note for the user, how its plans are made."""

    git: bool = True
    note: str = ""
    depth: str | None = None
    review: str | None = None
    # True if the host starts no sub-agents.
    alone: bool = False
    # The words of the command that begins beside what the session plans already; where it is
    # empty nobody is asked.
    beside: tuple[str, ...] = ()


def planned_meanwhile(codepath: str, wanted: Wanted, agent: str | None) -> Meanwhile | None:
    """Return what the session plans beside the lane of a folder, None where nothing is asked.

    Raises Refused for a session that plans in another repository.
    """
    real = os.path.realpath(codepath)
    root = repository_root(real) or real
    # What git tracks in our folder is refused whole, before anybody looks into it.
    is_git = os.path.lexists(os.path.join(root, ".git"))
    if is_git and (problems := check_readable(repository_at(root))):
        raise Refused.of(problems)
    folder = resources.requirements_folder(root, real)
    check_only_here(resources.database_path(folder), agent_name(agent, root))
    other = planned_by_session(folder, root, agent) if wanted.beside else None
    return other and other._replace(beside=wanted.beside)


def start_lane(codepath: str, wanted: Wanted) -> State:
    """Begin the lane of the code at a path, or go back to its first state; lose nothing.

    Raises Refused with every reason why no round can begin there.
    """
    git = wanted.git
    real = os.path.realpath(os.path.expanduser(codepath))
    repository = _check_place(real, codepath, git=git)
    if is_in_no_repository(real):
        check_start(real, "", wanted.depth, None, ("--planning", "--no-git"))
    begun = Lane(real, git=git)
    begun.root = repository.root if repository else real
    begun.check_files()
    config = check_enabled(real)
    models = load_models(git_of(real))
    note = "\n".join(filter(None, [wanted.note, *models.notes]))
    changed = _changed(repository, real) if git and repository else []
    state = _open(real, repository)
    with state.lock("requirements startup"):
        recover(state)
        write_lane_settings(state, config, models)
        path = resources.requirements_record_path(state.state_dir)
        facts = read_lane(state.state_dir) if os.path.exists(path) else begun
        facts.root = begun.root
        facts.git, facts.told, facts.closed = git, note, False
        facts.depth = wanted.depth or facts.depth
        facts.review_mode = wanted.review or facts.review_mode
        facts.alone = wanted.alone or facts.alone
        facts.branch = (head(repository).branch or "") if git and repository else ""
        facts.changed = changed
        facts.found = [[name, _time_of(facts, name)] for name in (IN_WORK, TODO) if facts.has(name)]
        facts.started = history.is_started(history.read_text(facts))
        operations = [make_folder(facts.folder), create(facts.path(HISTORY), "")]
        if git:
            operations.append(create(facts.path(ATTRIBUTES), history.ATTRIBUTES))
        asks = bool(git or facts.found or facts.stamp)
        to = "startup" if asks else "new-requirements"
        carry_out(state, facts, "startup", operations, to)
    return state


def start_again(state: State) -> None:
    """Begin the lane anew where it was begun before; finish what a crash interrupted."""
    facts = read_lane(state.state_dir)
    start_lane(facts.codepath, Wanted(facts.git))
    state.reload()


def _check_place(real: str, given: str, *, git: bool) -> Repository | None:
    """Return the repository around a path, None without one; Refused if no round can begin."""
    if not os.path.isdir(real):
        text = "is not a folder that exists"
        raise Refused("not_found", given, text, "give --codepath the folder of the code")
    planning = os.path.join(real, resources.PLANNING_FOLDER)
    if os.path.islink(planning) or (os.path.lexists(planning) and not os.path.isdir(planning)):
        text = "is not a folder, so the requirements cannot be kept there"
        raise Refused("conflict", planning, text, "rename it, then run the same command again")
    if git:
        problems = check_startable(real)
        if problems:
            raise Refused.of([_with_way_out(problem, real) for problem in problems])
        return find_repository(real)
    try:
        return find_repository(real)
    except Refused:
        return None


def _with_way_out(problem: Problem, real: str) -> Problem:
    if problem.kind == "not_found" and problem.at == real:
        problem.allowed = "the user makes a repository there, or starts with --no-git"
        problem.retry = f"git init {resources.quote(real)}"
    return problem


def _changed(repository: Repository, codepath: str) -> list[str]:
    """Return the files that are untracked or changed, all but the new requirements."""
    planning = os.path.join(os.path.relpath(codepath, repository.root), resources.PLANNING_FOLDER)
    folder = os.path.normpath(planning) + "/"
    found = []
    for name in uncommitted(repository):
        inside = [name]
        if name == folder:
            inside = [folder + one for one in Beneath(repository.root).names(folder.rstrip("/"))]
        found += [one for one in inside if one != folder + NEW]
    return found


def _open(codepath: str, repository: Repository | None) -> State:
    """Return the requirements lane's row and folder, made where there is none yet."""
    root = repository.root if repository else codepath
    folder = resources.requirements_folder(os.path.realpath(root), codepath)
    make_planner_folder(root)
    if repository:
        exclude_planner(repository)
    make_own_folder(os.path.join(folder, "answers"))
    database = Database(resources.database_path(folder), create=True)
    with Lock(resources.lock_path(folder), "requirements startup"), database:
        run = database.run_at(folder)
        if run is None:
            name = f"requirements-{os.path.basename(folder)}"
            run = new_run(database, name, f"Requirements of {codepath}", root, folder)
            database.set_run(run.run_id, workflow=WORKFLOW)
    return State(folder, database, database.run_at(folder) or run)


def _time_of(facts: Lane, name: str) -> str:
    changed_at = facts.files.changed_at(facts.path(name))
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(changed_at))


def begin(state: State) -> None:
    """Go on to new requirements, as the user agrees to the branch and the changed files."""
    with at_work(state, "requirements startup") as facts:
        to = after(state.run.step, "yes", state.state_dir)
        if to is None:
            return
        if facts.found or facts.stamp:
            text = "the last round has not ended; the user chooses what becomes of it"
            here = state.command("step", WORKFLOW)
            raise Refused("conflict", "--yes", text, "one of the options of this step", here)
        carry_out(state, facts, "begin", [], to)


def resume(state: State) -> None:
    """Go back to the implementation that was interrupted, as the user wishes (RL-5)."""
    _recover_round(state, "resume", history.RECOVERING)


def mark_complete(state: State) -> None:
    """Take the interrupted implementation as complete, as the user wishes (RL-5)."""
    _recover_round(state, "mark-complete", history.SKIPPED)


def _recover_round(state: State, answer: str, said: str) -> None:
    with at_work(state, "requirements startup") as facts:
        to = after(state.run.step, answer, state.state_dir)
        if to is None:
            return
        if not facts.found:
            text = "nothing was left behind here"
            raise Refused("conflict", f"--{answer}", text, "--yes, --quit")
        # Where no list is left there is nothing to ask about.
        facts.agreed = answer == "mark-complete" and not facts.has(TODO)
        lines = append(facts, history.remark(said))
        carry_out(state, facts, answer, [lines], to)
