"""A phase ends: capture, verify and script checks, then its gate (PL-20 to PL-24)."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from shared import capturing, fingerprints, plans, resources
from shared.agents import answered_alone
from shared.builders import Block
from shared.checks.registry import CHECKS, run_checks
from shared.qr.items import carry_over, count_round
from shared.qr.schema import Review, read_review, write_review
from shared.qr.types import TODO, LoopState, computed_verdict, is_blocking
from shared.reviewing import judged_by, mode_for, with_questions
from shared.run import PERSON
from shared.verify.job import Done, Running
from shared.workflow import print_current
from state import store
from state.errors import Problem, Refused
from state.models import OpenItem, Outcome

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shared.git.capture import Capture
    from shared.qr.types import Item, Phase
    from shared.run import State
    from shared.workflow import Workflow
    from state.models import Plan


class _Work(NamedTuple):
    """What a work step has made and what is known of it, not stored yet."""

    before: Plan
    plan: Plan
    capture: Capture | None = None
    verified: Done | None = None
    again: str = ""


class _Decision(NamedTuple):
    """How a gate is decided: on which items, by whom (script or host), why."""

    items: list[Item]
    by: str = "script"
    reason: str = ""


def finish_phase(
    state: State, workflow: Workflow, phase: Phase, batch: str | None, role: str | None
) -> str:
    """End a work step: edits, capture, verify, script checks; prints what follows.

    A failing MUST is Refused with all of them and nothing is stored; what else blocks leads to
    the gate; where nothing blocks the gate is passed by script.
    """
    words = ("plan", "done", "--phase", phase, *(("--batch", batch) if batch else ()))
    again = state.command(*words, role=role)
    _check_due(state, workflow, phase)
    fingerprints.check_run(state)
    by_agent = role is not None and state.review_of(state.plan)[0] == "full"
    if phase != "plan-design" and (running := capturing.still_running(state)):
        return capturing.running_block(state, running, again)
    with state.lock(f"plan done --phase {phase}"):
        work = _work(state, workflow, phase, batch, role)._replace(again=again)
    if work.capture is not None:
        done = capturing.verify_plan(state, work.plan)
        if isinstance(done, Running):
            return capturing.running_block(state, done, again)
        work = work._replace(plan=capturing.with_results(work.plan, done), verified=done)
    with state.lock(f"plan done --phase {phase}"):
        if plans.open_plan(state) != work.before:
            raise Refused("conflict", "plan.json", "it was changed meanwhile", "", again)
        state.reload()
        begun = state.run.step > workflow.number(phase, "execute")
        if not begun or work.plan != work.before or _unasked(state, phase, work.plan):
            _pass_or_gate(state, workflow, phase, work)
        _pass_documents(state, workflow, phase, work)
    return _handed_in(state) if by_agent else print_current(state)


def _handed_in(state: State) -> str:
    """Return what an agent is told that was started for the phase: only the host goes on."""
    text = "Handed in. An agent ends here, in one sentence; the host goes on."
    return Block("result").task(text).next("host", state.command("step", "planner")).render()


def _work(
    state: State, workflow: Workflow, phase: Phase, batch: str | None, role: str | None
) -> _Work:
    plan = before = plans.open_plan(state)
    state.reload()
    _check_due(state, workflow, phase)
    if batch is not None:
        edits, operation = plans.read_batch(resources.find_answer(state.state_dir, batch))
        plan, _ = plans.edited(plan, edits, role, operation)
    if phase == "plan-design":
        return _Work(before, plan)
    captured = capturing.capture_into(state, plan)
    return _Work(before, captured.plan, captured.capture)


def _check_due(state: State, workflow: Workflow, phase: Phase) -> None:
    if state.run.step < workflow.number(phase, "execute") and state.run.workflow == workflow.name:
        here = state.command("step", workflow.name)
        text = f"{phase} is not due: the run is at step {state.run.step}"
        raise Refused("conflict", "--phase", text, "the current step", here)


def _pass_or_gate(state: State, workflow: Workflow, phase: Phase, work: _Work) -> None:
    """Pass the gate by script, or store the review and open the gate."""
    path = resources.review_path(state.state_dir, phase)
    previous = read_review(path).items if os.path.exists(path) else []
    answered = _answered(state, phase, work.plan, work.capture)
    _refuse_failing_musts(answered, phase, work.again, work.verified)
    decided = [
        kept.changed(accepted=now.accepted)
        for kept, now in zip(carry_over(previous, answered), answered, strict=True)
    ]
    asked = with_questions(state, phase, work.plan, [*previous, *decided])
    items = [*decided, *asked]
    iteration = state.database.phase(state.run, phase)[1]
    if not asked and computed_verdict(items, iteration) == "pass":
        _record_pass(state, workflow, phase, work, _Decision(items))
        return
    store.save_plan(resources.plan_path(state.state_dir), work.plan)
    write_review(path, Review(phase, iteration, items))
    following = "qr" if any(i.status == TODO for i in items) else "gate"
    with state.database as database:
        number = workflow.number(phase, "execute")
        database.add_step(state.run, workflow.name, number, workflow.steps[number].name, "host")
        # A phase that had passed and is worked on again is open again.
        database.set_phase(state.run, phase, LoopState.of(iteration, passed=False), iteration)
        state.go_to(workflow.name, workflow.number(phase, following))


def _answered(state: State, phase: Phase, plan: Plan, capture: Capture | None) -> list[Item]:
    """Return the phase's items as the script checks and a person answer them now."""
    known = state.database.accepted(state.run, phase)
    found = run_checks(phase, capturing.subject(state, plan, capture))
    return [i.changed(accepted=known.get((i.check, i.scope))) for i in found]


