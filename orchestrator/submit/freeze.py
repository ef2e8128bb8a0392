"""Make a plan revision immutable (frozen) and submit it for approval (PL-15)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from developer.capture import captured_still
from developer.waiting import put_away
from orchestrator.open_questions import refuse_while_asked
from orchestrator.plan.check import check_all, code_subject, design_subject, phases_of
from orchestrator.submit.plan_md import render_plan
from orchestrator.submit.readable import write_readable
from orchestrator.submit.rehearsal import rehearse
from orchestrator.submit.size import check_size
from quality_reviewer.answers import due_again
from quality_reviewer.looked_up import with_evidence_now
from quality_reviewer.unproven import with_unproven
from shared import plan_refs
from shared.contents import answer_of
from shared.drift import check_run
from shared.plan_file import check_frozen, check_not_ended, open_plan
from shared.qr.types import LoopState
from shared.steps.entry_points import find_workflow
from shared.todo import refresh_todo
from state import store
from state.changes import apart, plan_changes
from state.clock import now
from state.errors import Problem, Refused
from state.files import read_bytes, write_atomic
from state.freeze import freeze
from state.frozen_bytes import digest_of

if TYPE_CHECKING:
    from shared.run import State
    from state.models import Plan


def freeze_plan(state: State, *, allow_large: bool = False) -> None:
    """Freeze the plan's revision and submit it; repeated, check it and write its review page.

    With `allow_large` it may need blobs beside plan.json, which its ref then keeps. The worktree is
    put away, since the plan holds all of it.
    """
    with state.lock("plan freeze"):
        state.reload()
        path, compared = state.plan_path, False
        if state.run.digest is None:
            check_not_ended(state)
            check_run(state)
            plan = store.load_plan(path)
            if plan.frozen_at is None:
                plan = open_plan(state)
                _check_ready(state, plan)
                _check_answers(state, plan)
                if not allow_large:
                    check_size(state, plan)
                whole = with_evidence_now(state, _with_users_answers(state, plan))
                write_atomic(path, rehearsed(state, whole))
                compared = state.run.depth == "full"
            digest, _ = digest_of(read_bytes(path))
            frozen = check_frozen(state)
            keep_draft(state, frozen)
            with state.database:
                state.move("submit", "host", workflow="executor", step=1, digest=digest)
                # Before it counts, so that what is submitted has its page whatever comes between.
                _show(state, frozen)
        else:
            frozen = check_frozen(state)
            _show(state, frozen)
        put_away(state, frozen, compared=compared)


def _show(state: State, frozen: Plan) -> None:
    refresh_todo(state)
    write_readable(state, frozen)


def _with_users_answers(state: State, plan: Plan) -> Plan:
    """Return the plan with the answers to its questions, so that the digest names them (SD-1)."""
    answers = state.database.answers(state.run)
    asked = (c.model_copy(update={"answer": answer_of(c, answers)}) for c in plan.checkpoints)
    return plan.model_copy(update={"checkpoints": tuple(asked)})


def rehearsed(state: State, plan: Plan) -> bytes:
    """Return the bytes of a frozen plan whose patches, apply and commit have been tried."""
    changes = plan_changes(plan)
    whole = not any(map(apart, changes))
    plan = with_unproven(state, plan)
    plan = plan.model_copy(update={"last_operation": None, "self_contained": whole})
    at = now()
    data, _ = freeze(plan, at)
    note = rehearse(state, store.parse_plan(data, state.plan_path), data)
    if note and note not in plan.remarks:
        data, _ = freeze(plan.model_copy(update={"remarks": (*plan.remarks, note)}), at)
    return data


def keep_draft(state: State, plan: Plan) -> None:
    """Store a frozen plan and its text in a ref, so that no folder is needed."""
    plan_refs.keep_draft(state, plan, render_plan(plan, state.database.answers(state.run)))


def _check_ready(state: State, plan: Plan) -> None:
    run, depth = state.run, state.run.depth
    here = state.command("step", run.workflow)
    loops = {state.database.phase(run, phase)[0] for phase in phases_of(state)}
    if loops != {LoopState.COMPLETE} or run.step != find_workflow(run.workflow).last(depth):
        text = f"the run is at step {run.step}; a plan is frozen once all phases have passed"
        raise Refused("conflict", "plan freeze", text, "do the step that is due", here)
    refuse_while_asked(state, plan)
    if depth == "intent":
        check_all(state, plan, design_subject(state, plan))
        return
    captured = captured_still(state, plan)
    if captured is None:
        phase = "impl-code" if state.is_writing else "plan-code"
        again = state.command("plan", "done", "--phase", phase, role="developer")
        text = "the files in this folder changed after they were checked"
        raise Refused("conflict", state.worktree, text, "check the files again", again)
    check_all(state, plan, code_subject(state, captured))


def _check_answers(state: State, plan: Plan) -> None:
    """Raise Refused with each question whose answer no longer holds: about it, or by evidence."""
    phase = phases_of(state)[-1]
    again = state.command("plan", "done", "--phase", phase)
    due = due_again(state, phase, plan)
    if due:
        raise Refused.of(
            Problem("refused", f"{check} {scope}", f"its answer does not hold: {why}",
                    "have it answered again", again)
            for (check, scope), why in due.items()
        )  # fmt: skip
