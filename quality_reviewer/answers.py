"""Choose the review questions of a phase and store the reviewers' answers (PL-18, PL-23).

Several reviewers write at once, so each reads and writes the review under the run's lock.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

from quality_reviewer.items import next_number
from quality_reviewer.questions import TEXTS, due_questions, group_of, make_items
from quality_reviewer.scale import review_of
from shared import resources
from shared.plan_file import open_plan
from shared.qr.schema import Review, check_review, read_review, write_review
from shared.qr.types import EVERYTHING, FAIL, PASS, REVIEWER, TODO, Item, blocking, item_id
from shared.steps.entry_points import workflow_of
from state.changes import missing_documents
from state.errors import Problem, Refused, shown
from state.validator import check_value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shared.run import State
    from shared.steps.workflow import Workflow
    from state.models import Plan
    from state.phases import Phase

MOST_ADDED = 3
# The fields that a reviewer may write in an answer, and in a finding that it adds.
_ANSWER = ("id", "status", "finding", "severity")
_ADDED = ("check", "scope", "severity", "status", "finding", "broken_by")


def mode_for(state: State, plan: Plan) -> str:
    """Return how much review (full, small or none) a not yet saved plan gets."""
    return review_of(state, plan.model_dump())[0]


def with_questions(state: State, phase: Phase, plan: Plan, previous: Sequence[Item]) -> list[Item]:
    """Return a phase's review items: new questions, and earlier ones with their answers.

    What blocked in the last round is asked again; every other answer is kept.
    """
    mode = mode_for(state, plan)
    judged = [name for o in plan.reviews if o.phase != phase for name in o.judged]
    documented = not missing_documents(plan)
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
    gate_is_open: bool  # nothing is left for any reviewer of the phase


def store_answers(
    state: State, phase: Phase, rows: object, *, group: str | None, who: str
) -> Stored:
    """Store a reviewer's answers, all or none; the run moves on when no question is left open.

    `who` is the reviewer's role, or `host` where no agent answers. Without `group` the answers
    may be to any question.
    """
    workflow = workflow_of(phase)
    with state.lock(f"qr set --phase {phase}"):
        plan = open_plan(state)
        state.reload()
        review = _open_review(state, workflow, phase)
        share = _Share(group, [m.id for m in plan.milestones])
        items = _answered(review, rows, share)
        path = resources.review_path(state.state_dir, phase)
        write_review(path, Review(phase, review.iteration, items))
        gate_is_open = all(i.status != TODO for i in items)
        gate = workflow.number(phase, "gate")
        with state.database as database:
            detail = f"revision {state.run.revision}, {phase}"
            if items != review.items:
                database.audit(state.run, who, "qr set", detail=detail)
            if gate_is_open and state.run.step != gate:
                number = workflow.number(phase, "qr")
                done = [(number, workflow.steps[number].name)]
                database.add_steps(state.run, workflow.name, done, who)
                state.go_to(workflow.name, gate)
    own = [i for i in items if share.holds(i)]
    figures: dict[str, int] = {s: sum(i.status == s for i in own) for s in (PASS, FAIL, TODO)}
    return Stored(figures, [i.id for i in own if i.status == TODO], gate_is_open)


class _Share(NamedTuple):
    """The group of review questions that one reviewer answers."""

    group: str | None  # None for the whole review
    milestones: Sequence[str]  # ids of the plan's, in order

    def holds(self, item: Item) -> bool:
        return item.by == REVIEWER and self.group in (None, item.group)


def _open_review(state: State, workflow: Workflow, phase: Phase) -> Review:
    path = resources.review_path(state.state_dir, phase)
    due = (workflow.number(phase, "qr"), workflow.number(phase, "gate"))
    if state.run.workflow != workflow.name or state.run.step not in due or not os.path.exists(path):
        text = f"no review of {phase} is open: the run is at {state.run.workflow} {state.run.step}"
        raise Refused("conflict", phase, text, "", state.command("step", state.run.workflow))
    return read_review(path)


def _answered(review: Review, rows: object, share: _Share) -> list[Item]:
    """Return a review's items with one reviewer's answers set; raise Refused if any is invalid."""
    if not isinstance(rows, list):
        example = '[{"id": "qa-001", "status": "PASS"}, …]'
        raise Refused("invalid", "verdicts", "the file is not a JSON list of answers", example)
    changed = Review(review.phase, review.iteration, review.items)
    problems = _twice(rows)
    for n, row in enumerate(rows):
        at = f"[{n}]"
        if not isinstance(row, dict):
            problems.append(
                Problem(
                    "invalid", at, "the entry is not an answer to a question", ", ".join(_ANSWER)
                )
            )
        elif unfit := list(check_value(at, row)):
            problems += unfit
        elif "id" in row:
            problems += _answer(changed, row, share, at)
        else:
            problems += _add(changed, row, share, at)
    if problems:
        raise Refused.of(problems)
    return changed.items


def _twice(rows: Sequence[object]) -> list[Problem]:
    ids = [str(row["id"]) for row in rows if isinstance(row, dict) and "id" in row]
    return [
        Problem("invalid", "verdicts", f"{name} is answered twice", "give one answer for each id")
        for name in dict.fromkeys(ids)
        if ids.count(name) > 1
    ]


def _answer(review: Review, row: dict[str, Any], share: _Share, at: str) -> list[Problem]:
    """Put a reviewer's answer to one question into the review, or return the answer's problems."""
    items = review.items
    mine = {i.id: n for n, i in enumerate(items) if share.holds(i)}
    number = mine.get(str(row["id"]))
    if number is None:
        whose = f"a question of group {share.group}" if share.group else "a question for reviewers"
        text = f"{row['id']} is not {whose}"
        return [Problem("not_found", f"{at}.id", text, ", ".join(mine) or "none")]
    problems = _unknown(row, _ANSWER, at)
    status, finding = row.get("status"), row.get("finding")
    if status not in (PASS, FAIL):
        problems.append(
            Problem("invalid", f"{at}.status", f"the status is {shown(status)}", "PASS, FAIL")
        )
    elif status == FAIL and not _is_said(finding):
        text = "the status is FAIL, but `finding` is missing"
        problems.append(
            Problem("invalid", f"{at}.finding", text, "say what is wrong, where, what to do")
        )
    values = {"status": status, "finding": finding or None}
    values |= {k: v for k, v in row.items() if k == "severity"}
    answered = items[number].changed(**values)
    problems = problems or _unfit(review, answered, at)
    if not problems:
        items[number] = answered
    return problems


def _add(review: Review, row: dict[str, Any], share: _Share, at: str) -> list[Problem]:
    """Add to the review a finding that no question asked for, or return the finding's problems."""
    scope = row.get("scope", EVERYTHING)
    group = share.group or group_of(
        scope if isinstance(scope, str) else EVERYTHING, share.milestones
    )
    problems = _unsound(review, row, at)
    if problems:
        return problems
    breaker = row.get("broken_by")
    cause = f"(broken by the fix of {breaker}) " if breaker else ""
    values = {
        "id": item_id(next_number(review.items)), "scope": scope, "check": row["check"],
        "severity": row.get("severity", "SHOULD"), "status": FAIL, "group": group,
        "finding": f"{cause}{row['finding']}",
    }  # fmt: skip
    new = Item(**values)
    if unfit := _unfit(review, new, at):
        return unfit
    own = [i for i in review.items if (i.by, i.group) == (REVIEWER, group) and i.check not in TEXTS]
    if any(i == new.changed(id=i.id) for i in own):
        return []  # the same file sent again, because the output was lost
    if len(own) >= MOST_ADDED:
        return [
            Problem(
                "refused",
                at,
                f"{MOST_ADDED} findings are added already",
                "add only the worst findings",
            )
        ]
    review.items.append(new)
    return []


