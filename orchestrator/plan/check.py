"""Run the program's checks of a phase; refuse a plan that fails a required (MUST) one (PL-20)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from developer.capture import capture_into
from quality_reviewer.checks.git_trees import Objects
from quality_reviewer.checks.registry import Subject, run_checks
from shared.candidates import chosen_commands
from shared.qr.types import MUST
from shared.steps.entry_points import find_workflow
from shared.workspace import base_of, open_repository
from state import store
from state.errors import Problem, Refused
from state.phases import CODE_PHASES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from developer.capture import Captured
    from developer.verify.job import Done
    from shared.qr.types import Item, Severity
    from shared.run import State
    from state.models import Plan
    from state.phases import Phase


def check_phase(state: State, phase: Phase) -> list[Item]:
    """Return what the program's checks of a planning phase find now; nothing is stored."""
    with state.lock(f"plan check --phase {phase}"):
        plan = store.load_plan(state.plan_path)
        if phase == "plan-design":
            subject = design_subject(state, plan)
        else:
            captured = capture_into(state, plan)
            plan, subject = captured.plan, code_subject(state, captured)
    return run_checks(phase, _of_plan(subject, plan))


def design_subject(state: State, plan: Plan) -> Subject:
    """Return the input for the checks of a plan's design; git is read only if a check asks."""
    if plan.base is None:
        return Subject(plan=plan)
    return Subject(plan=plan, base_tree=plan.base.tree, trees=Objects(*open_repository(state)))


def code_subject(state: State, captured: Captured) -> Subject:
    """Return the input for the checks of a plan's captured changes, shared by all phases."""
    repository, vault, worktree, config = captured.workspace
    return Subject(
        plan=captured.plan,
        worktree=worktree,
        base_tree=base_of(captured.plan).tree,
        tree=captured.capture.tree,
        verify_commands=(*config.verify, *chosen_commands(state.state_dir)),
        trees=Objects(repository, vault),
    )


def _of_plan(subject: Subject, plan: Plan) -> Subject:
    """Return the checks' input with the current plan and the git tree of the code that passed."""
    code = next((o.tree for o in plan.reviews if o.phase in CODE_PHASES), None)
    return replace(subject, plan=plan, code_tree=code)


def items_by_script(
    state: State, phase: Phase, plan: Plan, subject: Subject, only: Severity | None = None
) -> list[Item]:
    """Return the program's review items of a phase; those that a person accepted are marked.

    `only` runs the checks of that severity alone.
    """
    known = state.database.accepted(state.run, phase)
    found = run_checks(phase, _of_plan(subject, plan), only=only)
    if not known:
        return found
    return [i.changed(accepted=known.get((i.check, i.scope))) for i in found]


def phases_of(state: State) -> list[Phase]:
    """Return the phases that the run's open revision passes through before it is frozen."""
    planner = find_workflow("planner")
    if state.is_writing:
        return [*planner.phases("intent"), *find_workflow("executor").phases("full")]
    return planner.phases(state.run.depth)


def check_all(state: State, plan: Plan, subject: Subject) -> None:
    """Raise Refused if the plan now fails a required (MUST) check of any phase."""
    again = state.command("step", state.run.workflow)
    for phase in phases_of(state):
        items = items_by_script(state, phase, plan, subject, only=MUST)
        refuse_failing_musts(items, phase, again)


def refuse_failing_musts(
    items: Sequence[Item], phase: Phase, again: str, verified: Done | None = None
) -> None:
    """Raise Refused with all failed required (MUST) checks; such a plan reaches no reviewer."""
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