def check_all(state: State, workflow: Workflow, plan: Plan, capture: Capture | None) -> None:
    """Refuse a plan in which any phase fails a MUST by now: edits may have come after its gate."""
    for phase in workflow.phases(state.run.depth):
        again = state.command("step", workflow.name)
        _refuse_failing_musts(_answered(state, phase, plan, capture), phase, again)


def _refuse_failing_musts(
    items: Sequence[Item], phase: Phase, again: str, verified: Done | None = None
) -> None:
    """Raise Refused with every failing MUST; a reviewer is never asked about those."""
    failing = [
        i for i in items if i.status == "FAIL" and i.severity == "MUST" and i.accepted is None
    ]
    if failing:
        problems = [
            Problem("refused", f"{phase} {i.check} {i.scope}", i.finding or "", "", again)
            for i in failing
        ]
        ran = verified.failures if verified else ()
        problems[-1].output = "\n".join(f"$ {r.command}\n{r.tail}" for r in ran)
        raise Refused.of(problems)


def _record_pass(
    state: State, workflow: Workflow, phase: Phase, work: _Work, decision: _Decision
) -> None:
    """Store a passed gate in the plan and the database; go on."""
    iteration = state.database.phase(state.run, phase)[1]
    plan = _with_outcome(state, work, phase, iteration, decision)
    store.save_plan(resources.plan_path(state.state_dir), plan)
    gate = workflow.number(phase, "gate")
    with state.database as database:
        _keep(state, phase, iteration, _outcome("pass", iteration, decision))
        database.set_phase(state.run, phase, LoopState.COMPLETE, iteration)
        for number in (workflow.number(phase, "execute"), workflow.number(phase, "qr"), gate):
            name = workflow.steps[number].name
            database.add_step(state.run, workflow.name, number, name, decision.by)
        state.go_to(workflow.name, min(gate + 1, workflow.last(state.run.depth)))
    path = resources.review_path(state.state_dir, phase)
    if os.path.exists(path):
        os.unlink(path)
    if phase == "plan-design":
        capturing.prepare_worktree(state)


