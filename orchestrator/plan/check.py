"""Run the script checks of a phase, and refuse a plan that fails a MUST (PL-20)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from developer.capture import capture_into
from orchestrator.planner import WORKFLOW
from quality_reviewer.checks.git_trees import Objects
from quality_reviewer.checks.registry import Subject, run_checks
from shared import resources
from shared.workspace import base_of, config_of, open_repository
from state import store
from state.errors import Problem, Refused

if TYPE_CHECKING:
    from collections.abc import Sequence

    from developer.verify.job import Done
    from shared.git.capture import Capture
    from shared.qr.types import Item, Phase
    from shared.run import State
    from state.models import Plan


def check(state: State, phase: Phase) -> list[Item]:
    """Return what the script checks of a phase say now; nothing is stored."""
    with state.lock(f"plan check --phase {phase}"):
        plan = store.load_plan(resources.plan_path(state.state_dir))
        if phase == "plan-design":
            return run_checks(phase, subject(state, plan, None))
        captured = capture_into(state, plan)
    return run_checks(phase, subject(state, captured.plan, captured.capture))


def subject(state: State, plan: Plan, captured: Capture | None) -> Subject:
    """Return what the script checks look at; nothing of git is read before a check asks."""
    if captured is None and plan.base is None:
        return Subject(plan=plan)
    trees = Objects(*open_repository(state))
    if captured is None:
        return Subject(plan=plan, base_tree=base_of(plan).tree, trees=trees)
    code = next((o.tree for o in plan.reviews if o.phase == "plan-code"), None)
    return Subject(
        plan=plan,
        worktree=state.worktree,
        base_tree=base_of(plan).tree,
        tree=captured.tree,
        code_tree=code,
        verify_commands=config_of(state).verify,
        trees=trees,
    )


def items_by_script(state: State, phase: Phase, plan: Plan, capture: Capture | None) -> list[Item]:
    """Return the phase's items as the script checks and a person answer them now."""
    known = state.database.accepted(state.run, phase)
    found = run_checks(phase, subject(state, plan, capture))
    return [i.changed(accepted=known.get((i.check, i.scope))) for i in found]


def check_all(state: State, plan: Plan, capture: Capture | None) -> None:
    """Refuse a plan in which any phase fails a MUST by now: edits may have come after its gate."""
    for phase in WORKFLOW.phases(state.run.depth):
        again = state.command("step", WORKFLOW.name)
        refuse_failing_musts(items_by_script(state, phase, plan, capture), phase, again)


def refuse_failing_musts(
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
