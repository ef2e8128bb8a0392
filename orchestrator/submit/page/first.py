"""The first screen: what, why, how big, how sure, what to look at, and how to answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.submit.page.html import Markup, count, items, joined, tag
from orchestrator.submit.page.waves import size_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from orchestrator.submit.page.facts import Edited, Review
    from state.models import Plan

# On the first screen; all of them are further down.
_MOST_RISKS, _MOST_NAMED = 4, 3
_STAGES = {
    "gathering": "still being written, nothing to approve yet",
    "submitted": "waits for your decision",
    "executing": "approved",
}
_ALL_PASS = {1: "1 command passes", 2: "both commands pass"}
_EXERCISED = {  # tone and words
    None: ("", "whether the changed code is run by them is not known"),
    True: ("good", "they fail when the changed code is broken, so it is run"),
    False: ("bad", "they pass with the changed code broken as well, so it is not run"),
}
_LATER = ("", "not yet", "the code is written after this and comes back to you")
_MEANING = {  # of an approval, by whether intents are approved
    True: "These intents and files; their code comes back for an approval of its own.",
    False: "These bytes and nothing else are applied and committed.",
}


def first_screen(review: Review, files: Sequence[Edited]) -> Markup:
    """Return all that a decision needs; the rest of the page is its proof."""
    plan = review.plan
    parts = [
        tag("p", _standing(review), class_="standing"),
        tag("h1", _line(plan.overview.title) or "Plan", id="top"),
        tag("div", *_why_and_what(review), class_="lede"),
        tag("dl", *_figures(review, files), class_="figures"),
        tag("div", *_cautions(review, files), class_="cautions"),
    ]
    return tag("header", *parts, class_="first")


def _line(value: str) -> str:
    return " ".join(value.split())


def _standing(review: Review) -> Markup:
    run, plan = review.run, review.plan
    told = [_STAGES.get(run.stage, run.status.lower())]
    if run.commit_id:
        told = [f"{told[0]} as commit {run.commit_id[:12]}"]
    if review.approved:
        told = [t for t in told if run.stage != "executing"]
        told.append(f"approved {review.approved['at']} by {review.approved['who']}")
    parts = ["Plan for review", f"revision {plan.revision}"]
    if plan.digest:
        parts.append(f"digest {plan.digest[:12]}…")
    mark = tag("strong", ", ".join(told), class_="waits" if review.waits else None)
    return joined([joined(parts, " · "), " · ", mark])


def _why_and_what(review: Review) -> Iterator[Markup]:
    overview = review.plan.overview
    for title, text in (("Why", overview.problem), ("What", overview.approach)):
        if text.strip():
            yield tag("div", tag("h2", title), tag("p", text, class_="text"))


def _figures(review: Review, files: Sequence[Edited]) -> Iterator[Markup]:
    plan = review.plan
    rows = [
        ("How big", *_size(plan, files)),
        ("Verified", *(_LATER if review.is_intent else _verified(plan))),
        ("Reviewed", *_reviewed(plan)),
    ]
    for name, tone, *texts in rows:
        first, *rest = texts
        value = [tag("strong", first), *(tag("span", text) for text in rest)]
        yield tag("div", tag("dt", name), tag("dd", *value), class_=tone or None)


def _size(plan: Plan, files: Sequence[Edited]) -> tuple[str, ...]:
    if not files:
        intents = [intent for m in plan.milestones for intent in m.code_intents]
        named = count(len({intent.file for intent in intents}), "file")
        return "", f"{count(len(intents), 'intent')} in {named}", size_of(plan)
    added, removed = sum(f.added for f in files), sum(f.removed for f in files)
    lines = f"{count(len(files), 'file')}, +{added:,} −{removed:,}"
    kinds = [f.what for f in files if f.what != "changed"]
    odd = [f"{kinds.count(kind)} {kind}" for kind in dict.fromkeys(kinds)]
    return "", lines, size_of(plan), *([", ".join(odd)] if odd else [])


def _verified(plan: Plan) -> tuple[str, ...]:
    """Return tone and words: green only where commands pass that depend on the change."""
    if not plan.verify:
        return "bad", "NOT VERIFIED", "no command of the project has run on this plan"
    passed = [r for r in plan.verify if r.outcome == "pass"]
    failed = [r for r in plan.verify if r.outcome == "fail"]
    if failed:
        return "bad", f"{count(len(failed), 'command')} of {len(plan.verify)} fails"
    if not passed:
        return "bad", "tells nothing", "every command fails on the base as well"
    text = f"{count(len(passed), 'command')} of {len(plan.verify)} passes"
    if len(passed) == len(plan.verify):
        text = _ALL_PASS.get(len(passed)) or f"all {len(passed)} commands pass"
    tone, meaning = _EXERCISED[plan.verify[0].exercised]
    return tone, text, meaning


def _reviewed(plan: Plan) -> tuple[str, ...]:
    asked = sum(len(outcome.judged) for outcome in plan.reviews)
    if not asked:
        return "bad", "by no reviewer", "a program has checked it"
    alone = any(outcome.alone for outcome in plan.reviews)
    who = "by the assistant itself" if alone else "by reviewers"
    rounds = max(outcome.iteration for outcome in plan.reviews)
    found = f"{count(asked, 'question')} answered"
    return "" if alone else "good", who, found + (f", {rounds} rounds" if rounds > 1 else "")


def _cautions(review: Review, files: Sequence[Edited]) -> Iterator[Markup | None]:
    plan = review.plan
    risks = [
        joined(
            [tag("strong", _line(r.risk)), f" – {_line(r.mitigation)}" if r.mitigation else None]
        )
        for r in plan.planning_context.known_risks
    ]
    risks += [joined(["assumed: ", _line(text)]) for text in plan.context.assumptions]
    shown = risks[:_MOST_RISKS]
    if len(risks) > len(shown):
        shown.append(tag("a", f"{len(risks) - len(shown)} more", href="#risks"))
    parts = ("What may go wrong", shown), ("Look at this first", list(_notable(review, files)))
    for title, rows in parts:
        if rows:
            yield tag("div", tag("h2", title), items(rows))


def _notable(review: Review, files: Sequence[Edited]) -> Iterator[Markup]:
    """Yield what a careful reader would look for, each with the way to it."""
    plan = review.plan
    waiting, accepted = len(review.open_questions()), len(review.accepted)
    against = [outcome.phase for outcome in plan.reviews if outcome.reason]
    left = sum(len(outcome.open) for outcome in plan.reviews)
    rows = [
        (waiting, "questions", count(waiting, "question") + " without an answer"),
        (review.previous, "differences", "what differs from the last revision"),
        (against, "reviews", f"passed against the figures: {', '.join(against)}"),
        (left, "reviews", count(left, "finding") + " passed without blocking"),
        (accepted, "reviews", count(accepted, "finding") + " accepted by a person"),
        *((m.flags, m.id, f"{m.id} is flagged {', '.join(m.flags)}") for m in plan.milestones),
    ]
    yield from (tag("a", text, href=f"#{name}") for found, name, text in rows if found)
    for text, named in (
        ("no lines to read: ", [f for f in files if f.is_binary]),
        ("invisible characters: ", [f for f in files if f.unseen]),
        ("deleted: ", [f for f in files if f.what == "deleted"]),
    ):
        if named:
            yield joined([text, _names(named)])


def _names(files: Sequence[Edited]) -> Markup:
    shown = [tag("a", f.change.file, href=f"#{f.change.id}") for f in files[:_MOST_NAMED]]
    more = len(files) - len(shown)
    return joined([joined(shown, ", "), f" and {more} more" if more else None])


def answer_box(review: Review) -> Markup | None:
    """Return the exact texts with which the user answers; None when none is waited for."""
    if not review.waits:
        return None
    said = review.commands
    parts = [
        _way(
            "Approve",
            _MEANING[review.is_intent],
            {"typed in Claude Code": said["approve typed"], "in a terminal": said["approve"]},
        ),
        _way(
            "Remark",
            "Tell your assistant what should be different, or type it; a new revision follows.",
            {"in a terminal": said["remark"]},
        ),
        _way(
            "Reject",
            "The run ends; your files stay as they are.",
            {"in a terminal": said["reject"]},
        ),
    ]
    heading = tag("h2", "Your answer", id="answer")
    note = tag("p", "Only you type these; saying nothing approves nothing.", class_="quiet")
    box = tag("div", *parts, class_="ways")
    return tag("section", heading, note, box, class_="answer", aria_labelledby="answer")


def _way(title: str, meaning: str, typed: Mapping[str, str]) -> Markup:
    shown = [
        tag("div", tag("span", where), tag("code", text), class_="typed")
        for where, text in typed.items()
    ]
    return tag("div", tag("h3", title), tag("p", meaning), *shown)
