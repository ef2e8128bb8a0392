"""Choose the review questions of a phase and store the reviewers' answers (PL-18, PL-23).

Several reviewers write at once, so each reads and writes the review under the run's lock.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from quality_reviewer.answer_rows import Rows, Share, answered, note_of, read_rows
from quality_reviewer.checks.promises import documents_are_written, unwritten_documents
from quality_reviewer.evidence import Evidence
from quality_reviewer.looked_up import look_up, needs_evidence
from quality_reviewer.named.bearing import Bearing
from quality_reviewer.named.claims import figures, promised
from quality_reviewer.questions import BY_ID, CRITERIA, FIGURES, TEXTS, is_own_list, may_ask
from quality_reviewer.scale import review_of
from quality_reviewer.scopes import Scopes, is_same
from quality_reviewer.selection import asked_again, grouped, is_of_table, items_for, select
from shared import resources
from shared.builders import first_of
from shared.plan_file import open_plan
from shared.qr.kept_review import read_kept_review
from shared.qr.schema import Review, read_review, write_review
from shared.qr.types import (
    AGENT,
    ASSISTANT,
    EVERYTHING,
    FAIL,
    PASS,
    REVIEWER,
    TODO,
    Item,
    Said,
    blocking,
)
from shared.steps.entry_points import workflow_of
from state.actors import HOST
from state.errors import Refused
from state.phases import CODE_PHASES, DOCS_PHASES
from state.results import Unasked

if TYPE_CHECKING:
    from collections.abc import Sequence

    from quality_reviewer.selection import Name, Selection
    from shared.run import State
    from shared.steps.workflow import Workflow
    from state.models import Plan
    from state.phases import Phase

MOST_FOUND = 4  # of what a program names in a question


def mode_for(state: State, plan: Plan) -> str:
    """Return how much review (full, small or none) a not yet saved plan gets."""
    return review_of(state, plan)[0]


def with_questions(
    state: State, phase: Phase, plan: Plan, previous: Sequence[Item], *, own: bool | None = None
) -> list[Item]:
    """Return a phase's review items: new questions, and earlier ones with their answers.

    What blocked in the last round is asked again, and what is about bytes or entities that have
    changed since (RV-5), or whose evidence is gone; every other answer is kept. `own` says that who
    has made the change is asked, not somebody else (RV-9); by default as the run or review began.
    """
    own = _is_own(state, plan, previous) if own is None else own
    items = _items(state, phase, plan, previous, own=own)
    iteration = state.database.phase(state.run, phase)[1]
    again = {i.id for i in blocking(items, iteration - 1) if i.rounds}
    items = [i._replace(status=TODO) if i.id in again else i for i in items]
    # Who answers all the questions is asked them in one list.
    one_list = own or bool(state.run.alone) or mode_for(state, plan) == "small"
    return grouped(items, plan, small=one_list)


def _is_own(state: State, plan: Plan, items: Sequence[Item]) -> bool:
    """Return whether the assistant that has made the change reviews it itself, by its own list.

    A plan whose review has begun with the questions for others goes on with them.
    """
    known = {i.check for i in items if i.check in BY_ID} - {CRITERIA}
    known = known or {check for one in plan.reviews for check in one.judged} - {CRITERIA}
    return is_own_list(known) if known else bool(state.run.alone)


def due_again(state: State, phase: Phase, plan: Plan) -> dict[Name, str]:
    """Return the MUSTs that a phase which has passed would ask now, each with the reason."""
    passed = state.database.passed_reviews(state.run)
    answered = {of: [Item(**row) for row in rows] for of, rows in passed.items()}
    reasons = {}
    before = answered.get(phase, [])
    for item in _items(state, phase, plan, before, own=_is_own(state, plan, before)):
        if item.status == TODO and needs_evidence(item):
            name = (item.check, item.scope)
            reasons[name] = "nobody has been asked it"
            for of, rows in answered.items():
                evidence = Evidence(state, of, plan, documented=True)
                for old in (i for i in rows if (i.check, i.scope) == name):
                    changed = "what it is about has changed since it was answered"
                    reasons[name] = look_up(evidence, old)[1] or changed
    return reasons


def _items(
    state: State, phase: Phase, plan: Plan, previous: Sequence[Item], *, own: bool
) -> list[Item]:
    """Return what a phase asks, with the answers that still hold, without a group."""
    scopes = Scopes(plan, state)
    shown = _looked_up(state, phase, plan, previous)
    found = _found(state, plan) if own and phase != "plan-design" else {}
    selection, earlier = _selected(state, phase, plan, previous, scopes, own=own)
    items = items_for(
        [name for name in selection.due if name[0] != FIGURES or found.get("claims")],
        plan, scopes, previous=shown, earlier=earlier, found=found,
        unwritten=unwritten_documents(state, plan) if phase in CODE_PHASES else (),
    )  # fmt: skip
    added = [i for i in shown if i.by == REVIEWER and not is_of_table(i)]
    return items + [asked_again(i, scopes.digest(i.check, i.scope)) for i in added]


def _found(state: State, plan: Plan) -> dict[str, str]:
    """Return what a program finds for the author to look at, by the slot of the question."""
    bearing = Bearing(state, plan)
    claims, unknown = (
        "; ".join(first_of([text for _, text in find(state, bearing)], MOST_FOUND))
        for find in (figures, promised)
    )
    return {"claims": claims and f": {claims}", "unknown": unknown and f", but {unknown}"}


def _looked_up(
    state: State, phase: Phase, plan: Plan, items: Sequence[Item], *, documented: bool = False
) -> list[Item]:
    """Return a phase's answers as their evidence stands now; where it is gone they are open."""
    if not items:
        return []
    evidence = Evidence(state, phase, plan, documented=documented)
    found = [(item, *look_up(evidence, item)) for item in items]
    return [item._replace(status=TODO) if gone else now for item, now, gone in found]


