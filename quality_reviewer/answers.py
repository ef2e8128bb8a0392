"""Choose the review questions of a phase and store the reviewers' answers (PL-18, PL-23).

Several reviewers write at once, so each reads and writes the review under the run's lock.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from quality_reviewer.answer_rows import Share, answered
from quality_reviewer.checks.promises import documents_are_written
from quality_reviewer.evidence import Evidence
from quality_reviewer.questions import TEXTS, due_questions, make_items
from quality_reviewer.scale import review_of
from shared import resources
from shared.plan_file import open_plan
from shared.qr.schema import Review, read_review, write_review
from shared.qr.types import AGENT, ASSISTANT, FAIL, PASS, REVIEWER, TODO, Item, blocking
from shared.steps.entry_points import workflow_of
from state.actors import HOST
from state.errors import Refused
from state.phases import CODE_PHASES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from shared.run import State
    from shared.steps.workflow import Workflow
    from state.models import Plan
    from state.phases import Phase


def mode_for(state: State, plan: Plan) -> str:
    """Return how much review (full, small or none) a not yet saved plan gets."""
    return review_of(state, plan.model_dump())[0]


def with_questions(state: State, phase: Phase, plan: Plan, previous: Sequence[Item]) -> list[Item]:
    """Return a phase's review items: new questions, and earlier ones with their answers.

    What blocked in the last round is asked again; every other answer is kept.
    """
    mode = mode_for(state, plan)
    judged = [name for o in plan.reviews if o.phase != phase for name in o.judged]
    documented = phase in CODE_PHASES and documents_are_written(state, plan)
    questions = due_questions(phase, mode, judged, documented=documented)
    milestones = [m.id for m in plan.milestones]
    items = make_items(questions, milestones, previous, mode)
    asked = {item.id for item in items}
    items += [
        i for i in previous if i.by == REVIEWER and i.check not in TEXTS and i.id not in asked
    ]
    iteration = state.database.phase(state.run, phase)[1]
    again = {i.id for i in blocking(items, iteration - 1) if i.rounds}
    return [i.changed(status=TODO) if i.id in again else i for i in items]


def judged_by(items: Sequence[Item]) -> tuple[str, ...]:
    """Return the names of the predefined review questions that reviewers have answered."""
    answered = (i.check for i in items if i.by == REVIEWER and i.status != TODO)
    return tuple(dict.fromkeys(check for check in answered if check in TEXTS))


class Stored(NamedTuple):
    """The result of storing a reviewer's answers: counts by status, and questions still open."""

    figures: dict[str, int]  # how many questions of the reviewer have each status
    left: list[str]  # ids of those still to answer


def store_answers(
    state: State, phase: Phase, rows: object, *, group: str | None, who: str
) -> Stored:
    """Store a reviewer's answers; the run moves on when no question is left open.

    `who` is the reviewer's role, or `host` where no agent answers. Without `group` the answers
    may be to any question. A file with anything but answers is refused as a whole; an answer
    that lacks evidence is refused while the others of its file are stored (RV-1).
    """
    workflow = workflow_of(phase)
    with state.lock(f"qr set --phase {phase}"):
        state.reload()
        if (before := _decided_with(state, workflow, phase, rows)) is not None:
            return before
        plan = open_plan(state)
        review = _open_review(state, workflow, phase)
        by = ASSISTANT if who == HOST else AGENT
        share = Share(group, [m.id for m in plan.milestones], Evidence(state, phase, plan), by)
        new, unproved = answered(review, rows, share)
        items = new.items
        write_review(resources.review_path(state.state_dir, phase), new)
        gate_is_open = all(i.status != TODO for i in items)
        gate = workflow.number(phase, "gate")
        with state.database as database:
            detail = f"revision {state.run.revision}, {phase}"
            if new != review:
                database.audit(state.run, who, "qr set", detail=detail)
            if gate_is_open and state.run.step != gate:
                number = workflow.number(phase, "qr")
                done = [(number, workflow.steps[number].name)]
                database.add_steps(state.run, workflow.name, done, who)
                state.go_to(workflow.name, gate)
    if unproved:
        unproved[-1].allowed += "; the other answers of this file are stored"
        raise Refused.of(unproved)
    own = [i for i in items if share.holds(i)]
    return Stored(_count(i.status for i in own), [i.id for i in own if i.status == TODO])


def _count(statuses: Iterable[str]) -> dict[str, int]:
    every = list(statuses)
    return {s: every.count(s) for s in (PASS, FAIL, TODO)}


def _is_open(state: State, workflow: Workflow, phase: Phase) -> bool:
    due = (workflow.number(phase, "qr"), workflow.number(phase, "gate"))
    path = resources.review_path(state.state_dir, phase)
    here = state.run.workflow == workflow.name and state.run.step in due
    return here and os.path.exists(path)


def _decided_with(state: State, workflow: Workflow, phase: Phase, rows: object) -> Stored | None:
    """Return the result again if a review was decided with these answers; None otherwise.

    A host repeats the command whose output it has lost.
    """
    outcomes = state.database.outcomes(state.run, phase)
    if _is_open(state, workflow, phase) or not outcomes or not isinstance(rows, list):
        return None
    path = resources.review_path(state.state_dir, phase)
    if os.path.exists(path):
        items = read_review(path).items
    else:
        items = [Item.from_json(row) for row in outcomes[-1]["items"]]
    known = {i.id: (i.status, i.finding) for i in items if i.by == REVIEWER}
    given = [row for row in rows if isinstance(row, dict) and "id" in row]
    same = [known.get(str(r["id"])) == (r.get("status"), r.get("finding") or None) for r in given]
    return Stored(_count(r["status"] for r in given), []) if same and all(same) else None


def _open_review(state: State, workflow: Workflow, phase: Phase) -> Review:
    if not _is_open(state, workflow, phase):
        text = f"no review of {phase} is open: the run is at {state.run.workflow} {state.run.step}"
        raise Refused("conflict", phase, text, "", state.command("step", state.run.workflow))
    return read_review(resources.review_path(state.state_dir, phase))
