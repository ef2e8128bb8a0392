"""Make a phase due again for what was said after it had ended, and see what became of it (SD-3)."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

from orchestrator.path import going_back
from shared.qr.types import LoopState
from shared.steps.entry_points import find_workflow, workflow_of
from state.errors import Problem, Refused
from state.statements import WAYS, cited_by, stated_of

if TYPE_CHECKING:
    from shared.run import State
    from state.models import Plan
    from state.phases import Phase

_WORK = {"overview", "planning_context", "invisible_knowledge", "milestones", "diagrams"}


def phase_now(state: State) -> str:
    """Return the phase that a run is in; before the design that is the design.

    Once approved intents are written it is their code: who writes that can do what is said then,
    and the documents follow.
    """
    due = find_workflow(state.run.workflow).steps[state.run.step].phase
    return due or ("impl-code" if state.is_writing else "plan-design")


def has_ended(state: State, phase: Phase) -> bool:
    """Return whether the work step of a phase has ended once, be it due again or not."""
    workflow = workflow_of(phase)
    done = state.database.done_steps(state.run, workflow.name)
    return workflow.number(phase, "execute") in done


def reopen(
    state: State,
    plan: Plan,
    phase: str,
    statement: str,
    *,
    is_new: bool = False,
    is_of_earlier: bool = False,
) -> None:
    """Make the work step of a phase due again, and with it what follows, if it has ended before.

    The statement, a question's or remark's id, is the cause. One that `is_new` while its work step
    is due, such as an answer in a fix round, is in time; another answer to a question that
    `is_of_earlier` revisions is not, since the plan holds the work that its first answer has made.
    Part of the caller's transaction.
    """
    workflow, database, run = workflow_of(phase), state.database, state.run
    number = workflow.number(phase, "execute")
    was_answered = is_of_earlier and not is_new
    ended = was_answered or number in database.done_steps(run, workflow.name)
    if run.workflow != workflow.name or not ended:
        return
    if is_new and run.step == number:
        return
    for later in workflow.phases("full"):
        loop, iteration = database.phase(run, later)
        if workflow.number(later, "execute") >= number and loop == LoopState.COMPLETE:
            again = LoopState.of(iteration, passed=False)
            database.set_phase(run, later, again, iteration)
    database.add_late(run, statement, phase, work_of(plan))
    if run.step > number:
        with going_back(state, statement):
            state.go_to(workflow.name, number)


def work_of(plan: Plan) -> str:
    """Return what names the work of all phases: a digest of it that its next edit changes."""
    text = json.dumps(plan.model_dump(mode="json", include=_WORK), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def refuse_unsettled(state: State, phase: Phase, plan: Plan, again: str) -> None:
    """Raise Refused while nothing has become of a statement that has made a phase due again.

    Something has where its author says so, or where a milestone cites it and the work is another.
    """
    problems = []
    for late in state.database.late(state.run):
        changed = cited_by(plan, late.statement) and work_of(plan) != late.work
        if late.phase == phase and not changed and not stated_of(plan, late.statement):
            text = f"{phase} is due again because of {late.statement}, and nothing became of it"
            problems.append(Problem("refused", late.statement, text, WAYS, again))
    if problems:
        raise Refused.of(problems)