def not_asked(state: State, phase: Phase, plan: Plan, items: Sequence[Item]) -> tuple[Unasked, ...]:
    """Return the questions that a phase's review leaves out, with the reason why (RV-2)."""
    own, scopes = _is_own(state, plan, items), Scopes(plan, state)
    selection = _selected(state, phase, plan, items, scopes, own=own)[0]
    rows: dict[tuple[str, str, bool], list[str]] = {}
    for name, reason in selection.unasked.items():
        check, scope = name
        rows.setdefault((check, reason, name in selection.beyond), []).append(scope)
    return tuple(
        Unasked(
            check=check,
            scopes=tuple(s for s in scopes if s != EVERYTHING),
            reason=reason,
            triggered=triggered,
        )
        for (check, reason, triggered), scopes in rows.items()
    )


def _selected(
    state: State,
    phase: Phase,
    plan: Plan,
    previous: Sequence[Item],
    scopes: Scopes,
    *,
    own: bool,
) -> tuple[Selection, dict[Name, Item]]:
    """Return what a phase asks and does not ask, and the answers of earlier revisions.

    An answer to another phase's question counts while its scope is the same and its evidence there.
    """
    mode, of_docs = mode_for(state, plan), phase in DOCS_PHASES
    passed = {outcome.phase for outcome in plan.reviews} - {phase}
    answered: dict[Name, Item] = {}
    earlier: dict[Name, Item] = {}
    for of, rows in state.database.passed_reviews(state.run).items():
        found = [i for i in (Item(**row) for row in rows) if i.by == REVIEWER and is_of_table(i)]
        shown = _looked_up(state, of, plan, found, documented=of_docs)
        (answered if of in passed else earlier).update({(i.check, i.scope): i for i in shown})
    documented = phase in CODE_PHASES and documents_are_written(state, plan)
    selection = select(
        may_ask(phase, mode, documented=documented),
        plan,
        small=mode == "small",
        own=own,
        documented=of_docs or (mode == "small" and documented),
        asked=[(i.check, i.scope) for i in previous if i.by == REVIEWER and is_of_table(i)],
        answered=[
            name
            for name, item in answered.items()
            if item.status != TODO
            and is_same(item.digest, scopes.digest(*name), documented=of_docs)
        ],
    )
    return selection, earlier


def judged_by(items: Sequence[Item]) -> tuple[str, ...]:
    """Return the names of the predefined review questions that reviewers have answered."""
    answered = (i.check for i in items if i.by == REVIEWER and i.status != TODO)
    return tuple(dict.fromkeys(check for check in answered if check in TEXTS))


