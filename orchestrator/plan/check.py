"""Run the program's checks of a phase; refuse a plan that fails a required (MUST) one (PL-20)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from developer.capture import capture_into, capture_now
from quality_reviewer.checks.git_trees import Objects
from quality_reviewer.checks.registry import (
    OF_DOCUMENTS,
    OF_VERIFY,
    OF_WHOLE,
    Subject,
    run_checks,
)
from shared.candidates import chosen_commands
from shared.git.few_paths import tree_at
from shared.qr.types import FAIL, MUST
from shared.resources import milestone_worktree_path
from shared.steps.entry_points import find_workflow, workflow_of
from shared.workspace import base_of, config_of, open_repository, open_workspace
from state import store
from state.changes import attach_alone
from state.errors import Problem, Refused
from state.phases import CODE_PHASES, DOCS_PHASES

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from developer.capture import Captured
    from developer.milestone_trees import Written
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
    repository, vault, worktree, _ = captured.workspace
    return Subject(
        plan=captured.plan,
        worktree=worktree,
        base_tree=base_of(captured.plan).tree,
        tree=captured.tree,
        verify_commands=verify_commands(state),
        trees=Objects(repository, vault),
    )


def verify_commands(state: State) -> tuple[str, ...]:
    """Return what verifies the run now: the project's own commands, then those chosen for it."""
    return (*config_of(state).verify, *chosen_commands(state.state_dir))


def _of_plan(subject: Subject, plan: Plan) -> Subject:
    """Return the checks' input with the current plan and the git tree of the code that passed."""
    code = next((o.tree for o in plan.reviews if o.phase in CODE_PHASES), None)
    return replace(subject, plan=plan, code_tree=code)


def items_by_script(
    state: State,
    phase: Phase,
    plan: Plan,
    subject: Subject,
    only: Severity | None = None,
    without: Collection[str] = (),
) -> list[Item]:
    """Return the program's review items of a phase; those that a person accepted are marked.

    `only` runs the checks of that severity alone, `without` leaves some out by name.
    """
    known = state.database.accepted(state.run, phase)
    found = run_checks(phase, _of_plan(subject, plan), only=only, without=without)
    if not known:
        return found
    return [i._replace(accepted=known.get((phase, i.check, i.scope))) for i in found]


class Found(NamedTuple):
    """What the checks find in captured changes, in lists of lines."""

    # What refuses.
    must: list[str]
    # What is reviewed.
    should: list[str]
    # What comes later: documentation that has a step of its own.
    later: list[str]


def capture_and_check(state: State) -> tuple[Captured, Found]:
    """Store the worktree's changes in the plan, and run the checks of all phases on them (RV-4).

    What only a run of the verify commands can tell is left out until they have run.
    """
    captured = capture_now(state)
    subject, found = code_subject(state, captured), Found([], [], [])
    ran = any(result.tree == subject.tree for result in captured.plan.verify)
    for phase in phases_of(state):
        workflow = workflow_of(phase)
        is_ahead = phase in DOCS_PHASES and state.run.step < workflow.number(phase, "execute")
        for item in items_by_script(state, phase, captured.plan, subject):
            if item.status != FAIL or item.accepted or (item.check in OF_VERIFY and not ran):
                continue
            line = f"{item.check} {item.scope}: {item.finding}"
            if is_ahead and item.check in OF_DOCUMENTS:
                found.later.append(line)
            else:
                (found.must if item.severity == MUST else found.should).append(line)
    return captured, found


def check_written(
    state: State, plan: Plan, name: str, written: Written, reported: Collection[str], again: str
) -> list[str]:
    """Check what was written for a milestone alone, when it is handed in (RV-4).

    Raises Refused with every MUST that fails; returns what else is found, a line each. Left out are
    `reported` deviations, which a person judges, intents about files that an earlier milestone has
    changed, and what only verify, the documentation's own step or all milestones together can tell.
    """
    repository, vault, *_ = open_workspace(state)
    rows = [vars(change) for change in written.changes if change.file not in reported]
    intents = {i.id: i.file for m in plan.milestones if m.id == name for i in m.code_intents}
    before, now = (
        tree_at(repository.git, tree, intents.values())
        for tree in (base_of(plan).tree, written.start)
    )
    changed = {intent for intent, file in intents.items() if before.get(file) != now.get(file)}
    left_out, later = {*reported, *changed}, (*OF_WHOLE, *OF_VERIFY, *OF_DOCUMENTS)
    subject = Subject(
        plan=attach_alone(plan, name, rows),
        worktree=milestone_worktree_path(state.state_dir, name),
        base_tree=written.start,
        tree=written.tree,
        trees=Objects(repository, vault),
    )
    failing: dict[str, Item] = {}
    for phase in CODE_PHASES[-1], DOCS_PHASES[-1]:
        for item in items_by_script(state, phase, subject.plan, subject, without=later):
            if item.scope not in left_out and item.status == FAIL and item.accepted is None:
                failing.setdefault(f"{item.scope}: {item.finding}", item)
    refuse_failing_musts([*failing.values()], CODE_PHASES[-1], again)
    return [f"{item.check} {text}" for text, item in failing.items()]


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
    """Raise Refused with all failed required (MUST) checks; such a plan reaches no reviewer.

    What else the checks find is said with them, since it is fixed in the same round.
    """
    failing = [i for i in items if i.status == FAIL and i.accepted is None]
    musts = [i for i in failing if i.severity == MUST]
    if not musts:
        return
    problems = [_problem(phase, i, i.finding or "", again) for i in musts]
    ran = verified.failures if verified else ()
    problems[-1].output = "\n".join(f"$ {r.command}\n{r.tail}" for r in ran)
    problems += [
        _problem(phase, i, f"{i.severity}, reviewed unless fixed with these: {i.finding}", again)
        for i in failing
        if i.severity != MUST
    ]
    raise Refused.of(problems)


def _problem(phase: Phase, item: Item, text: str, again: str) -> Problem:
    return Problem("refused", f"{phase} {item.check} {item.scope}", text, "", again)
