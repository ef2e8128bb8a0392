"""Make the new requirements the current ones, and start the run that implements them (RL-8)."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from orchestrator.requirements import STEPS, after
from orchestrator.requirements_lane import history
from orchestrator.requirements_lane.opening import at_work
from orchestrator.requirements_lane.refining import problems_of
from orchestrator.requirements_lane.transition import append, carry_out, rename
from orchestrator.requirements_steps import run_of
from orchestrator.requirements_text import decode_requirements, requirements_in
from orchestrator.run.choices import Choices
from orchestrator.run.start import Started, join, start_run
from shared.git.private import is_in_no_repository
from shared.git.readiness import check_startable
from shared.git.repository import head
from shared.named_files import read_answer
from shared.requirements_record import IN_WORK, NEW, TODO, write_lane
from shared.resources import lane_path
from shared.todo import refresh_todo
from state.errors import Refused
from state.files import write_json
from state.stages import ACTIVE, PAUSED

if TYPE_CHECKING:
    from orchestrator.requirements_lane.transition import Operation
    from shared.requirements_record import Lane
    from shared.run import State


def implement(state: State, summary: str | None) -> Started | None:
    """Begin to implement the requirements, or go on; `summary` is the file with their summary.

    Returns the run that does it, as its start leaves it; None where the summary is asked for first.
    """
    with at_work(state, "requirements implement") as facts:
        name = STEPS[state.run.step].name
        answer = {"refine": "yes", "complete": "not-done"}.get(name, "resume")
        to = after(state.run.step, answer, state.state_dir)
        if name == "complete" and facts.stamp:
            text = "the requirements are completed already; only their commit is open"
            retry = state.command("step", "requirements")
            raise Refused("conflict", "requirements implement", text, "continue or quit", retry)
        here = facts.codepath
        problems = [] if is_in_no_repository(here) else check_startable(here)
        if problems:
            raise Refused.of(problems)
        if name == "complete" and not facts.started and summary is None:
            carry_out(state, facts, "implement", [], to or name)
            return None
        operations = _operations(state, facts, name, summary)
        if to is not None or operations:
            facts.started = True
            facts.agreed = False
            carry_out(state, facts, "implement", operations, to or name)
        return _start(state, facts)


def _operations(state: State, facts: Lane, name: str, summary: str | None) -> list[Operation]:
    """Return the file operations that begin the implementation, none where it has begun."""
    operations: list[Operation] = []
    if name == "refine":
        problems = problems_of(state, facts)
        if problems:
            raise Refused.of(problems)
        if not facts.reviewed:
            text = "the user has not read the reviewed requirements yet"
            again = state.command("requirements", "accept")
            raise Refused("conflict", "requirements implement", text, "ask them first", again)
        operations.append(rename(facts.path(NEW), facts.path(IN_WORK)))
    if name != "refine" and facts.started:
        return operations
    lines = _summary(state, summary)
    history.read_text(facts)
    text = ""
    if facts.git:
        commit = head(state.repository).commit
        text = history.at_head(commit)
    text += history.started(lines)
    return [*operations, append(facts, text)]


def _summary(state: State, file: str | None) -> list[str]:
    if file is None:
        text = "the history needs a summary of the requirements"
        retry = state.command("step", "requirements")
        raise Refused("usage", "--summary", text, "name the file that the step tells", retry)
    found = read_answer(state.state_dir, file)
    return history.check_summary(found.text(), found.path)


def _start(state: State, facts: Lane) -> Started:
    """Start the run that implements the requirements, or join the one that does it already."""
    run = run_of(facts)
    if run is None or run.run.status not in (ACTIVE, PAUSED):
        started = _start_new(state, facts)
    else:
        started = Started(run)
        if run.run.stage != "inactive":
            join(run, None)
    if started.state is not None and not facts.has(TODO):
        refresh_todo(started.state)
    return started


def _start_new(state: State, facts: Lane) -> Started:
    """Start a run whose task is the current requirements; repeated, find the same run."""
    path, data = facts.path(IN_WORK), facts.read(IN_WORK)
    text = decode_requirements(data, path)
    digest = sha256(data).hexdigest()
    lane = {"planning": facts.folder, "lifecycle": state.state_dir, "sha256": digest}
    chosen = Choices(
        None, facts.review_mode or None, facts.depth or None, lane=lane, alone=facts.alone
    )
    started = start_run(facts.codepath, requirements_in(text), None, chosen)
    if started.state is None:
        text = "the file holds no requirements"
        raise Refused("invalid", path, text, "ask the user for their requirements")
    write_json(lane_path(started.state.state_dir), lane)
    if facts.run != started.state.state_dir:
        facts.run = started.state.state_dir
        write_lane(state.state_dir, facts)
    return started
