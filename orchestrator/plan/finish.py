"""End a work step of planning: apply edits, capture changes, verify, run checks (PL-20)."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from developer.candidates.detect import adopt, choose, pass_over, refuse_unable
from developer.capture import capture_into
from developer.verification import verify_plan, with_results
from developer.verify.background import WAIT_S, wait_until_idle
from developer.verify.job import Running
from orchestrator.open_questions import open_questions, refuse_while_asked
from orchestrator.plan.check import (
    code_subject,
    design_subject,
    items_by_script,
    phases_of,
    refuse_failing_musts,
    verify_commands,
)
from orchestrator.plan.context import STEP as CONTEXT_STEP
from orchestrator.plan.context import new_context, store_context, with_context
from orchestrator.plan.late_words import refuse_unsettled
from orchestrator.plan.outcome import Decision, Work, record_pass
from quality_reviewer.answers import due_again, with_questions
from quality_reviewer.checks.promises import documents_are_written
from quality_reviewer.items import carry_over
from quality_reviewer.scale import review_of
from shared import resources
from shared.drift import check_run
from shared.execution.progress import View
from shared.named_files import read_answer
from shared.plan_file import after_edits, check_frozen, check_not_ended, open_plan, read_batch
from shared.qr.schema import Review, read_review, write_review
from shared.qr.types import SCRIPT, TODO, LoopState, Said, blocking, computed_verdict
from shared.steps.brief import item_line
from shared.steps.entry_points import workflow_of
from shared.tree_runs import mark_captured
from state import store
from state.errors import Refused
from state.execution import COMPLETED
from state.phases import CODE_PHASES, DOCS_PHASES
from state.stages import ACTIVE, READ_ONLY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from developer.verify.job import Done
    from orchestrator.plan.context import Context
    from shared.run import State
    from state.models import Plan
    from state.phases import Phase


# The numbers of candidates, and the file of own commands, by which the change is to be verified.
Choice = tuple["Sequence[int]", str | None]


# How often what is edited while it is verified is captured and verified anew.
TRIES = 2


class Finished(NamedTuple):
    """The result of `plan done`."""

    # Continues a verify that still runs.
    again: str
    # Verify, if it still runs.
    running: Running | None = None
    # True for an agent that was started for the phase: only the host goes on.
    handed_in: bool = False
    # Lines of what the checks found and did not refuse.
    found: Sequence[str] = ()
    # Lines of what blocks the review that follows, whatever its reviewers answer.
    blocks: Sequence[str] = ()
    # The ids of questions that the edits ask; the work step then goes on with their answers.
    asked: Sequence[str] = ()


def finish_phase(
    state: State, phase: Phase, batch: str | None, role: str | None, choice: Choice = ((), None)
) -> Finished:
    """End a work step: edits, capture, verify, checks; then pass the phase or open its review.

    `choice` says what verifies the change; without one, the first candidate or what has run.
    Any failing MUST is Refused, all of them at once, with nothing stored, and so is a phase whose
    user has a question to answer; edits that ask one are stored. Other blocking findings open the
    gate for a decision; without any the gate is passed by script.
    """
    words = ("plan", "done", "--phase", phase, *(("--batch", batch) if batch else ()))
    # What is chosen is remembered.
    again = state.command(*words, role=role)
    stored = store.load_plan(state.plan_path)
    agents = review_of(state, stored)[0] == "full" and not state.run.alone
    by_agent = role is not None and agents
    if _is_repeated(state, phase, batch, stored):
        return Finished(again, handed_in=by_agent)
    check_not_ended(state)
    _check_due(state, phase, batch)
    check_run(state)
    refuse_while_asked(state, stored, by_agent=by_agent)
    if phase != "plan-design" and (running := wait_until_idle(state.state_dir, WAIT_S)):
        return Finished(again, running)
    for _ in range(TRIES):
        found = _done_work(state, phase, batch, role, choice, again)
        if isinstance(found, list):
            return Finished(again, handed_in=by_agent, asked=found)
        work = found
        if phase == "plan-design":
            break
        done = _verified(state, phase, work, state.command(*words, "--use", "1", role=role))
        if isinstance(done, Running):
            return Finished(again, done)
        work = _with_results(state, work, done)
        if not done.results or done.tree == work.subject.tree:
            break  # else the worktree was edited meanwhile
    with state.lock(f"plan done --phase {phase}"):
        if open_plan(state) != work.before:
            text = "another command changed the plan while this one ran"
            raise Refused("conflict", "plan.json", text, "", again)
        state.reload()
        # What was said while this one ran.
        _check_due(state, phase, batch)
        refuse_unsettled(state, phase, work.plan, state.command("step", state.run.workflow))
        mark_captured(state.state_dir, work.subject.tree or "")
        ended_before = state.run.step > workflow_of(phase).number(phase, "execute")
        plan = work.before
        if not ended_before or work.plan != plan or _asks_more(state, phase, work.plan):
            plan = _pass_or_gate(state, phase, work)
        pass_documents(state, phase, work._replace(plan=plan))
    told = [f"verify: {line}" for line in work.verified.unable] if work.verified else []
    return Finished(again, handed_in=by_agent, found=told, blocks=_blocking(state, phase))


def _blocking(state: State, phase: Phase) -> list[str]:
    """Return what the program has found and what blocks the open review of a phase (SD-6)."""
    path = resources.review_path(state.state_dir, phase)
    review = read_review(path) if os.path.exists(path) else Review(phase)
    items = blocking(review.items, review.iteration)
    return [item_line(i._asdict()) for i in items if i.by == SCRIPT]


def _is_repeated(state: State, phase: Phase, batch: str | None, plan: Plan) -> bool:
    """Return whether the plan was frozen with just this work, so that its answer was lost.

    Edits that were written since, or another worktree, are for a new revision.
    """
    if state.run.digest is not None:
        check_frozen(state)
    passed = state.database.phase(state.run, phase)[0] == LoopState.COMPLETE
    planning = state.run.stage in READ_ONLY and state.run.status == ACTIVE
    if not (passed and planning and plan.frozen_at):
        return False
    written_at = os.stat(state.plan_path).st_mtime_ns
    if batch and read_answer(state.state_dir, batch).changed_at > written_at:
        return False
    return phase == "plan-design" or capture_into(state, plan).plan == plan


def _done_work(
    state: State, phase: Phase, batch: str | None, role: str | None, choice: Choice, again: str
) -> Work | list[str]:
    """Return what the work step has made; or the ids of what its edits ask, which are stored."""
    with state.lock(f"plan done --phase {phase}"):
        work = _work(state, phase, batch, role, choice)._replace(again=again)
        here = state.command("step", state.run.workflow)
        if not batch and not work.before.milestones:
            # Nothing is designed yet: the step says how, and with which command.
            work = work._replace(again=here)
        if asked := open_questions(state, work.plan):
            _store_unended(state, work)
            return [one.id for one in asked]
        refuse_unsettled(state, phase, work.plan, here)
    return work


def _with_results(state: State, work: Work, done: Done) -> Work:
    subject = replace(work.subject, verify_commands=verify_commands(state))
    return work._replace(plan=with_results(work.plan, done), subject=subject, verified=done)


def _work(state: State, phase: Phase, batch: str | None, role: str | None, choice: Choice) -> Work:
    plan = before = open_plan(state)
    state.reload()
    _check_due(state, phase, batch)
    context = None
    if batch is not None:
        edits, operation = read_batch(read_answer(state.state_dir, batch))
        whole = len(edits)
        if phase == "plan-design":
            context = _context_of(state, edits)
        if context is not None:
            plan = with_context(state, plan, context)
        answered = state.database.answers(state.run)
        plan, _ = after_edits(plan, edits, role, operation, whole - len(edits), answered)
    if any(choice):  # what is refused changes nothing
        choose(state, *choice)
    if phase == "plan-design":
        return Work(before, plan, design_subject(state, plan), context=context)
    captured = capture_into(state, plan)
    adopt(state, captured.tree)
    return Work(before, captured.plan, code_subject(state, captured))


def _store_unended(state: State, work: Work) -> None:
    """Store what a work step's edits say, which ask the user something; the step stays due."""
    store.save_plan(state.plan_path, work.plan)
    if work.context is not None:
        store_context(state, work.context)
    if state.run.step <= CONTEXT_STEP:
        with state.database:
            state.go_to("planner", CONTEXT_STEP + 1)


