"""Store whether a review phase passed, in the plan, database and audit log (PL-21, PM-9)."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from developer.verification import prepare_worktree
from orchestrator.path import going_back
from quality_reviewer.answers import judged_by, mode_for, not_asked
from quality_reviewer.items import count_round
from shared import resources
from shared.qr.schema import Review, read_review, write_review
from shared.qr.types import TODO, LoopState, blocking, computed_verdict, rows_of
from shared.steps.entry_points import workflow_of
from state import store
from state.results import OpenItem, Outcome

if TYPE_CHECKING:
    from collections.abc import Sequence

    from developer.verify.job import Done
    from orchestrator.plan.context import Context
    from quality_reviewer.checks.subject import Subject
    from shared.qr.types import Item
    from shared.run import State
    from state.models import Plan
    from state.phases import Phase


class Work(NamedTuple):
    """The plan before and after a work step, with the input and results of its checks."""

    before: Plan
    plan: Plan
    subject: Subject
    verified: Done | None = None
    again: str = ""
    # The user's task, where it was written down together with the design.
    context: Context | None = None


class Decision(NamedTuple):
    """How a review phase is decided: on which items, in which round, by whom, for what reason."""

    items: list[Item]
    iteration: int
    by: str = "script"
    reason: str = ""


def record_pass(state: State, phase: Phase, work: Work, decision: Decision) -> Plan:
    """Store in plan and database that a phase passed, and go to the next; return the plan."""
    plan = _with_outcome(state, phase, work, decision)
    store.save_plan(state.plan_path, plan)
    workflow = workflow_of(phase)
    steps = [(n, step.name) for n, step in workflow.steps.items() if step.phase == phase]
    gate, _ = steps[-1]
    with state.database as database:
        _store(state, phase, "pass", decision, decision.items)
        database.set_phase(state.run, phase, LoopState.COMPLETE, decision.iteration)
        database.drop_late(state.run, phase)
        database.add_steps(state.run, workflow.name, steps, decision.by)
        state.go_to(workflow.name, min(gate + 1, workflow.last(state.run.depth)))
    path = resources.review_path(state.state_dir, phase)
    if os.path.exists(path):
        os.unlink(path)
    if phase == "plan-design":
        prepare_worktree(state, plan)
    return plan


def record_fail(state: State, phase: Phase, decision: Decision) -> None:
    """Store that a review phase failed and go back to its work step with the items that block."""
    loop, iteration = state.database.phase(state.run, phase)
    path = resources.review_path(state.state_dir, phase)
    # Already counted if this was killed between writing the file and the database.
    if read_review(path).iteration == iteration:
        counted = count_round(decision.items, iteration)
        write_review(path, Review(phase, iteration + 1, counted))
    failing = [i for i in decision.items if i.status == "FAIL"]
    sent_back = blocking(failing, iteration) or failing
    workflow = workflow_of(phase)
    back = workflow.steps[workflow.number(phase, "gate")].on_fail
    with state.database as database:
        _store(state, phase, "fail", decision, sent_back)
        database.set_phase(state.run, phase, LoopState(loop).after("fail"), iteration + 1)
        with going_back(state, f"{phase} failed"):
            state.go_to(workflow.name, back or 1)


def _store(
    state: State, phase: Phase, verdict: str, decision: Decision, items: Sequence[Item]
) -> None:
    """Store a phase's verdict; one against the computed one also goes into the audit (PM-9)."""
    computed = computed_verdict(decision.items, decision.iteration)
    outcome = {
        "verdict": verdict,
        "computed": computed,
        "decided_by": decision.by,
        "reason": decision.reason,
        "items": rows_of(items),
    }
    state.database.add_outcome(state.run, phase, decision.iteration, outcome)
    if verdict != computed:
        detail = f"{phase} {verdict}, by the figures {computed}: {decision.reason}"
        state.database.audit(state.run, decision.by, "override", detail=detail)


def _with_outcome(state: State, phase: Phase, work: Work, decision: Decision) -> Plan:
    left = tuple(
        OpenItem(id=i.id, check=i.check, severity=i.severity, accepted=i.accepted or "",
                 finding=f"{i.finding or ''}{f' – declined: {i.declined}' if i.declined else ''}")
        for i in decision.items
        if i.status == "FAIL"
    )  # fmt: skip
    answers = [
        {"check": i.check, "scope": i.scope, "severity": i.severity, "status": i.status,
         "by": i.answered_by, "evidence": i.evidence or "", "note": i.note}
        for i in decision.items
        if i.answered_by and i.status != TODO
    ]  # fmt: skip
    values = {
        "phase": phase,
        "iteration": decision.iteration,
        "by": decision.by,
        "reason": decision.reason,
        "review": mode_for(state, work.plan),
        "judged": judged_by(decision.items),
        "answers": answers,
        "unasked": not_asked(state, phase, work.plan, decision.items),
        "open": left,
        "tree": work.subject.tree,
    }
    others = tuple(o for o in work.plan.reviews if o.phase != phase)
    return work.plan.model_copy(update={"reviews": (*others, Outcome.model_validate(values))})
