"""Pass or fail a review phase, or accept a finding that blocks it (PL-22 to PL-24)."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from developer.capture import capture_into
from orchestrator.open_questions import open_questions, refuse_while_asked
from orchestrator.path import going_back
from orchestrator.plan.check import code_subject, design_subject
from orchestrator.plan.finish import pass_documents, unasked_questions
from orchestrator.plan.outcome import Decision, Work, record_fail, record_pass
from quality_reviewer.checks.registry import CHECKS
from quality_reviewer.items import for_user
from shared import resources
from shared.drift import check_run
from shared.plan_file import check_frozen, open_plan
from shared.qr.kept_review import read_kept_review
from shared.qr.schema import Review, read_review, write_review
from shared.qr.types import (
    COULD,
    FAIL,
    REVIEWER,
    TODO,
    Item,
    LoopState,
    blocking,
    computed_verdict,
)
from shared.steps.entry_points import workflow_of
from state import store
from state.actors import HOST, UNPROVEN
from state.errors import Refused

if TYPE_CHECKING:
    from shared.qr.types import Verdict
    from shared.run import State
    from state.models import Plan
    from state.phases import Phase


def decide_gate(state: State, phase: Phase, verdict: str, reason: str) -> None:
    """Pass or fail a review phase (PL-22); after a fail only failing items go back to work.

    What the reviewers' own verdicts have decided can be overruled, with a reason, until the next
    work step ends (FC-1).
    """
    with state.lock(f"qr gate --phase {phase}"):
        plan = open_plan(state)
        state.reload()
        check_run(state)
        refuse_while_asked(state, plan)
        if verdict == "fail" and reason.strip():
            plan = _reopened(state, phase, plan)
        path = resources.review_path(state.state_dir, phase)
        _check_open(state, phase, overruled=verdict == "pass" and bool(reason.strip()))
        iteration = state.database.phase(state.run, phase)[1]
        decision = Decision(read_review(path).items, iteration, HOST, reason)
        if verdict == "pass":
            _refuse_unasked(state, phase, plan)
        _check_verdict(state, decision, phase, verdict)
        _decide(state, phase, plan, verdict, decision)


def has_passed(state: State, phase: Phase) -> bool:
    """Return whether a review phase has passed, so that the same word for it changes nothing."""
    if state.run.digest is not None:
        check_frozen(state)
    return state.database.phase(state.run, phase)[0] == LoopState.COMPLETE


def take_gate(state: State, phase: Phase, who: str) -> None:
    """Decide a review phase as its reviewers did, once the last of them has answered (FC-1).

    The phase passes where all say pass and fails where one says fail. The gate stays open for the
    host where one said nothing, or contradicts the figures without a reason, and where the user
    has to be asked: a question is open, or an answer blocks for the third round (PL-25).
    """
    with state.lock(f"qr set --phase {phase}"):
        state.reload()
        path, gate = resources.review_path(state.state_dir, phase), _gate_of(phase)
        at_gate = (state.run.workflow, state.run.step) == (workflow_of(phase).name, gate)
        if not at_gate or not os.path.exists(path):
            return
        plan = open_plan(state)
        check_run(state)
        review = read_review(path)
        verdict = _reviewers_verdict(review)
        if verdict is None or (verdict == "pass" and unasked_questions(state, phase, plan)):
            return
        stuck = verdict == "fail" and for_user(review.items, review.iteration)
        if stuck or open_questions(state, plan):
            return
        reasons = (s.reason for s in review.verdicts.values() if s.verdict == verdict)
        reason = " ".join(filter(None, reasons))
        by = HOST if who == HOST else "reviewer"
        _decide(state, phase, plan, verdict, Decision(review.items, review.iteration, by, reason))


def _reviewers_verdict(review: Review) -> Verdict | None:
    """Return what the reviewers' verdicts come to; None if that is for the host to decide."""
    said = review.verdicts
    if not said or any(i.status == TODO for i in review.items):
        return None
    for group, own in said.items():
        items = [i for i in review.items if i.by == REVIEWER and (i.group or "1") == group]
        figures = computed_verdict(items, review.iteration)
        if own.verdict is None or (own.verdict != figures and not own.reason):
            return None
    verdict: Verdict = "fail" if any(s.verdict == "fail" for s in said.values()) else "pass"
    reasoned = any(s.reason for s in said.values() if s.verdict == verdict)
    agrees = verdict == computed_verdict(review.items, review.iteration)
    return verdict if agrees or reasoned else None