def _verified(state: State, phase: Phase, work: Work, unverified: str) -> Done | Running:
    """Run what verifies the change; where a candidate that nobody chose cannot run, the next.

    Refused where none can run: the command `unverified` hands such code in all the same.
    """
    while True:
        done = verify_plan(state, work.plan)
        if isinstance(done, Running):
            return done
        with state.lock("plan done"):
            if pass_over(state, done):
                continue
        if phase in CODE_PHASES:
            refuse_unable(state, done, unverified)
        return done


def _context_of(state: State, edits: list[object]) -> Context | None:
    """Take the user's context off the front of a design's edits, and return it if it is new."""
    first = edits[0] if edits else None
    if isinstance(first, dict) and first.get("op") == "context":
        del edits[0]
        return new_context(state, {k: v for k, v in first.items() if k != "op"})
    if state.run.step <= CONTEXT_STEP:
        example = '{"op": "context", "task_spec": ["…"]}'
        text = "the context is missing, which comes before the edits of the design"
        raise Refused("invalid", "[0]", text, f"begin the list with {example}")
    return None


def _check_due(state: State, phase: Phase, batch: str | None) -> None:
    workflow, run = workflow_of(phase), state.run
    elsewhere = run.workflow != workflow.name and (run.workflow == "planner" or state.is_writing)
    first = CONTEXT_STEP if phase == "plan-design" and batch else workflow.number(phase, "execute")
    early = run.workflow == workflow.name and run.step < first
    if elsewhere or early or (phase == "impl-code" and not _is_handed_in(state)):
        here = state.command("step", run.workflow)
        text = f"{phase} is not due: the run is at step {state.run.step}"
        raise Refused("conflict", "--phase", text, "do the step that is due", here)


