"""A phase ends: capture, verify and script checks, then its gate (PL-20 to PL-24)."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from shared import capturing, plans, resources
from shared.checks.registry import run_checks
from shared.qr.schema import Review, read_review, write_review
from shared.qr.types import LoopState, computed_verdict, is_blocking
from shared.verify.job import Running
from shared.workflow import print_current
from state import store
from state.errors import Problem, Refused
from state.models import OpenItem, Outcome

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shared.git.capture import Capture
    from shared.qr.types import Item
    from shared.run import State
    from shared.workflow import Workflow
    from state.models import Plan


class _Work(NamedTuple):
    """What a work step has made, not stored yet."""

    before: Plan
    plan: Plan
    capture: Capture | None

    @property
    def tree(self) -> str | None:
        """Return the captured tree; after a gate that was open, the one that verify has seen."""
        if self.capture is not None:
            return self.capture.tree
        return self.plan.verify[0].tree if self.plan.verify else None


def finish_phase(
    state: State, workflow: Workflow, phase: str, batch: str | None, role: str | None
) -> str:
    """End a work step: edits, capture, verify, script checks; prints what follows.

    A failing MUST is Refused with all of them and nothing is stored; what else blocks leads to
    the gate; where nothing blocks the gate is passed by script.
    """
    words = ("plan", "done", "--phase", phase, *(("--batch", batch) if batch else ()))
    again = state.command(*words, role=role)
    if phase != "plan-design" and (running := capturing.still_running(state)):
        return capturing.running_block(state, running, again)
    with state.lock(f"plan done --phase {phase}"):
        work = _work(state, workflow, phase, batch, role)
    plan = work.plan
    if work.capture is not None:
        verified = capturing.verify_plan(state, plan)
        if isinstance(verified, Running):
            return capturing.running_block(state, verified, again)
        plan = verified
    with state.lock(f"plan done --phase {phase}"):
        if plans.open_plan(state) != work.before:
            raise Refused("conflict", "plan.json", "it was changed meanwhile", "", again)
        state.reload()
        done = state.run.step > workflow.number(phase, "execute")
        if not done or plan != work.before:
            _pass_or_gate(state, workflow, phase, work._replace(plan=plan), role or "host")
    return print_current(state)


def _work(
    state: State, workflow: Workflow, phase: str, batch: str | None, role: str | None
) -> _Work:
    plan = before = plans.open_plan(state)
    state.reload()
    if state.run.step < workflow.number(phase, "execute"):
        here = state.command("step", workflow.name)
        text = f"{phase} is not due: the run is at step {state.run.step}"
        raise Refused("conflict", "--phase", text, "the current step", here)
    if batch is not None:
        edits, operation = plans.read_batch(resources.find_answer(state.state_dir, batch))
        plan, _ = plans.edited(plan, edits, role, operation)
    if phase == "plan-design":
        return _Work(before, plan, None)
    captured = capturing.capture_into(state, plan)
    return _Work(before, captured.plan, captured.capture)


def _pass_or_gate(
    state: State, workflow: Workflow, phase: str, work: _Work, who: str
) -> None:
    items = run_checks(phase, capturing.subject(state, work.plan, work.capture))
    _refuse_failing_musts(state, items, phase)
    iteration = state.database.phase(state.run, phase)[1]
    if computed_verdict(items, iteration) == "pass":
        _record_pass(state, workflow, phase, work, items, "script", "")
        return
    store.save_plan(resources.plan_path(state.state_dir), work.plan)
    write_review(resources.review_path(state.state_dir, phase), Review(phase, iteration, items))
    number = workflow.number(phase, "execute")
    with state.database as database:
        database.add_step(state.run, workflow.name, number, workflow.steps[number].name, who)
        state.go_to(workflow.name, workflow.number(phase, "gate"))


def _refuse_failing_musts(state: State, items: Sequence[Item], phase: str) -> None:
    """Raise Refused with every failing MUST; a reviewer is never asked about those."""
    failing = [i for i in items if i.status == "FAIL" and i.severity == "MUST"]
    if failing:
        again = state.command("step", "planner")
        raise Refused.of(
            Problem("refused", f"{phase} {i.scope}", i.finding or i.check, i.check, again)
            for i in failing
        )


def _record_pass(
    state: State,
    workflow: Workflow,
    phase: str,
    work: _Work,
    items: Sequence[Item],
    by: str,
    reason: str,
) -> None:
    """Store a passed gate in the plan and the database; go on, past documents already written."""
    iteration = state.database.phase(state.run, phase)[1]
    plan = _with_outcome(work, phase, iteration, items, by, reason)
    store.save_plan(resources.plan_path(state.state_dir), plan)
    path = resources.review_path(state.state_dir, phase)
    verdict = computed_verdict(items, iteration)
    outcome = {
        "verdict": "pass", "computed": verdict, "decided_by": by, "reason": reason,
        "items": [i.to_json() for i in items],
    }  # fmt: skip
    gate = workflow.number(phase, "gate")
    last = gate == max(workflow.steps)
    with state.database as database:
        database.add_outcome(state.run, phase, iteration, outcome)
        database.set_phase(state.run, phase, LoopState.COMPLETE, iteration)
        for number in (workflow.number(phase, "execute"), workflow.number(phase, "qr"), gate):
            database.add_step(state.run, workflow.name, number, workflow.steps[number].name, by)
        state.go_to(workflow.name, gate if last else gate + 1)
    if os.path.exists(path):
        os.unlink(path)
    if phase == "plan-design":
        capturing.prepare_worktree(state)
    if phase == "plan-code" and not capturing.missing_documents(plan):
        _pass_or_gate(state, workflow, "plan-docs", work._replace(plan=plan), "script")


def _with_outcome(
    work: _Work, phase: str, iteration: int, items: Sequence[Item], by: str, reason: str
) -> Plan:
    left = tuple(
        OpenItem(id=i.id, check=i.check, severity=i.severity, finding=i.finding or "")
        for i in items
        if i.status == "FAIL"
    )
    outcome = Outcome.model_validate(
        {
            "phase": phase,
            "iteration": iteration,
            "by": by,
            "reason": reason,
            "open": left,
            "tree": work.tree,
        }
    )
    others = tuple(o for o in work.plan.reviews if o.phase != phase)
    return work.plan.model_copy(update={"reviews": (*others, outcome)})


def decide_gate(
    state: State, workflow: Workflow, phase: str, verdict: str, reason: str
) -> str:
    """Pass or fail a gate (PL-22); a failed one goes back with the failing items alone."""
    with state.lock(f"qr gate --phase {phase}"):
        plan = plans.open_plan(state)
        state.reload()
        gate = workflow.number(phase, "gate")
        path = resources.review_path(state.state_dir, phase)
        if state.run.step != gate or not os.path.exists(path):
            here = state.command("step", "planner")
            text = f"the gate of {phase} is not open: the run is at step {state.run.step}"
            raise Refused("conflict", "--phase", text, "the current step", here)
        items = read_review(path).items
        loop, iteration = state.database.phase(state.run, phase)
        _check_verdict(state, items, iteration, phase, verdict, reason)
        if verdict == "pass":
            _record_pass(state, workflow, phase, _Work(plan, plan, None), items, "host", reason)
        else:
            _record_fail(state, workflow, phase, items, LoopState(loop), reason)
    return print_current(state)


def _check_verdict(
    state: State, items: Sequence[Item], iteration: int, phase: str, verdict: str, reason: str
) -> None:
    computed = computed_verdict(items, iteration)
    if any(i.status == "TODO" for i in items) and verdict == "pass":
        todo = ", ".join(i.id for i in items if i.status == "TODO")
        raise Refused("refused", "--verdict", f"these items have no verdict yet: {todo}", "fail")
    if verdict != computed and not reason.strip():
        blocking = ", ".join(i.id for i in items if is_blocking(i, iteration)) or "nothing blocks"
        again = state.command(
            "qr", "gate", "--phase", phase, "--verdict", verdict, "--reason-file",
            resources.answer_word("reason.md"),
        )  # fmt: skip
        text = f"by the figures the verdict is {computed} ({blocking}); deciding {verdict} needs a reason"
        raise Refused("refused", "--verdict", text, f"{computed}, or a reason in that file", again)


def _record_fail(
    state: State,
    workflow: Workflow,
    phase: str,
    items: Sequence[Item],
    loop: LoopState,
    reason: str,
) -> None:
    iteration = state.database.phase(state.run, phase)[1]
    failing = [i.to_json() for i in items if is_blocking(i, iteration)] or [
        i.to_json() for i in items if i.status == "FAIL"
    ]
    outcome = {
        "verdict": "fail", "computed": computed_verdict(items, iteration), "decided_by": "host",
        "reason": reason, "items": failing,
    }  # fmt: skip
    back = workflow.steps[workflow.number(phase, "gate")].on_fail
    with state.database as database:
        database.add_outcome(state.run, phase, iteration, outcome)
        database.set_phase(state.run, phase, loop.after("fail"), iteration + 1)
        state.go_to(workflow.name, back or 1)


def accept_item(state: State, phase: str, item_id: str, reason: str) -> str:
    """Accept a failing item as it is, with a person's reason; it no longer blocks."""
    with state.lock(f"qr accept --phase {phase}"):
        plans.open_plan(state)
        path = resources.review_path(state.state_dir, phase)
        if not os.path.exists(path):
            text = f"no review of {phase} is open"
            raise Refused("not_found", "--phase", text, "", state.command("step", "planner"))
        review = read_review(path)
        item = next((i for i in review.items if i.id == item_id), None)
        if item is None or item.status != "FAIL":
            failing = ", ".join(i.id for i in review.items if i.status == "FAIL") or "none"
            raise Refused("not_found", item_id, "is no failing item of this review", failing)
        items = [i.changed(accepted=reason) if i.id == item_id else i for i in review.items]
        write_review(path, Review(phase, review.iteration, items))
        with state.database as database:
            database.audit(state.run, "person (unproven)", "qr accept", detail=f"{item_id}: {reason}")
    return print_current(state)
