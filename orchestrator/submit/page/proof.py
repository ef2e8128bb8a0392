"""The evidence for a plan: results of the verify commands, their git tree, review history."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from orchestrator.reviewed import (
    DECIDED_BY,
    NOBODY,
    STATUS,
    answers_of,
    asked_as,
    left_out,
    passed_with,
    reviewers_of,
    tries,
)
from orchestrator.submit.page.design import with_id
from orchestrator.submit.page.html import Element, Items, Section, Titled
from shared.qr.types import AGENT, ASSISTANT
from shared.verified import EXERCISED, facts_of
from state.phases import CODE_PHASES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from orchestrator.reviewed import Passed
    from orchestrator.submit.page.facts import Facts
    from orchestrator.submit.page.html import Node
    from orchestrator.submit.page.places import Places
    from state.models import Plan
    from state.results import Outcome, VerifyResult

_OUTCOMES = {
    "pass": ("passes", "good"),
    "fail": ("fails", "bad"),
    "known-failure": ("fails on the base as well: tells nothing of the change", "warn"),
}
_BASES = {"pass": "passed", "fail": "failed", "not-run": "was not run"}
_WHO = {AGENT: "an agent", ASSISTANT: "the assistant itself"}


def verified(facts: Facts) -> Section:
    """Return the results of the verify commands, and the git tree on which the commands ran."""
    if facts.plan.verify:
        content = _results(facts.plan)
    elif facts.is_intent:
        content = Element("p", "There is no code to verify yet.")
    else:
        text = "NOT VERIFIED: no command of the project has run on this plan."
        content = Element("p", text, {"class": "bad"})
    return Section("verify", "Verify", content)


def _results(plan: Plan) -> Node:
    trees = {r.tree for r in plan.verify}
    captured = {o.tree for o in plan.reviews if o.phase in CODE_PHASES and o.tree}
    proof = {EXERCISED[r.exercised] for r in plan.verify if r.exercised is not None}
    notes: list[Node] = [f"{text.capitalize()}." for text in sorted(proof)]
    if captured and not captured <= trees:
        notes.append(Element("span", "The reviewed code was another tree.", {"class": "warn"}))
    return [Items([_result(r) for r in plan.verify], "rows"), Items(notes, "quiet")]


def _result(result: VerifyResult) -> Node:
    said, tone = _OUTCOMES[result.outcome]
    base = f" (base: {_BASES[result.baseline]}) · {facts_of(result)}"
    return [Element("code", result.command), " ", Element("strong", said, {"class": tone}), base]


def reviews(facts: Facts, places: Places) -> Section:
    """Return each review phase with its rounds, its non-blocking findings and accepted ones."""
    passed = passed_with(facts.plan.reviews)
    rows = [
        Element("article", _phase(facts, o, passed[o.phase], places)) for o in facts.plan.reviews
    ]
    going = [o for o in facts.outcomes if o["phase"] not in passed]
    unread = not answers_of(facts.plan.reviews)
    note = Element("p", f"Reviewed by {NOBODY}.", {"class": "warn"})
    accepted = [
        [f"{phase}, {check} at {scope}: ", Element("em", reason)]
        for phase, check, scope, reason in facts.accepted
    ]
    return Section("reviews", "Review history", [
        note if unread else None,
        rows,
        Items([_round(o) for o in going], "rows"),
        Titled("Accepted by a person", Items(accepted, "rows")),
        Titled("Not asked", Items(left_out(facts.plan.reviews), "rows")),
    ])  # fmt: skip


def _phase(facts: Facts, outcome: Outcome, passed: Passed, places: Places) -> Node:
    said = f"Decided {DECIDED_BY[outcome.by]}; read by {reviewers_of([outcome])}"
    parts: list[Node] = [
        Element("h3", f"{outcome.phase}: passed in round {outcome.iteration}"),
        Element("p", f"{said} ({outcome.review} review)."),
    ]
    if outcome.tree:
        tree = Element("code", outcome.tree)
        parts.append(Element("p", ["Reviewed tree: ", tree], {"class": "quiet"}))
    if outcome.reason:
        head = Element("strong", "Against the figures: " if passed.against else "Reason: ")
        tone = "warn" if passed.against else "quiet"
        parts.append(Element("p", [head, outcome.reason], {"class": tone}))
    failed = [o for o in facts.outcomes if o["phase"] == outcome.phase and o["verdict"] != "pass"]
    parts.append(Items([_round(o) for o in failed], "rows"))
    left = {
        "Passed against the figures:": passed.against,
        "Accepted by a person:": passed.accepted,
        "Open, which does not block in this round:": passed.open,
    }
    for title, items in left.items():
        rows = [_named_finding(i.id, i.severity, i.finding) for i in items]
        parts += [Element("p", title), Items(rows, "rows")] if rows else []
    if passed.notes:
        parts += [Element("p", "The reviewers note:"), Items(passed.notes, "rows")]
    tried = [places.linked(line) for line in tries([outcome])]
    return [*parts, Items(tried, "rows"), _answers(outcome, places)]


def _answers(outcome: Outcome, places: Places) -> Node:
    """Return who answered each question, by what evidence, folded away; nothing without any."""
    rows = [
        [
            f"{asked_as(a.check, a.scope)} {STATUS[a.status]}, {_WHO[a.by]}{a.evidence and ' – '}",
            places.linked("; ".join(a.evidence.splitlines())),
        ]
        for a in outcome.answers
    ]
    folded = [Element("summary", "Who answered which question"), Items(rows)]
    return Element("details", folded) if rows else None


def _round(outcome: Mapping[str, Any]) -> Node:
    """Return the verdict of one review round and the items that were sent back to work."""
    found = [
        _named_finding(
            str(i.get("id", "")),
            str(i.get("severity", "")),
            f"{i.get('scope', '')}: {i.get('finding') or ''}",
        )
        for i in outcome["items"]
        if i.get("status") == "FAIL"
    ]
    passed = outcome["verdict"] == "pass"
    head = f"Round {outcome['iteration']} of {outcome['phase']} " + (
        "passed" if passed else "was sent back"
    )
    if outcome["verdict"] != outcome["computed"]:
        head += f", by the figures: {outcome['computed']}"
    reason = f" – {outcome['reason']}" if outcome["reason"] else None
    return [Element("strong", head), reason, Items(found)]


def _named_finding(name: str, severity: str, said: str) -> Node:
    return with_id(name, Element("span", severity, {"class": "no"}), " ", said)
