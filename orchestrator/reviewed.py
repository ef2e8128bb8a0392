"""Says who answered a plan's review questions, and what passed against the figures (RV-3)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from quality_reviewer.questions import FOR_OTHERS, TEXTS, TRIED
from shared.builders import counted
from shared.qr.types import (
    AGENT,
    ASSISTANT,
    EVERYTHING,
    FAIL,
    PASS,
    blocking_severities,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from state import plan_table, results

    Outcome = plan_table.Outcome | results.Outcome
    Unasked = plan_table.Unasked | results.Unasked
    OpenItem = plan_table.OpenItem | results.OpenItem

# Who decided that a phase passes.
DECIDED_BY = {
    "script": "by program: nothing blocked",
    "reviewer": "by its reviewers",
    "host": "by the assistant",
    "person": "by a person",
}
# What an answer says, in words for people.
STATUS = {PASS: "passed", FAIL: "failed"}
_SENTENCE = re.compile(r"(?<=[.?]) ")
NOBODY = "nobody: a program alone has checked this plan"


class Passed(NamedTuple):
    """What a phase has passed with."""

    # Findings that block in its round and that nobody accepted: it passed against the figures.
    against: Sequence[OpenItem]
    # Findings that a person accepted.
    accepted: Sequence[OpenItem]
    # Findings that do not block.
    open: Sequence[OpenItem]
    # What the reviewers tell the person (RV-8).
    notes: Sequence[str]


def answers_of(outcomes: Iterable[Outcome]) -> dict[str, int]:
    """Return how many questions were answered by `agent` and by `assistant`, in this order."""
    by = [who for outcome in outcomes for who in _answerers(outcome)]
    return {who: by.count(who) for who in (AGENT, ASSISTANT) if who in by}


def _answerers(outcome: Outcome) -> list[str]:
    if outcome.answers or not outcome.judged:
        return [answer.by for answer in outcome.answers]
    # A plan of before answers were recorded.
    return [ASSISTANT if outcome.alone else AGENT] * len(outcome.judged)


def reviewers_of(outcomes: Iterable[Outcome]) -> str:
    """Return in words who answered how many questions of these reviews."""
    # Whether it has read the change anew, as it was asked to, nobody can tell.
    names: dict[str, str] = {AGENT: "agents", ASSISTANT: "the assistant that wrote it"}
    counts = answers_of(outcomes)
    said = [f"{names[by]} ({counted(n, 'question')})" for by, n in counts.items()]
    return " and ".join(said) or NOBODY


def passed_with(outcomes: Iterable[Outcome]) -> dict[str, Passed]:
    """Return by phase what each of these reviews has passed with."""
    found: dict[str, Passed] = {}
    for one in outcomes:
        blocking = blocking_severities(one.iteration)
        waived = [item for item in one.open if item.accepted]
        rest = [item for item in one.open if not item.accepted]
        against = [item for item in rest if item.severity in blocking]
        left = [item for item in rest if item.severity not in blocking]
        found[one.phase] = Passed(against, waived, left, _notes(one))
    return found


def _notes(outcome: Outcome) -> list[str]:
    lines = []
    for answer in outcome.answers:
        if answer.note:
            asked = asked_as(answer.check, answer.scope)
            lines.append(f"{asked} {STATUS[answer.status]}: {answer.note}")
    return lines


def asked_as(check: str, *scopes: str) -> str:
    """Return a review question in words for people, with what it was asked about."""
    words = _SENTENCE.split(TEXTS.get(check, check))[0].removesuffix(".")
    about = ", ".join(scope for scope in scopes if scope != EVERYTHING)
    return f"“{words}”{about and f' of {about}'}"


def left_out(outcomes: Iterable[Outcome]) -> list[str]:
    """Return the questions that no review of a plan has asked, a line for each reason (RV-2)."""
    lines: dict[str, list[str]] = {}
    for row in _unasked(outcomes):
        lines.setdefault(row.reason, []).append(asked_as(row.check, *row.scopes))
    return [f"{reason}: {', '.join(names)}" for reason, names in lines.items()]


def beyond_limit(outcomes: Iterable[Outcome]) -> str:
    """Return how many due questions the limit has left out, or who reviews; '' if none (RV-2)."""
    rows = [row for row in _unasked(outcomes) if row.triggered]
    others = [row for row in rows if row.reason == FOR_OTHERS]
    few = [row for row in rows if row.reason != FOR_OTHERS]
    counts = ((others, FOR_OTHERS), (few, "of less weight"))
    said = (
        f"{counted(sum(len(row.scopes) or 1 for row in own), 'question')} {why} not asked"
        for own, why in counts
        if own
    )
    return "; ".join(said)


def tries(outcomes: Iterable[Outcome]) -> list[str]:
    """Return how the change was tried to be broken, a line for each statement (RV-9)."""
    return [
        f"tried to break {answer.scope}: {'; '.join(answer.evidence.splitlines())}"
        for outcome in outcomes
        for answer in outcome.answers
        if (answer.check, answer.status) == (TRIED, PASS)
    ]


def _unasked(outcomes: Iterable[Outcome]) -> list[Unasked]:
    """Return what reviews of a plan have left out; a later review of a question decides."""
    found: dict[str, list[Unasked]] = {}
    for outcome in outcomes:
        rows = outcome.unasked
        names = [*outcome.judged, *(row.check for row in rows)]
        found = {check: old for check, old in found.items() if check not in names}
        for row in rows:
            found.setdefault(row.check, []).append(row)
    return [row for rows in found.values() for row in rows]