def _gate_of(phase: Phase) -> int:
    return workflow_of(phase).number(phase, "gate")


def _decide(state: State, phase: Phase, plan: Plan, verdict: str, decision: Decision) -> None:
    if verdict == "pass":
        work = _as_checked(state, phase, plan)
        stored = record_pass(state, phase, work, decision)
        pass_documents(state, phase, work._replace(plan=stored))
    else:
        record_fail(state, phase, decision)


def _reopened(state: State, phase: Phase, plan: Plan) -> Plan:
    """Open the gate again that has just passed by reviewers' verdicts; return the plan."""
    outcomes, workflow = state.database.outcomes(state.run, phase), workflow_of(phase)
    items = [Item(**row) for row in outcomes[-1]["items"]] if outcomes else []
    passed = has_passed(state, phase) and any(i.by == REVIEWER for i in items)
    gate, last = workflow.number(phase, "gate"), workflow.last(state.run.depth)
    later = [o for o in plan.reviews if o.phase != phase and _gate_of(o.phase) > gate]
    at_end = state.run.step == last and all(o.by == "script" for o in later)
    here = state.run.workflow == workflow.name and (state.run.step == gate + 1 or at_end)
    if not (passed and here):
        return plan
    iteration = outcomes[-1]["iteration"]
    write_review(resources.review_path(state.state_dir, phase), Review(phase, iteration, items))
    kept = tuple(o for o in plan.reviews if o.phase != phase)
    plan = plan.model_copy(update={"reviews": kept})
    store.save_plan(state.plan_path, plan)
    with state.database as database:
        again = LoopState.of(iteration, passed=False)
        database.set_phase(state.run, phase, again, iteration)
        with going_back(state, f"{phase} is decided again"):
            state.go_to(workflow.name, gate)
    return plan


def _check_open(state: State, phase: Phase, *, overruled: bool) -> None:
    """Raise Refused if the gate of a phase is not due; a failed one may still be `overruled`."""
    workflow, step = workflow_of(phase), state.run.step
    here = state.command("step", state.run.workflow)
    asking, gate = step == workflow.number(phase, "qr"), _gate_of(phase)
    failed = overruled and step == workflow.steps[gate].on_fail
    due = state.run.workflow == workflow.name and (asking or failed or step == gate)
    review = read_kept_review(state, phase)
    if review is None or not due:
        text = f"{phase} cannot be decided now: the run is at step {step}"
        raise Refused("conflict", "--phase", text, "do the step that is due", here)
    todo = [i.id for i in review.items if i.status == TODO]
    if asking and todo:
        text = f"reviewers have not answered the questions {', '.join(todo)}"
        raise Refused("refused", "--verdict", text, "wait until the reviewers have answered", here)


def _refuse_unasked(state: State, phase: Phase, plan: Plan) -> None:
    if unasked := unasked_questions(state, phase, plan):
        text = f"no reviewer was asked the questions {', '.join(unasked)}"
        again = state.command("plan", "done", "--phase", phase)
        raise Refused(
            "refused",
            "--verdict",
            text,
            "run `plan done` again, so that reviewers are asked",
            again,
        )


def _as_checked(state: State, phase: Phase, plan: Plan) -> Work:
    """Return the plan that a phase has checked; raise Refused if its worktree has changed since."""
    if phase == "plan-design":
        return Work(plan, plan, design_subject(state, plan))
    captured = capture_into(state, plan)
    if captured.plan != plan:
        text = "the files in this folder changed after they were checked"
        again = state.command("plan", "done", "--phase", phase)
        raise Refused("conflict", state.worktree, text, "check the files again", again)
    return Work(plan, plan, code_subject(state, captured))