def _pass_documents(state: State, workflow: Workflow, phase: Phase, work: _Work) -> None:
    """Pass plan-docs where the code came with its documents; also when a kill came in between."""
    if phase != "plan-code" or state.run.step != workflow.number("plan-docs", "execute"):
        return
    plan = store.load_plan(resources.plan_path(state.state_dir))
    if not capturing.missing_documents(plan):
        _pass_or_gate(state, workflow, "plan-docs", work._replace(plan=plan))


def _keep(state: State, phase: Phase, iteration: int, outcome: dict[str, object]) -> None:
    """Store a gate's decision; the audit has one that goes against the figures (PM-9)."""
    state.database.add_outcome(state.run, phase, iteration, outcome)
    verdict, computed = outcome["verdict"], outcome["computed"]
    if verdict != computed:
        detail = f"{phase} {verdict}, by the figures {computed}: {outcome['reason']}"
        state.database.audit(state.run, str(outcome["decided_by"]), "override", detail=detail)


def _outcome(verdict: str, iteration: int, decision: _Decision) -> dict[str, object]:
    return {
        "verdict": verdict,
        "computed": computed_verdict(decision.items, iteration),
        "decided_by": decision.by,
        "reason": decision.reason,
        "items": [i.to_json() for i in decision.items],
    }


def _with_outcome(
    state: State, work: _Work, phase: Phase, iteration: int, decision: _Decision
) -> Plan:
    left = tuple(
        OpenItem(id=i.id, check=i.check, severity=i.severity, finding=i.finding or "")
        for i in decision.items
        if i.status == "FAIL"
    )
    values = {
        "phase": phase,
        "iteration": iteration,
        "by": decision.by,
        "reason": decision.reason,
        "review": mode_for(state, work.plan),
        "judged": judged_by(decision.items),
        "alone": answered_alone(state, phase),
        "open": left,
        "tree": work.capture.tree if work.capture else None,
    }
    others = tuple(o for o in work.plan.reviews if o.phase != phase)
    return work.plan.model_copy(update={"reviews": (*others, Outcome.model_validate(values))})


def decide_gate(state: State, workflow: Workflow, phase: Phase, verdict: str, reason: str) -> str:
    """Pass or fail a gate (PL-22); a failed one goes back with the failing items alone."""
    with state.lock(f"qr gate --phase {phase}"):
        plan = plans.open_plan(state)
        state.reload()
        fingerprints.check_run(state)
        path = resources.review_path(state.state_dir, phase)
        _check_open(state, workflow, phase, path)
        decision = _Decision(read_review(path).items, "host", reason)
        if verdict == "pass":
            _refuse_unasked(state, phase, plan)
        _check_verdict(state, decision, phase, verdict)
        if verdict == "pass":
            work = _as_checked(state, phase, plan)
            _record_pass(state, workflow, phase, work, decision)
            _pass_documents(state, workflow, phase, work)
        else:
            _record_fail(state, workflow, phase, decision)
    return print_current(state)


def _check_open(state: State, workflow: Workflow, phase: Phase, path: str) -> None:
    here = state.command("step", "planner")
    asking = state.run.step == workflow.number(phase, "qr")
    if not os.path.exists(path) or not (asking or state.run.step == workflow.number(phase, "gate")):
        text = f"the gate of {phase} is not open: the run is at step {state.run.step}"
        raise Refused("conflict", "--phase", text, "the current step", here)
    todo = [i.id for i in read_review(path).items if i.status == TODO]
    if asking and todo:
        text = f"reviewers have not answered {', '.join(todo)}"
        raise Refused("refused", "--verdict", text, "after they have", here)


def _unasked(state: State, phase: Phase, plan: Plan) -> list[str]:
    """Return the questions that were due and that the open review lacks: it was edited by hand."""
    path = resources.review_path(state.state_dir, phase)
    items = read_review(path).items if os.path.exists(path) else []
    known = {item.id for item in items}
    due = with_questions(state, phase, plan, items) if items else []
    return list(dict.fromkeys(i.check for i in due if i.id not in known))