def ask_author(state: State, phase: Phase) -> None:
    """Ask an open review's questions of who has made the change, since no agent can answer (RV-9).

    Answers that agents have given stay; what is open is replaced by what the author is asked.
    """
    workflow = workflow_of(phase)
    with state.lock(f"qr own --phase {phase}"):
        plan = open_plan(state)
        state.reload()
        review = _open_review(state, workflow, phase)
        if is_own_list(i.check for i in review.items):
            return
        known = [i for i in review.items if i.status != TODO]
        asked = with_questions(state, phase, plan, known, own=True)
        review.items = [*(i for i in known if i.by != REVIEWER), *asked]
        review.verdicts = {"1": Said()} if any(i.status == TODO for i in asked) else {}
        write_review(resources.review_path(state.state_dir, phase), review)
        if not review.verdicts:
            with state.database:
                state.go_to(workflow.name, workflow.number(phase, "gate"))


class Stored(NamedTuple):
    """The result of storing a reviewer's answers: what they are, and questions still open."""

    figures: dict[str, int]  # how many answers have each status, are still to give, are added
    left: list[str]  # ids of those still to answer


def store_answers(
    state: State, phase: Phase, value: object, *, group: str | None, who: str
) -> Stored:
    """Store a reviewer's answers; the run moves on when no question is left open.

    `who` is the reviewer's role, or `host` where no agent answers. Without `group` the answers
    may be to any question. A file with anything but answers is refused as a whole; an answer
    that lacks evidence is refused while the others of its file are stored (RV-1).
    """
    workflow, rows = workflow_of(phase), read_rows(value)
    with state.lock(f"qr set --phase {phase}"):
        state.reload()
        if (before := _decided_with(state, workflow, phase, rows)) is not None:
            return before
        plan = open_plan(state)
        review = _open_review(state, workflow, phase)
        by = ASSISTANT if who == HOST else AGENT
        share = Share(group, Evidence(state, phase, plan), by)
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
        raise Refused.of(unproved, kept="the other answers of this file")
    return _stored(rows, [i.id for i in items if share.holds(i) and i.status == TODO])


def _stored(rows: Rows, left: list[str]) -> Stored:
    """Return the figures of one file of answers: what earlier rounds have answered is not its."""
    given = rows.sound.values()
    answers = [row["status"] for row in given if "id" in row]
    figures: dict[str, int] = {status: answers.count(status) for status in (PASS, FAIL)}
    figures[TODO] = len(left)
    if added := sum("check" in row for row in given):
        figures["added"] = added
    return Stored(figures, left)


def _is_open(state: State, workflow: Workflow, phase: Phase) -> bool:
    due = (workflow.number(phase, "qr"), workflow.number(phase, "gate"))
    here = state.run.workflow == workflow.name and state.run.step in due
    return here and read_kept_review(state, phase) is not None


def _decided_with(state: State, workflow: Workflow, phase: Phase, rows: Rows) -> Stored | None:
    """Return the result again if a review was decided with these answers; None otherwise.

    A host repeats the command whose output it has lost.
    """
    outcomes = state.database.outcomes(state.run, phase)
    if _is_open(state, workflow, phase) or not outcomes or rows.problems:
        return None
    path = resources.review_path(state.state_dir, phase)
    if os.path.exists(path):
        items = read_review(path).items
    else:
        items = [Item(**row) for row in outcomes[-1]["items"]]
    known = {i.id: (i.status, i.finding, i.note) for i in items if i.by == REVIEWER}
    given = [row for row in rows.sound.values() if "id" in row]
    same = [
        known.get(r["id"]) == (r["status"], r.get("finding") or None, note_of(r)) for r in given
    ]
    return _stored(rows, []) if same and all(same) else None


def _open_review(state: State, workflow: Workflow, phase: Phase) -> Review:
    if not _is_open(state, workflow, phase):
        text = f"no review of {phase} is open: the run is at {state.run.workflow} {state.run.step}"
        raise Refused("conflict", phase, text, "", state.command("step", state.run.workflow))
    return read_review(resources.review_path(state.state_dir, phase))