def _is_handed_in(state: State) -> bool:
    """Return whether no agent has still to hand in a milestone of approved intents."""
    if not state.is_writing:
        return True
    view = View(state)
    return len(view.with_status(COMPLETED)) == len(view.milestones)


def _pass_or_gate(state: State, phase: Phase, work: Work) -> Plan:
    """Pass the phase if no question is open and nothing blocks, else store its review."""
    path = resources.review_path(state.state_dir, phase)
    previous = read_review(path).items if os.path.exists(path) else []
    decided = items_by_script(state, phase, work.plan, work.subject)
    refuse_failing_musts(decided, phase, work.again, work.verified)
    if work.context is not None:
        store_context(state, work.context)
    if previous:
        decided = [
            kept._replace(accepted=now.accepted)
            for kept, now in zip(carry_over(previous, decided), decided, strict=True)
        ]
    asked = with_questions(state, phase, work.plan, [*previous, *decided])
    items = [*decided, *asked]
    iteration = state.database.phase(state.run, phase)[1]
    waits = any(i.status == TODO for i in asked) or (asked and previous)
    if not waits and computed_verdict(items, iteration) == "pass":
        by = "reviewer" if asked else "script"  # by answers that still stand (RV-5)
        return record_pass(state, phase, work, Decision(items, iteration, by))
    store.save_plan(state.plan_path, work.plan)
    groups = {i.group or "1" for i in items if i.status == TODO}
    write_review(path, Review(phase, iteration, items, dict.fromkeys(sorted(groups), Said())))
    following = "qr" if any(i.status == TODO for i in items) else "gate"
    with state.database as database:
        workflow = workflow_of(phase)
        number = workflow.number(phase, "execute")
        done = [(number, workflow.steps[number].name)]
        database.add_steps(state.run, workflow.name, done, "host")
        database.drop_late(state.run, phase)
        # A phase that had passed is open again once it is worked on again.
        database.set_phase(state.run, phase, LoopState.of(iteration, passed=False), iteration)
        state.go_to(workflow.name, workflow.number(phase, following))
    return work.plan


def pass_documents(state: State, phase: Phase, work: Work) -> None:
    """Pass the documentation phase if the documents came with the code, also after a crash.

    `work.plan` is the plan as it is stored.
    """
    if phase not in CODE_PHASES:
        return
    docs = DOCS_PHASES[CODE_PHASES.index(phase)]
    due = state.run.step == workflow_of(docs).number(docs, "execute")
    if due and documents_are_written(state, work.plan):
        _pass_or_gate(state, docs, work)


def _asks_more(state: State, phase: Phase, plan: Plan) -> bool:
    """Return whether a work step that has ended before leads to questions all the same.

    They are missing from its review, or their answers do not hold, so that no plan is frozen.
    """
    passed = state.database.phase(state.run, phase)[0] == LoopState.COMPLETE
    last = passed and phase == phases_of(state)[-1]
    return bool(unasked_questions(state, phase, plan) or (last and due_again(state, phase, plan)))


def unasked_questions(state: State, phase: Phase, plan: Plan) -> list[str]:
    """Return questions missing from an open review because its file was edited by hand."""
    path = resources.review_path(state.state_dir, phase)
    items = read_review(path).items if os.path.exists(path) else []
    known = {item.id for item in items}
    due = with_questions(state, phase, plan, items) if items else []
    return list(dict.fromkeys(i.check for i in due if i.id not in known))
