"""Open the next revision of a frozen plan (PL-28)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from developer.move_base import move_base
from orchestrator.executor import WORKFLOW as EXECUTOR
from orchestrator.path import going_back, path_now
from orchestrator.plan.late_words import reopen
from orchestrator.submit.readable import refresh
from orchestrator.submit.remarks import Said, read_remarks
from shared import drift, resources
from shared.drift import check_run, tree_of
from shared.execution.deeds import Execution
from shared.git.journal import journal_state
from shared.plan_file import check_active, check_approved, check_frozen
from shared.qr.types import LoopState
from state import store
from state.errors import Refused
from state.files import read_bytes, write_atomic
from state.models import Remark
from state.stages import READ_ONLY
from state.statements import placed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from shared.run import State
    from state.models import Plan

# Why a revision is due that the user has not asked for, and what is to be done about it. A base
# that has moved is noted where it is moved.
HOOK, VERIFY = "hook", "verify"
CAUSES = {
    HOOK: "A commit hook of the project makes another commit than was approved: make its changes "
    "in the worktree, or have it leave these files alone.",
    VERIFY: "HEAD has moved, and there the verify commands fail: bring the change to what is there "
    "now.",
}


def revise_plan(
    state: State, remarks: str, cause: str | None = None, *, is_plain: bool = False
) -> None:
    """Keep the frozen plan as plan.rN.json and open its next revision with the remarks (PL-28).

    `cause` is one of CAUSES where the user has not asked for it. Remarks may name the places that
    they are about, unless they are `is_plain` (LP-3).
    """

    def said(plan: Plan) -> list[Said]:
        if cause is not None:
            return []
        return [Said(remarks.strip())] if is_plain else read_remarks(state, plan, remarks)

    with state.lock("plan revise"):
        state.reload()
        run = state.run
        path = state.plan_path
        check_active(state)
        if journal_state(resources.journal_path(state.state_dir)) not in (None, "undone"):
            text = "this revision is applied, so the plan cannot be revised"
            raise Refused(
                "conflict", "plan revise", text, "undo the apply first", state.command("undo")
            )
        if run.stage in READ_ONLY:
            check_run(state)
        if run.digest is None and (plan := store.load_plan(path)).frozen_at is None:
            if cause is None and remarks.strip() and run.workflow == "planner":
                _remark_in_time(state, plan, said(plan))
            elif not _is_opened_by(plan, remarks, cause):
                text, ways = "the plan is not frozen, so edit the plan without `plan revise`", ""
                if state.is_writing:
                    text = "agents write the approved intents, which no remark changes meanwhile"
                    ways = "once the code is submitted, the same command"
                here = state.command("step", run.workflow)
                raise Refused("conflict", "plan revise", text, ways, here)
            refresh(state)  # also of a repetition: a kill may have spared the page
            return
        at = path_now(state)
        plan = _open_next(
            state,
            lambda frozen: next_revision(frozen, said(frozen), _notes(remarks, cause)),
            on_head=cause == VERIFY,
        )
        if run.stage not in READ_ONLY:
            # The user and their assistant were free to write since the approval.
            drift.take(tree_of(state))
        with state.database, going_back(state, f"revision {plan.revision}", at):
            state.move(
                "revise", "host", detail="\n".join([*_latest(plan), *plan.remarks]),
                workflow="planner", step=3, digest=None, revision=plan.revision,
            )  # fmt: skip
        refresh(state)


def _remark_in_time(state: State, plan: Plan, remarks: Sequence[Said]) -> None:
    """Add what a person remarks on a plan that is being made; its design is due again (SD-3)."""
    known = [
        placed(one.text, one.anchor)
        for one in plan.user_remarks
        if one.revision >= plan.revision - 1
    ]
    plan, new = _with_remarks(
        plan, [one for one in remarks if placed(one.text, one.anchor) not in known]
    )
    if not new:
        return
    store.save_plan(state.plan_path, plan)
    with state.database as database:
        for one in new:
            database.audit(
                state.run, "host", "remark", detail=f"{one.id}: {placed(one.text, one.anchor)}"
            )
            reopen(state, plan, "plan-design", one.id)


def _with_remarks(plan: Plan, remarks: Sequence[Said]) -> tuple[Plan, list[Remark]]:
    """Return a plan with remarks that a person has made on it, and these as its entries."""
    last = plan.counters.get("RM", 0)
    new = [
        Remark(id=f"RM-{number:03d}", text=one.text, revision=plan.revision, anchor=one.anchor)
        for number, one in enumerate(remarks, start=last + 1)
    ]
    counters = {**plan.counters, "RM": last + len(new)} if new else plan.counters
    values = {"user_remarks": (*plan.user_remarks, *new), "counters": counters}
    return plan.model_copy(update=values), new


def begin_writing(state: State) -> None:
    """Open the revision in which agents write the code of approved intents (edits in words)."""
    with state.lock("exec apply"):
        state.reload()
        run = state.run
        if run.depth == "full":
            return
        check_approved(state)
        # Approved intents do not allow writing in the user's tree.
        check_run(state)
        plan = _open_next(state, lambda frozen: _with_reviews(next_revision(frozen), frozen))
        step = EXECUTOR.number("impl-code", "execute")
        with state.database as database:
            state.move(
                "write", "program",
                workflow=EXECUTOR.name, step=step, digest=None, revision=plan.revision,
                depth="full",
            )  # fmt: skip
            for outcome in plan.reviews:
                phase, iteration = outcome.phase, outcome.iteration
                database.set_phase(state.run, phase, LoopState.COMPLETE, iteration)
            Execution(state).begin()


def _with_reviews(plan: Plan, frozen: Plan) -> Plan:
    return plan.model_copy(update={"reviews": frozen.reviews})


def _open_next(state: State, successor: Callable[[Plan], Plan], *, on_head: bool = False) -> Plan:
    """Keep the frozen plan as plan.rN.json and store its next revision on the current tree.

    `on_head` moves it there even if no planned file differs.
    """
    path = state.plan_path
    plan = store.load_plan(path)
    if plan.frozen_at is None and plan.revision == state.run.revision + 1:
        return plan  # a command that was killed half-way has opened it already
    plan = check_frozen(state)
    kept = resources.superseded_plan_path(state.state_dir, plan.revision)
    write_atomic(kept, read_bytes(path))
    plan = move_base(state, successor(plan), always=on_head)
    store.save_plan(path, plan)
    return plan


def _latest(plan: Plan) -> list[str]:
    """Return what a person wants otherwise in this revision than in the one before it."""
    return [
        placed(one.text, one.anchor)
        for one in plan.user_remarks
        if one.revision == plan.revision - 1
    ]


def _is_opened_by(plan: Plan, remarks: str, cause: str | None) -> bool:
    """Return whether these remarks and this cause are what an unfrozen revision was opened by."""
    notes = _notes(remarks, cause)
    return plan.remarks == notes if notes else remarks.strip() in _latest(plan)


def _notes(remarks: str, cause: str | None) -> tuple[str, ...]:
    """Return the note of a cause, with the remarks on it, as a plan keeps it; none without one."""
    return ("\n".join(t for t in (CAUSES[cause], remarks) if t.strip()),) if cause else ()


def remark(state: State, text: str) -> None:
    """Open the plan's next revision with a person's remarks; raise Refused if they are empty."""
    if not text.strip():
        raise Refused("invalid", "TEXT", "the remarks are empty", "say in TEXT what to change")
    revise_plan(state, text)


def next_revision(plan: Plan, remarks: Sequence[Said] = (), notes: Sequence[str] = ()) -> Plan:
    """Return the unfrozen next revision of a frozen plan; each remark becomes an RM- entry of it.

    If there is one milestone, it cites the new entries.
    """
    plan, new = _with_remarks(plan, remarks)
    values: dict[str, Any] = {
        "frozen_at": None, "digest": None, "seals": {}, "self_contained": True,
        "reviews": (), "verify": (), "unproven": (),
        "revision": plan.revision + 1, "remarks": tuple(notes),
    }  # fmt: skip
    if new and len(plan.milestones) == 1:
        only, ids = plan.milestones[0], [one.id for one in new]
        cited = {"requirements": (*only.requirements, *ids), "version": only.version + 1}
        values["milestones"] = (only.model_copy(update=cited),)
    return plan.model_copy(update=values)
