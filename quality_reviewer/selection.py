"""Choose which review questions a plan is asked, about what, and by which reviewer (RV-2, RV-5)."""

from __future__ import annotations

import re
from itertools import accumulate
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from quality_reviewer.items import next_number
from quality_reviewer.questions import (
    BY_ID,
    EDGES,
    FOR_OTHERS,
    MOST_LEADING,
    TEXTS,
    Question,
)
from quality_reviewer.scopes import Scopes, owner_of
from quality_reviewer.signs import riskiest_intents, riskiest_tasks, signs_of, why_left_out
from shared.qr.types import EVERYTHING, MUST, PASS, SEVERITIES, TODO, Item, item_id
from state.milestones import docs_of
from state.phases import CODE_PHASES

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from quality_reviewer.signs import Signs
    from state.models import Plan

    Name = tuple[str, str]  # of an item: its question and its scope

_SLOT = re.compile(r"\{(\w+)\}")
# How many milestones one reviewer takes, and how many reviewers there are at most.
SHARE = 3
MOST_REVIEWERS = 8
# How many questions a small plan is asked, unless more of them are MUSTs.
MOST_OF_SMALL = 7


class Selection(NamedTuple):
    """What a phase asks, as (question, scope), and why it does not ask the rest."""

    due: list[Name]
    unasked: dict[Name, str]
    # Those of `unasked` that the plan leads to: the limit, or who reviews, leaves them out.
    beyond: set[Name]


def select(  # noqa: PLR0913 – all that decides what is asked
    questions: Sequence[Question],
    plan: Plan,
    *,
    small: bool,
    own: bool = False,
    documented: bool = True,
    asked: Collection[Name],
    answered: Collection[Name],
) -> Selection:
    """Return which of a phase's questions are asked.

    `asked` are in the phase's review already and stay; `answered` are those that other phases'
    reviewers have answered. Unless the phase judges documentation (`documented`), questions about
    what milestones of documentation alone have written wait for the one that does. A small plan is
    asked at most 7 in all, or all MUSTs. Who reviews its `own` work is asked what is for the author
    alone or for all (RV-9). A question that the plan has nothing to ask about counts as one about
    the whole plan.
    """
    signs = signs_of(plan)
    due: list[Name] = []
    unasked: dict[Name, str] = {}
    beyond: set[Name] = set()
    later = () if documented else _written_later(plan)
    for question in questions:
        if question.who == "author" and not own:
            continue
        scopes = _scopes(question, plan, asked)
        if not scopes:
            unasked[question.id, EVERYTHING] = why_left_out(question)
        for scope in scopes:
            if question.phase in CODE_PHASES and scope in later:
                continue
            name = (question.id, scope)
            if name in answered:
                continue
            applies = not question.when or signs.of(scope).intersection(question.when)
            if name in asked or (applies and not (own and question.who == "others")):
                due.append(name)
            elif applies:
                unasked[name] = FOR_OTHERS
                beyond.add(name)
            else:
                unasked[name] = why_left_out(question, only_tests=signs.only_tests(scope))
    due.sort(key=lambda name: _weight(BY_ID[name[0]]))
    room = max(0, MOST_OF_SMALL - len(answered)) if small and not own else len(due)
    left = {n for n in due[room:] if BY_ID[n[0]].severity != MUST and n not in asked}
    unasked |= dict.fromkeys(left, f"a small plan is asked {MOST_OF_SMALL} questions")
    return Selection([name for name in due if name not in left], unasked, beyond | left)


def _written_later(plan: Plan) -> set[str]:
    """Return the milestones of documentation alone and their intents, which no code phase judges.

    They may be unwritten until the documentation is.
    """
    alone = [m for m in plan.milestones if m.is_documentation_only]
    return {name for m in alone for name in (m.id, *(i.id for i in m.code_intents))}


def _scopes(question: Question, plan: Plan, asked: Collection[Name]) -> list[str]:
    """Return what a question can be asked about; of riskiest entries those already asked first."""
    if question.per == "plan":
        return [EVERYTHING]
    if question.per == "milestone":
        return [m.id for m in plan.milestones]
    if question.per == "task":
        known = [*(task.id for task in plan.task_spec), *(r.id for r in plan.user_remarks)]
        riskiest = riskiest_tasks(plan, MOST_LEADING)
    else:
        known = [i.id for m in plan.milestones for i in m.code_intents]
        riskiest = riskiest_intents(plan, MOST_LEADING)
    kept = [scope for check, scope in asked if check == question.id and scope in known]
    return list(dict.fromkeys([*kept, *riskiest]))[: max(MOST_LEADING, len(kept))]


