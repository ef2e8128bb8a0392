"""The review page's first screen: what, why, how big, how sure, what to look at, how to answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.reviewed import (
    answers_of,
    beyond_limit,
    passed_with,
    reviewers_of,
)
from orchestrator.submit.page.html import Element, Items, Section, listed
from orchestrator.submit.page.waves import size_of
from shared.builders import counted
from shared.contents import ASSUMED, FIRST, LIMITS, NOT_BORNE_OUT, RISKS
from shared.mode.guarded import NOT_GUARDED
from shared.qr.types import ASSISTANT
from state.actors import PERSON, UNPROVEN
from state.channels import label
from state.statements import DECLINED

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from orchestrator.submit.outcomes import Rows
    from orchestrator.submit.page.facts import Edited, Facts
    from orchestrator.submit.page.html import Node
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
    None: ("", "whether the changed code is run is not known"),
    True: ("good", "the changed code is run, as breaking it shows"),
    False: ("bad", "the changed code is not run: broken, it passes as well"),
}
_LATER = ("", "not yet", "the code is written after this and comes back to you")
_MEANING = {  # of an approval, by whether intents are approved
    True: "These intents and files; their code comes back for an approval of its own.",
    False: "These bytes and nothing else are applied and committed.",
}


def first_screen(facts: Facts, files: Sequence[Edited], says: Mapping[str, Rows]) -> Node:
    """Return the review page's first screen, with all that a person needs to decide on the plan."""
    parts = [
        Element("p", _standing(facts), {"class": "standing"}),
        Element("h1", _line(facts.plan.overview.title) or "Plan", {"id": "top"}),
        Element("div", _why_and_what(says[FIRST]), {"class": "lede"}),
        Element("dl", _figures(facts, files), {"class": "figures"}),
        Element("div", _cautions(facts, files, says), {"class": "cautions"}),
    ]
    return Element("header", parts, {"class": "first"})


def _line(value: str) -> str:
    return " ".join(value.split())


def _standing(facts: Facts) -> Node:
    run, plan = facts.run, facts.plan
    told = [run.ending or _STAGES.get(run.stage, run.status.lower())]
    if facts.reverted:
        told.append(f"by commit {facts.reverted[:12]}")
    if facts.approved:
        told = [t for t in told if run.stage != "executing"]
        how = f" · {label(facts.channel)}" if facts.channel else ""
        who = facts.approved["who"]
        who = PERSON if how and who == UNPROVEN else who  # the word for how says it
        told.append(f"approved {facts.approved['at']} by {who}{how}")
    parts = ["Plan for review", f"revision {plan.revision}"]
    if plan.digest:
        parts.append(f"digest {plan.digest[:12]}…")
    mark = Element("strong", ", ".join(told), {"class": "waits" if facts.waits else None})
    return [" · ".join(parts), " · ", mark]


def _why_and_what(about: Rows) -> list[Node]:
    return [
        Element("div", [Element("h2", content.title), Element("p", row.text, {"class": "text"})])
        for content, rows in about.items()
        for row in rows
    ]


def _figures(facts: Facts, files: Sequence[Edited]) -> list[Node]:
    plan = facts.plan
    figures = {
        "How big": _size(plan, files),
        "Verified": _LATER if facts.is_intent else _verified(plan),
        "Reviewed": _reviewed(plan),
    }
    rows: list[Node] = []
    for name, (tone, first, *rest) in figures.items():
        value = [Element("strong", first), [Element("span", text) for text in rest]]
        figure = [Element("dt", name), Element("dd", value)]
        rows.append(Element("div", figure, {"class": tone or None}))
    return rows


def _size(plan: Plan, files: Sequence[Edited]) -> tuple[str, ...]:
    if not files:
        intents = [intent for m in plan.milestones for intent in m.code_intents]
        named = counted(len({intent.file for intent in intents}), "file")
        return "", f"{counted(len(intents), 'intent')} in {named}", size_of(plan)
    added, removed = sum(f.added for f in files), sum(f.removed for f in files)
    lines = f"{counted(len(files), 'file')}, +{added:,} −{removed:,}"
    kinds = [f.what for f in files if f.what != "changed"]
    odd = [f"{kinds.count(kind)} {kind}" for kind in dict.fromkeys(kinds)]
    return "", lines, size_of(plan), *([", ".join(odd)] if odd else [])


