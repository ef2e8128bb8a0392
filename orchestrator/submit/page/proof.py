"""The evidence for the plan: verify results with their tree, and the history of its reviews."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from orchestrator.submit.page.design import named
from orchestrator.submit.page.html import Markup, count, items, joined, section, tag, titled

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from orchestrator.submit.page.facts import Review
    from state.results import Outcome, VerifyResult

_OUTCOMES = {
    "pass": ("passes", "good"),
    "fail": ("fails", "bad"),
    "known-failure": ("fails on the base as well: tells nothing of the change", "warn"),
}
_BASES = {"pass": "passed", "fail": "failed", "not-run": "was not run"}
_EXERCISED = {
    True: "With the changed code broken it fails, so some of it is run.",
    False: "With the changed code broken it still passes, so none of it is run.",
}
_DECIDED = {
    "script": "by program: nothing blocked",
    "host": "by the assistant",
    "person": "by a person",
}


def verified(review: Review) -> Markup:
    """Return the results of the verify commands and the tree on which they ran."""
    plan = review.plan
    if not plan.verify and review.is_intent:
        return section("verify", "Verify", tag("p", "There is no code to verify yet."))
    if not plan.verify:
        text = "NOT VERIFIED: no command of the project has run on this plan."
        return section("verify", "Verify", tag("p", text, class_="bad"))
    trees = {r.tree for r in plan.verify}
    captured = {o.tree for o in plan.reviews if o.phase == "plan-code" and o.tree}
    notes = [joined(["They ran on tree ", tag("code", tree), "."]) for tree in sorted(trees)]
    if plan.base is not None:
        base = [f"The base is commit {plan.base.commit[:12]} on ", tag("code", plan.base.branch)]
        extra = " with uncommitted work on top" if plan.base.snapshot else ""
        notes.append(joined([*base, f"{extra}, tree ", tag("code", plan.base.tree), "."]))
    if captured and not captured <= trees:
        notes.append(tag("span", "The reviewed code was another tree.", class_="warn"))
    proof = {_EXERCISED[r.exercised] for r in plan.verify if r.exercised is not None}
    rows = items((_result(r) for r in plan.verify), class_="rows")
    return section("verify", "Verify", rows, items([*sorted(proof), *notes], class_="quiet"))


def _result(result: VerifyResult) -> Markup:
    said, tone = _OUTCOMES[result.outcome]
    base = f" (base: {_BASES[result.baseline]})"
    return joined([tag("code", result.command), " ", tag("strong", said, class_=tone), base])


def reviews(review: Review) -> Markup:
    """Return each phase with its rounds, findings that did not block, and accepted ones."""
    rows = [tag("article", *_phase(review, outcome)) for outcome in review.plan.reviews]
    passed = {o.phase for o in review.plan.reviews}
    going = [o for o in review.outcomes if o["phase"] not in passed]
    history = items((_round(o) for o in going), class_="rows")
    unread = not any(o.judged for o in review.plan.reviews)
    note = tag("p", "No reviewer has read this plan.", class_="warn") if unread else None
    return section("reviews", "Review history", note, *rows, history, _accepted(review))


def _phase(review: Review, outcome: Outcome) -> Iterator[Markup | None]:
    yield tag("h3", f"{outcome.phase}: passed in round {outcome.iteration}")
    said = f"Decided {_DECIDED[outcome.by]}"
    if outcome.judged:
        who = "the assistant itself" if outcome.alone else "reviewers"
        asked = count(len(outcome.judged), "question")
        said += f"; {who} answered {asked} ({outcome.review} review)"
    yield tag("p", f"{said}.")
    if outcome.tree:
        yield tag("p", "Reviewed tree: ", tag("code", outcome.tree), class_="quiet")
    if outcome.reason:
        yield tag("p", tag("strong", "Against the figures: "), outcome.reason, class_="warn")
    failed = [o for o in review.outcomes if o["phase"] == outcome.phase and o["verdict"] != "pass"]
    yield items((_round(o) for o in failed), class_="rows")
    if outcome.open:
        yield tag("p", "Passed without blocking:")
        yield items(
            (named(i.id, tag("span", i.severity, class_="no"), " ", i.finding)
             for i in outcome.open),
            class_="rows",
        )  # fmt: skip


def _round(outcome: Mapping[str, Any]) -> Markup:
    """Return a gate's decision and what it sent back."""
    found = [i for i in outcome["items"] if i.get("status") == "FAIL"]
    passed = outcome["verdict"] == "pass"
    head = f"Round {outcome['iteration']} of {outcome['phase']} " + (
        "passed" if passed else "was sent back"
    )
    if outcome["verdict"] != outcome["computed"]:
        head += f", by the figures: {outcome['computed']}"
    reason = f" – {outcome['reason']}" if outcome["reason"] else None
    return joined([tag("strong", head), reason, items(map(_finding, found))])


def _finding(item: Mapping[str, Any]) -> Markup:
    said = f"{item.get('scope', '')}: {item.get('finding') or ''}"
    severity = tag("span", str(item.get("severity", "")), class_="no")
    return named(str(item.get("id", "")), severity, " ", said)


def _accepted(review: Review) -> Markup | None:
    rows = items(
        (joined([f"{phase}, {check} at {scope}: ", tag("em", reason)])
         for phase, check, scope, reason in review.accepted),
        class_="rows",
    )  # fmt: skip
    return titled("Accepted by a person", rows)