def _weight(question: Question) -> tuple[bool, int]:
    """Return where a question stands in a review: what leads it first, then by severity."""
    return question.per in ("plan", "milestone"), SEVERITIES.index(question.severity)


def items_for(  # noqa: PLR0913 – all that an item is made from
    due: Iterable[Name],
    plan: Plan,
    scopes: Scopes,
    *,
    previous: Sequence[Item],
    earlier: Mapping[Name, Item],
    unwritten: Collection[str] = (),
    found: Mapping[str, str] = MappingProxyType({}),
) -> list[Item]:
    """Return a review item for each question that is due, without a group.

    Documentation that is still `unwritten` may answer for criteria until it is written. What a
    program has `found` stands in the question that has a slot of its name.

    An answer stays while the bytes and entities of its scope do (RV-5): one of `previous`, which
    are this phase's, and a PASS of `earlier` revisions. Every other question is open.
    """
    signs, number = signs_of(plan), next_number(previous)
    before = {(item.check, item.scope): item for item in previous}
    items = []
    for check, scope in due:
        question, digest = BY_ID[check], scopes.digest(check, scope)
        item, old = before.get((check, scope)), earlier.get((check, scope))
        if item is None:
            item = Item(id=item_id(number), scope=scope, check=check, severity=question.severity)
            number += 1
            if old is not None and old.status == PASS and old.digest == digest:
                item = old._replace(id=item.id, rounds=0)
        slots = {**found, "edges": _edges(signs, scope)}
        later = [d.id for m in plan.milestones if m.id == scope for d in docs_of(m)
                 if d.id in unwritten]  # fmt: skip
        slots["later"] = f", or {', '.join(later)} for what that is still to say" if later else ""
        words = _filled(question.text, slots)
        items.append(asked_again(item, digest)._replace(asked=words))
    return items


def asked_again(item: Item, digest: str) -> Item:
    """Return a review item with the digest of its scope as it is now: open if that has changed."""
    if item.digest in (None, digest):
        return item._replace(digest=digest)
    return item._replace(digest=digest, status=TODO)


def _filled(text: str, slots: Mapping[str, str]) -> str:
    return _SLOT.sub(lambda slot: slots.get(slot[1], ""), text)


def _edges(signs: Signs, scope: str) -> str:
    """Return in words the edges that a scope shows, at which its change is judged; '' if none."""
    shown = [text for sign, text in EDGES.items() if sign in signs.of(scope)]
    return f", also for {', '.join(shown)}" if shown else ""


def grouped(items: Sequence[Item], plan: Plan, *, small: bool) -> list[Item]:
    """Return review items with the group of the reviewer who answers each.

    Questions about the whole plan are the first reviewer's; milestones follow in the plan's order.
    Those of a milestone stay together, and apart from that all have as many as the others. Only
    milestones with an open question need a reviewer: a fix or a revision leaves few of them.
    """
    owners = {i.id: owner_of(i.scope, plan) for i in items}
    milestones = [m.id for m in plan.milestones]
    todo = [owners[i.id] for i in items if i.status == TODO]
    asked = {*todo} - {None}
    count = 1 if small else min(MOST_REVIEWERS, -(-len(asked) // SHARE)) or 1
    weights = [todo.count(m) for m in milestones]
    shares = _evenly(weights, len(todo) - sum(weights), count)
    share: dict[str | None, int] = {None: 0, **dict(zip(milestones, shares, strict=True))}
    used = sorted({share[owner] for owner in owners.values()})
    return [i._replace(group=str(used.index(share[owners[i.id]]) + 1)) for i in items]


def _evenly(weights: list[int], first: int, count: int) -> list[int]:
    """Return which of `count` shares, from 0, each weight goes to: in order, and evenly.

    The first share has `first` already. Most even is what has the smallest sum of squares.
    """
    sums = [0, *accumulate(weights)]
    costs, begins = [(first + total) ** 2 for total in sums], []
    for _ in range(1, count):
        rows = [
            min((costs[k] + (sums[n] - sums[k]) ** 2, k) for k in range(n + 1))
            for n in range(len(sums))
        ]
        costs = [cost for cost, _ in rows]
        begins.append([begin for _, begin in rows])
    shares, end = [0] * len(weights), len(weights)
    for number, begin in reversed([*enumerate(begins, 1)]):
        shares[begin[end] : end] = [number] * (end - begin[end])
        end = begin[end]
    return shares


def is_of_table(item: Item) -> bool:
    """Return whether a review item is a question of the table, not a reviewer's own finding."""
    return item.check in TEXTS
