"""Carry out approved intents wave by wave: start milestones, take in what agents wrote (PL-27)."""

from __future__ import annotations

import os
import random
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from developer.hand_in import read_result
from developer.milestone_trees import (
    capture_tree,
    lost_trees,
    make_tree,
    merge_tree,
    remove_milestone_tree,
    wave_start,
)
from orchestrator.executor import WORKFLOW
from orchestrator.plan.check import check_written
from orchestrator.plan.context import read_questions
from orchestrator.plan.finish import Finished, finish_phase
from shared.drift import check_run
from shared.execution.deeds import Execution
from shared.execution.holder import holding
from shared.execution.progress import View
from shared.named_files import read_answer
from shared.plan_file import check_going, open_plan
from shared.resources import answer_path, answer_word
from state import store
from state.backoff import CAP_S
from state.clock import moment
from state.edits import apply_edits
from state.errors import Problem, Refused
from state.execution import COMPLETED, IN_PROGRESS
from state.milestones import files_of
from state.stages import ACTIVE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from developer.hand_in import Result
    from shared.git.change import FileChange
    from shared.run import State
    from state.models import Milestone, Plan

STEP = WORKFLOW.number("impl-code", "execute")
_LOOK_S = 0.1
DOCS = WORKFLOW.number("impl-docs", "execute")


class Attempt(NamedTuple):
    """One start of a milestone: the agent that was started then hands in with its number."""

    milestone: str
    number: int


def go_on(state: State) -> Finished:
    """Start what can run now, each milestone in a worktree of its own; if all is written, end it.

    The end is that of a work step: verify, checks, and the review of what all agents wrote.
    """
    again = state.command("exec", "next")
    _sit_out_rate_limit(state)
    with state.lock("exec next"), holding(state):
        state.reload()
        _check_writing(state, "exec next")
        if state.run.step > STEP:
            # Killed after the code had passed, it may have left the documentation to pass.
            done = state.run.step == DOCS
        else:
            plan = open_plan(state)
            check_run(state)
            view = Execution(state)
            for name in view.with_status(COMPLETED):
                remove_milestone_tree(state, name)
            _make_again(state, plan, view.with_status(IN_PROGRESS))
            _start(state, plan, view.runnable())
            done = len(view.with_status(COMPLETED)) == len(plan.milestones)
            if done:
                _refuse_deviations(state)
            else:
                with state.database as database:
                    database.begin_limits(state.run)
    return finish_phase(state, "impl-code", None, None) if done else Finished(again)


def _sit_out_rate_limit(state: State) -> None:
    """Wait, at most a minute, while a rate limit is all that keeps milestones from starting."""
    if not state.is_writing or state.run.status != ACTIVE:
        return
    view = View(state)
    at = view.held_off()
    if view.runnable() or view.with_status(IN_PROGRESS):
        return
    end = time.monotonic() + CAP_S
    while moment(time.time()) < at and time.monotonic() < end:
        time.sleep(_LOOK_S)


def hold_off(state: State, milestone: str) -> None:
    """Let a milestone whose agent a rate limit ended start again later, at a random moment."""
    with state.lock("exec limited"):
        state.reload()
        _check_writing(state, "exec limited")
        _milestone(store.load_plan(state.plan_path), milestone)
        with state.database:
            Execution(state).hold_off(milestone, random.random())  # noqa: S311 – no secret


def _start(state: State, plan: Plan, names: Sequence[str]) -> None:
    """Make the worktrees of milestones, all from the same commit, and record that they begin."""
    if not names:
        return
    commit = wave_start(state)
    for name in names:
        make_tree(state, plan, name, commit)
    with state.database:
        execution = Execution(state)
        for name in names:
            execution.start(name)


def _make_again(state: State, plan: Plan, names: Sequence[str]) -> None:
    """Make the worktrees of milestones at work that somebody has removed."""
    lost = lost_trees(state, names) if names else []
    if lost:
        commit = wave_start(state)
        for name in lost:
            make_tree(state, plan, name, commit)


def hand_in(state: State, attempt: Attempt, path: str, role: str | None) -> Finished:
    """Take in a milestone: what its agent wrote is captured, compared with its plan and merged.

    A result that is malformed, late or for another milestone is Refused, and so is work that fails
    a check; it stays where it is. The host that works without agents goes on to what is next.
    """
    result = read_result(read_answer(state.state_dir, path), attempt.milestone)
    words = ("exec", "done", "--milestone", attempt.milestone, "--attempt", str(attempt.number))
    again, found = state.command(*words, "--file", path, role=role), []
    with state.lock("exec done"):
        state.reload()
        _check_writing(state, "exec done")
        plan = store.load_plan(state.plan_path)
        milestone = _milestone(plan, attempt.milestone)
        known = Execution(state).progress[milestone.id]
        late = _late(state, attempt)
        if not late:
            if not result.error:
                found = _merge(state, plan, milestone, again)
            _store(state, milestone.id, result, role or "host")
        elif known.status != COMPLETED or known.attempts != attempt.number:
            raise late
    if role is None and state.run.status == ACTIVE and not result.error:
        return go_on(state)
    following = state.command("exec", "next")
    return Finished(following, handed_in=role is not None, found=found)