def _refuse_unasked(state: State, phase: Phase, plan: Plan) -> None:
    if unasked := _unasked(state, phase, plan):
        text = f"nobody was asked: {', '.join(unasked)}"
        again = state.command("plan", "done", "--phase", phase)
        raise Refused("refused", "--verdict", text, "after the work step is ended again", again)


def _as_checked(state: State, phase: Phase, plan: Plan) -> _Work:
    """Return the work that the open gate is about; Refused where the worktree is another now."""
    if phase == "plan-design":
        return _Work(plan, plan)
    captured = capturing.capture_into(state, plan)
    if captured.plan != plan:
        text = "the worktree changed after it was checked"
        again = state.command("plan", "done", "--phase", phase)
        raise Refused("conflict", state.worktree, text, "check it again", again)
    return _Work(plan, plan, captured.capture)


def _check_verdict(state: State, decision: _Decision, phase: Phase, verdict: str) -> None:
    iteration = state.database.phase(state.run, phase)[1]
    todo = [i.id for i in decision.items if i.status == TODO]
    if todo and verdict == "pass":
        text = f"these items have no verdict yet: {', '.join(todo)}"
        raise Refused("refused", "--verdict", text, "fail")
    computed = computed_verdict(decision.items, iteration)
    if verdict != computed and not decision.reason.strip():
        blocking = [i.id for i in decision.items if is_blocking(i, iteration)]
        file = resources.answer_word("reason.md")
        again = state.command(
            "qr", "gate", "--phase", phase, "--verdict", verdict, "--reason-file", file
        )
        figures = f"{computed} ({', '.join(blocking) or 'nothing blocks'})"
        text = f"by the figures the verdict is {figures}; deciding {verdict} needs a reason"
        raise Refused("refused", "--verdict", text, f"{computed}, or a reason in {file}", again)


def _record_fail(state: State, workflow: Workflow, phase: Phase, decision: _Decision) -> None:
    loop, iteration = state.database.phase(state.run, phase)
    path = resources.review_path(state.state_dir, phase)
    # Counted already where this was killed between the file and the database.
    if read_review(path).iteration == iteration:
        counted = count_round(decision.items, iteration)
        write_review(path, Review(phase, iteration + 1, counted))
    failing = [i for i in decision.items if i.status == "FAIL"]
    blocking = [i for i in failing if is_blocking(i, iteration)] or failing
    outcome = _outcome("fail", iteration, decision)
    outcome["items"] = [i.to_json() for i in blocking]
    back = workflow.steps[workflow.number(phase, "gate")].on_fail
    with state.database as database:
        _keep(state, phase, iteration, outcome)
        database.set_phase(state.run, phase, LoopState(loop).after("fail"), iteration + 1)
        state.go_to(workflow.name, back or 1)


def accept_finding(state: State, phase: Phase, check: str, scope: str, reason: str) -> str:
    """Let what a check finds at a scope stand, with a person's reason; it no longer blocks.

    `check` is the name of a script check or the id of an item of the open review.
    """
    with state.lock(f"qr accept --phase {phase}"):
        plans.open_plan(state)
        path = resources.review_path(state.state_dir, phase)
        review = read_review(path) if os.path.exists(path) else Review(phase)
        item = next((i for i in review.items if i.id == check and i.status == "FAIL"), None)
        names = [c.id for c in CHECKS if c.phase == phase and c.acceptable]
        if item is not None:
            check, scope = item.check, item.scope
        elif check not in names:
            failing = [i.id for i in review.items if i.status == "FAIL"]
            text = "is no failing item and no check whose finding a person may accept"
            raise Refused("not_found", check, text, ", ".join([*failing, *names]))
        with state.database as database:
            database.accept(state.run, phase, check, scope, reason)
            database.audit(state.run, PERSON, "qr accept", detail=f"{check} {scope}: {reason}")
        if review.items:
            items = [
                i.changed(accepted=reason) if (i.check, i.scope) == (check, scope) else i
                for i in review.items
            ]
            write_review(path, Review(phase, review.iteration, items))
    return print_current(state)
