"""A revision becomes immutable and is submitted; a later one takes its place (PL-15, PL-28)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shared import capturing, fingerprints, gates, plans, resources
from shared.git.journal import journal_state
from shared.qr.types import LoopState
from shared.render import render_plan
from shared.workflow import print_current
from state import store
from state.clock import now
from state.errors import Problem, Refused
from state.freeze import digest_of, freeze
from state.mode import READ_ONLY
from state.models import TaskItem

if TYPE_CHECKING:
    from shared.run import State
    from shared.workflow import Workflow
    from state.models import Plan


def freeze_plan(state: State, workflow: Workflow) -> str:
    """Make the revision immutable and submit it; repeated, it prints the submission again."""
    with state.lock("plan freeze"):
        state.reload()
        path = resources.plan_path(state.state_dir)
        if state.run.digest is None:
            fingerprints.check_run(state)
            plan = store.load_plan(path)
            if plan.frozen_at is None:
                plan = plans.open_plan(state)
                _check_ready(state, workflow, plan)
                data, _ = freeze(plan.model_copy(update={"last_operation": None}), now())
                store.write_atomic(path, data)
            digest, _ = digest_of(store.read_bytes(path))
            frozen = plans.check_frozen(state)
            write_rendered(state, frozen)
            with state.database:
                state.move("submit", "host", workflow="executor", step=1, digest=digest)
        else:
            plans.check_frozen(state)
    return print_current(state)


def _check_ready(state: State, workflow: Workflow, plan: Plan) -> None:
    here = state.command("step", "planner")
    loops = {state.database.phase(state.run, phase)[0] for phase in workflow.phases()}
    if loops != {LoopState.COMPLETE} or state.run.step != max(workflow.steps):
        text = f"the run is at step {state.run.step}; a plan is frozen when all gates are passed"
        raise Refused("conflict", "plan freeze", text, "the current step", here)
    answered = state.database.answers(state.run)
    problems = [
        Problem("refused", c.id, f"the question is not answered: {c.question}",
                ", ".join(o.key for o in c.options),
                state.command("context", "answer", c.id, c.options[0].key))
        for c in plan.checkpoints
        if c.id not in answered
    ]  # fmt: skip
    if problems:
        raise Refused.of(problems)
    captured = capturing.capture_into(state, plan)
    if captured.plan != plan:
        again = state.command("plan", "done", "--phase", "plan-code", role="developer")
        text = "the worktree changed after it was checked"
        raise Refused("conflict", state.worktree, text, "the checked state", again)
    gates.check_all(state, workflow, plan, captured.capture)


def write_rendered(state: State, plan: Plan) -> None:
    """Write plan.md anew."""
    path = resources.rendered_plan_path(state.state_dir)
    store.write_atomic(path, render_plan(plan).encode())


def revise_plan(state: State, remarks: str) -> str:
    """Keep the frozen revision as plan.rN.json and open the next one with the remarks (PL-28)."""
    with state.lock("plan revise"):
        state.reload()
        run = state.run
        path = resources.plan_path(state.state_dir)
        if journal_state(resources.journal_path(state.state_dir)) not in (None, "undone"):
            text = "this revision is applied; take it back before it is revised"
            raise Refused("conflict", "plan revise", text, "undo first", state.command("undo"))
        plans.check_active(state)
        if run.stage in READ_ONLY:
            fingerprints.check_run(state)
        plan = store.load_plan(path)
        # A revision that was killed half-way has opened the next one in the file already.
        opened = plan.frozen_at is None and plan.revision == run.revision + 1
        if run.digest is not None and not opened:
            plan = plans.check_frozen(state)
        if plan.frozen_at is not None:
            kept = resources.superseded_plan_path(state.state_dir, plan.revision)
            store.write_atomic(kept, store.read_bytes(path))
            plan = next_revision(plan, remarks)
            plan = capturing.move_base(state, plan)
            store.save_plan(path, plan)
        elif run.digest is None:
            text = "the plan is not frozen: edit it as it is"
            raise Refused("conflict", "plan revise", text, "", state.command("step", "planner"))
        if run.stage not in READ_ONLY:
            # The user and their assistant were free to write since the approval.
            fingerprints.take(fingerprints.place_of(state))
        with state.database:
            state.move(
                "revise", "host", detail=remarks,
                workflow="planner", step=3, digest=None, revision=plan.revision,
            )  # fmt: skip
    return print_current(state)


def remark(state: State, text: str) -> str:
    """Open the next revision with a person's remarks, as they typed or the host passed them on."""
    if not text.strip():
        raise Refused("invalid", "TEXT", "the remarks are empty", "what is to be otherwise")
    return revise_plan(state, text)


def next_revision(plan: Plan, remarks: str) -> Plan:
    """Return the unfrozen successor of a frozen plan; remarks become an entry of its task.

    A single milestone takes the new entry up by itself.
    """
    values: dict[str, Any] = {
        "frozen_at": None, "digest": None, "seals": {}, "reviews": (), "verify": (),
        "revision": plan.revision + 1, "remarks": (remarks,) if remarks.strip() else (),
    }  # fmt: skip
    if remarks.strip():
        task = TaskItem(id=f"T-{len(plan.task_spec) + 1}", text=remarks.strip())
        values["task_spec"] = (*plan.task_spec, task)
        if len(plan.milestones) == 1:
            only = plan.milestones[0]
            cited = {"requirements": (*only.requirements, task.id), "version": only.version + 1}
            values["milestones"] = (only.model_copy(update=cited),)
    return plan.model_copy(update=values)