def _merge(state: State, plan: Plan, milestone: Milestone, again: str) -> list[str]:
    """Check what was written for a milestone and write it where all meets; return minor findings.

    Raises Refused for files that are not the milestone's, failing checks and conflicts.
    """
    written = capture_tree(state, plan, milestone)
    problems = list(_unplanned(state, plan, milestone, written.changes))
    if problems:
        raise Refused.of(problems)
    reported = {row.file for row in state.database.deviations_of(state.run)}
    found = check_written(state, plan, milestone.id, written, reported, again)
    conflicts = merge_tree(state, written.changes)
    if conflicts:
        text = "another milestone, or the user, changed it since this milestone was started"
        raise Refused.of(
            Problem("conflict", file, f"{file}: {text}", "change it back to what it was")
            for file in conflicts
        )
    return found


def _unplanned(
    state: State, plan: Plan, milestone: Milestone, changes: Sequence[FileChange]
) -> list[Problem]:
    """Return a problem for each changed file that the milestone neither plans nor has reported."""
    owners = {file: m.id for m in plan.milestones for file in files_of(m)}
    owners |= dict.fromkeys(files_of(milestone), milestone.id)
    reported = {row.file for row in state.database.deviations_of(state.run)}
    reason = answer_word(f"deviation-{milestone.id}.md")
    back = f"change it back to the base (`tree restore --milestone {milestone.id}`)"
    problems = []
    for file in sorted({p for c in changes for p in (c.file, c.old_file) if p}):
        owner = owners.get(file)
        if owner == milestone.id or (owner is None and file in reported):
            continue
        text = f"{file} was changed, and {milestone.id} does not plan it"
        if owner is not None:
            text = f"{file} was changed, and it belongs to {owner}, not to {milestone.id}"
            problems.append(Problem("refused", file, text, back))
            continue
        words = ("exec", "deviate", milestone.id, "--file", file, "--reason-file", reason)
        report = state.command(*words, role="developer")
        where = answer_path(state.state_dir, os.path.basename(reason))
        allowed = f"{back}; or write to {where} why it has to change, and report it"
        problems.append(Problem("refused", file, text, allowed, report))
    return problems


def _store(state: State, name: str, result: Result, who: str) -> None:
    with state.database as database:
        execution = Execution(state)
        row = execution.progress[name]
        database.event(state.run, "SubAgentResult", result.payload(row))
        database.audit(state.run, who, "hand in", detail=f"{name}: {result.error or result.output}")
        execution.spend(name, result.stats)
        if result.error:
            execution.block(name, result.error)
        else:
            execution.succeed(name)


def ask(state: State, attempt: Attempt, path: str) -> list[str]:
    """Let a milestone wait for answers of the user to its agent's questions (PL-9)."""
    found = read_answer(state.state_dir, path)
    questions = read_questions(found.json(), found.path)
    with state.lock("exec ask"):
        state.reload()
        _check_writing(state, "exec ask")
        plan = store.load_plan(state.plan_path)
        _milestone(plan, attempt.milestone)
        if late := _late(state, attempt):
            raise late
        store.save_plan(state.plan_path, _with_questions(plan, questions, View(state), attempt))
        with state.database:
            return Execution(state).ask(attempt.milestone, questions)


def _with_questions(
    plan: Plan, questions: Sequence[dict[str, Any]], view: View, attempt: Attempt
) -> Plan:
    """Return the plan with an agent's questions, so that they are frozen with it (SD-1)."""
    known = view.asked_by(attempt.milestone)
    edits = [
        {"op": "add", "kind": "checkpoint", "fields": question}
        for question in questions
        if question.get("question") not in known
    ]
    counters = {**plan.counters, "CP": view.last_checkpoint()}
    return apply_edits(plan.model_copy(update={"counters": counters}), edits, None)[0]


def _check_writing(state: State, command: str) -> None:
    if state.run.ending:
        text = f"the run is {state.run.ending}; what was written stays in its files"
        raise Refused("refused", command, text, "start a new run", "planner start")
    if command == "exec next":
        check_going(state)
    if not state.is_writing or (state.run.step > STEP and command != "exec next"):
        text = "no agent writes a milestone now"
        here = state.command("step", state.run.workflow)
        raise Refused("conflict", command, text, "do the step that is due", here)


def _milestone(plan: Plan, name: str) -> Milestone:
    found = {m.id: m for m in plan.milestones}
    if name not in found:
        raise Refused("not_found", name, "the plan has no such milestone", ", ".join(found))
    return found[name]


def _late(state: State, attempt: Attempt) -> Refused | None:
    """Return why an agent may not hand in any more: its milestone went on without it; else None."""
    row = Execution(state).progress[attempt.milestone]
    if (row.status, row.attempts) == (IN_PROGRESS, attempt.number):
        return None
    text = (
        f"attempt {attempt.number} of {row.id} is over: it is {row.status}, with {row.attempts} "
        "attempts so far; nothing was changed, and your files stay in its worktree"
    )
    end = "end here; the host goes on"
    return Refused("conflict", row.id, text, end, state.command("step", WORKFLOW.name))


def _refuse_deviations(state: State) -> None:
    """Raise Refused while a file that no milestone plans is not accepted by a person (PL-28)."""
    problems = [
        Problem("refused", row.file, f"{row.file} deviates from the plan: {row.reason}",
                "a person accepts it, which adds it to the plan to approve",
                state.command("exec", "accept", "--file", row.file))
        for row in state.database.deviations_of(state.run)
        if row.accepted is None
    ]  # fmt: skip
    if problems:
        raise Refused.of(problems)