def _check_verdict(state: State, decision: Decision, phase: Phase, verdict: str) -> None:
    todo = [i.id for i in decision.items if i.status == TODO]
    if todo and verdict == "pass":
        text = f"these questions have no answer yet: {', '.join(todo)}"
        raise Refused("refused", "--verdict", text, "fail")
    computed = computed_verdict(decision.items, decision.iteration)
    if verdict != computed and not decision.reason.strip():
        blocked_by = [i.id for i in blocking(decision.items, decision.iteration)]
        file = resources.answer_word("reason.md")
        again = state.command(
            "qr", "gate", "--phase", phase, "--verdict", verdict, "--reason-file", file
        )
        why = f"blocking: {', '.join(blocked_by)}" if blocked_by else "nothing blocks"
        text = f"the computed verdict is {computed} ({why}); give a reason to {verdict} anyway"
        raise Refused("refused", "--verdict", text, f"{computed}, or a reason in {file}", again)


def decline_finding(state: State, phase: Phase, name: str, reason: str) -> None:
    """Record why the author of a phase leaves a COULD as it is, so that it no longer blocks.

    Only while the phase is fixed. The reason is read by reviewers and by who approves.
    """
    with state.lock(f"qr decline --phase {phase}"):
        open_plan(state)
        state.reload()
        path, workflow = resources.review_path(state.state_dir, phase), workflow_of(phase)
        back = workflow.steps[_gate_of(phase)].on_fail
        if (state.run.workflow, state.run.step) != (workflow.name, back):
            text = f"{phase} is not being fixed: the run is at step {state.run.step}"
            here = state.command("step", state.run.workflow)
            raise Refused("conflict", "--phase", text, "do the step that is due", here)
        review = read_review(path) if os.path.exists(path) else Review(phase)
        failing = [i for i in review.items if i.status == FAIL]
        could = [i.id for i in failing if i.severity == COULD]
        if name not in could:
            other = next((i.severity for i in failing if i.id == name), None)
            text = f"a {other} is fixed, not declined" if other else "this is no failing item"
            known = ", ".join(could) or "no COULD fails"
            raise Refused("refused" if other else "not_found", name, text, known)
        review.items = [i._replace(declined=reason) if i.id == name else i for i in review.items]
        write_review(path, review)
        with state.database as database:
            database.audit(state.run, HOST, "qr decline", detail=f"{phase} {name}: {reason}")


def accept_finding(state: State, phase: Phase, check: str, scope: str, reason: str) -> None:
    """Record that a person accepts a review finding for a reason, so that it no longer blocks.

    `check` is the name of a script check or the id of an item of the open review.
    """
    with state.lock(f"qr accept --phase {phase}"):
        open_plan(state)
        path = resources.review_path(state.state_dir, phase)
        review = read_review(path) if os.path.exists(path) else Review(phase)
        item = next((i for i in review.items if i.id == check and i.status == "FAIL"), None)
        names = [c.id for c in CHECKS if c.phase == phase and c.acceptable]
        if item is not None:
            check, scope = item.check, item.scope
        elif check not in names:
            failing = [i.id for i in review.items if i.status == "FAIL"]
            text = (
                "this is neither a failing item nor a check with findings that a person may accept"
            )
            raise Refused("not_found", check, text, ", ".join([*failing, *names]))
        with state.database as database:
            database.accept(state.run, phase, check, scope, reason)
            database.audit(state.run, UNPROVEN, "qr accept", detail=f"{check} {scope}: {reason}")
        if review.items:
            items = [
                i._replace(accepted=reason) if (i.check, i.scope) == (check, scope) else i
                for i in review.items
            ]
            write_review(path, Review(phase, review.iteration, items))