def _verified(plan: Plan) -> tuple[str, ...]:
    """Return colour and words for the verify result; green only if it depends on the change."""
    if not plan.verify:
        return "bad", "NOT VERIFIED", "no command of the project has run on this plan"
    passed = [r for r in plan.verify if r.outcome == "pass"]
    failed = [r for r in plan.verify if r.outcome == "fail"]
    if failed:
        return "bad", f"{counted(len(failed), 'command')} of {len(plan.verify)} fails"
    if not passed:
        return "bad", "tells nothing", "every command fails on the base as well"
    text = f"{counted(len(passed), 'command')} of {len(plan.verify)} passes"
    if len(passed) == len(plan.verify):
        text = _ALL_PASS.get(len(passed)) or f"all {len(passed)} commands pass"
    tone, meaning = _EXERCISED[plan.verify[0].exercised]
    return tone, text, meaning


def _reviewed(plan: Plan) -> tuple[str, ...]:
    """Return colour and words for who read the plan; green only if agents alone answered."""
    counts = answers_of(plan.reviews)
    if not counts:
        return "bad", "by nobody", "a program alone has checked it"
    rounds = max(outcome.iteration for outcome in plan.reviews)
    tone = "" if ASSISTANT in counts else "good"
    more = [f"{rounds} rounds" if rounds > 1 else "", beyond_limit(plan.reviews)]
    return tone, f"by {reviewers_of(plan.reviews)}", *filter(None, more)


def _cautions(facts: Facts, files: Sequence[Edited], says: Mapping[str, Rows]) -> list[Node]:
    risks: list[Node] = [
        [
            content.label and f"{content.label}: ",
            Element("strong", _line(row.text)),
            row.why and f" – {_line(row.why)}",
        ]
        for content in (RISKS, ASSUMED)
        for row in says[LIMITS].get(content, ())
    ]
    shown = risks[:_MOST_RISKS]
    if more := len(risks) - len(shown):
        shown.append(Element("a", f"{more} more", {"href": "#risks"}))
    unproven: list[Node] = [
        _line(row.text) for rows in says[NOT_BORNE_OUT].values() for row in rows
    ]
    parts = {
        NOT_BORNE_OUT: unproven,
        "What may go wrong": shown,
        "Look at this first": _notable(facts, files),
    }
    return [
        Element("div", [Element("h2", title), Items(rows)]) for title, rows in parts.items() if rows
    ]


def _notable(facts: Facts, files: Sequence[Edited]) -> list[Node]:
    """Return what a careful reader of the plan should look at, each with a link to the place."""
    plan = facts.plan
    waiting, accepted = len(facts.open_questions()), len(facts.accepted)
    passed = passed_with(plan.reviews)
    against = [phase for phase, found in passed.items() if found.against]
    left = sum(len(found.open) for found in passed.values())
    declined = sum(one.outcome.startswith(DECLINED) for one in plan.user_remarks)
    notes = sum(len(found.notes) for found in passed.values())
    rows = [
        (facts.waits and not facts.guarded, "answer", NOT_GUARDED),
        (waiting, "questions", counted(waiting, "question") + " without an answer"),
        (facts.previous, "differences", "what differs from the last revision"),
        (against, "reviews", f"passed against the figures: {', '.join(against)}"),
        (left, "reviews", counted(left, "finding") + " passed without blocking"),
        (accepted, "reviews", counted(accepted, "finding") + " accepted by a person"),
        (declined, "goal", counted(declined, "remark") + " declined"),
        (notes, "reviews", counted(notes, "note") + " of the reviewers"),
        *((m.flags, m.id, f"{m.id} is flagged {', '.join(m.flags)}") for m in plan.milestones),
    ]
    odd = {
        "no lines to read: ": [f for f in files if f.is_binary],
        "invisible characters: ": [f for f in files if f.unseen],
        "deleted: ": [f for f in files if f.what == "deleted"],
    }
    return [
        *(Element("a", text, {"href": f"#{name}"}) for found, name, text in rows if found),
        *([text, _names(named)] for text, named in odd.items() if named),
    ]


def _names(files: Sequence[Edited]) -> Node:
    shown = files[:_MOST_NAMED]
    more = len(files) - len(shown)
    links = [Element("a", f.change.file, {"href": f"#{f.change.id}"}) for f in shown]
    return [listed(links), f" and {more} more" if more else None]


def answer_box(facts: Facts) -> Section:
    """Return the commands that approve, revise or reject the plan; empty unless it is submitted."""
    return Section("answer", "Your answer", _ways(facts) if facts.waits else None, "answer")


def _ways(facts: Facts) -> Node:
    said = facts.commands
    ways = [
        _way(
            "Approve",
            _MEANING[facts.is_intent],
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
    note = "Only you type these; saying nothing approves nothing."
    return [Element("p", note, {"class": "quiet"}), Element("div", ways, {"class": "ways"})]


def _way(title: str, meaning: str, typed: Mapping[str, str]) -> Node:
    shown = [
        Element("div", [Element("span", where), Element("code", text)], {"class": "typed"})
        for where, text in typed.items()
    ]
    return Element("div", [Element("h3", title), Element("p", meaning), shown])
