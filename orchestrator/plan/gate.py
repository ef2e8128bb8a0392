"""Pass or fail a review phase, or accept a finding that blocks it (PL-22 to PL-24)."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from developer.capture import capture_into
from orchestrator.plan.check import code_subject, design_subject
from orchestrator.plan.finish import pass_documents, unasked_questions
from orchestrator.plan.outcome import Decision, Work, record_fail, record_pass
from quality_reviewer.checks.registry import CHECKS
from shared import resources
from shared.drift import check_run
from shared.plan_file import open_plan
from shared.qr.schema import Review, read_review, write_review
from shared.qr.types import TODO, blocking, computed_verdict
from shared.steps.entry_points import workflow_of
from state.actors import UNPROVEN
from state.errors import Refused

if TYPE_CHECKING:
    from shared.run import State
    from state.models import Plan
    from state.phases import Phase


def decide_gate(state: State, phase: Phase, verdict: str, reason: str) -> None:
    """Pass or fail a review phase (PL-22); after a fail only failing items go back to work."""
    with state.lock(f"qr gate --phase {phase}"):
        plan = open_plan(state)
        state.reload()
        check_run(state)
        path = resources.review_path(state.state_dir, phase)
        _check_open(state, phase, path)
        iteration = state.database.phase(state.run, phase)[1]
        decision = Decision(read_review(path).items, iteration, "host", reason)
        if verdict == "pass":
            _refuse_unasked(state, phase, plan)
        _check_verdict(state, decision, phase, verdict)
        if verdict == "pass":
            work = _as_checked(state, phase, plan)
            stored = record_pass(state, phase, work, decision)
            pass_documents(state, phase, work._replace(plan=stored))
        else:
            record_fail(state, phase, decision)


def _check_open(state: State, phase: Phase, path: str) -> None:
    workflow, step = workflow_of(phase), state.run.step
    here = state.command("step", state.run.workflow)
    asking = step == workflow.number(phase, "qr")
    if not os.path.exists(path) or not (asking or step == workflow.number(phase, "gate")):
        text = f"{phase} cannot be decided now: the run is at step {step}"
        raise Refused("conflict", "--phase", text, "do the step that is due", here)
    todo = [i.id for i in read_review(path).items if i.status == TODO]
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
    return Work(plan, plan, code_subject(captured))


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
                i.changed(accepted=reason) if (i.check, i.scope) == (check, scope) else i
                for i in review.items
            ]
            write_review(path, Review(phase, review.iteration, items))