def _unsound(review: Review, row: dict[str, Any], at: str) -> list[Problem]:
    """Return the problems, such as missing text, of a finding that a reviewer wants to add."""
    problems = _unknown(row, _ADDED, at)
    check, ids = row.get("check"), [i.id for i in review.items]
    if not _is_said(check):
        problems.append(
            Problem(
                "invalid",
                f"{at}.check",
                "`check` is missing",
                "name the kind of finding in `check`",
            )
        )
    elif check in TEXTS:
        text = f"{check} is already a question of this review"
        problems.append(
            Problem(
                "refused",
                f"{at}.check",
                text,
                "answer that question by its id, or use another name",
            )
        )
    if row.get("status", FAIL) != FAIL or not _is_said(row.get("finding")):
        text = "an added answer needs the status FAIL and a `finding`"
        problems.append(Problem("invalid", at, text, "say what is wrong, where, what to do"))
    if review.iteration > 1 and "broken_by" not in row:
        text = "after round 1, an added finding needs `broken_by`: the id whose fix did the damage"
        problems.append(Problem("refused", f"{at}.broken_by", text, ", ".join(ids)))
    elif "broken_by" in row and row["broken_by"] not in ids:
        text = f"no review item has the id {shown(row['broken_by'])}"
        problems.append(Problem("not_found", f"{at}.broken_by", text, ", ".join(ids)))
    return problems


def _unfit(review: Review, item: Item, at: str) -> list[Problem]:
    return check_review(Review(review.phase, review.iteration, [item]).to_json(), at)


def _unknown(row: dict[str, Any], known: Sequence[str], at: str) -> list[Problem]:
    wrong = ", ".join(repr(k) for k in row if k not in known)
    text = f"an answer has no field {wrong}"
    return [Problem("invalid", at, text, ", ".join(known))] if wrong else []


def _is_said(text: object) -> bool:
    return isinstance(text, str) and bool(text.strip())
