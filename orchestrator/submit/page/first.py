"""The review page's first screen: what, why, how big, how sure, what to look at, how to answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.reviewed import passed_with
from orchestrator.submit.figures import cost, figures
from orchestrator.submit.page.facts import STAGES
from orchestrator.submit.page.html import Element, Items, Section, listed
from shared.builders import counted
from shared.contents import ASSUMED, FIRST, LIMITS, NOT_BORNE_OUT, RISKS
from shared.mode.guarded import NOT_GUARDED
from state.actors import PERSON, UNPROVEN
from state.channels import label
from state.statements import DECLINED

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from orchestrator.submit.outcomes import Rows
    from orchestrator.submit.page.facts import Edited, Facts
    from orchestrator.submit.page.html import Node

# On the first screen; all of them are further down.
_MOST_RISKS, _MOST_NAMED = 4, 3
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
    told = [run.ending or STAGES.get(run.stage, run.status.lower())]
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
    found = figures(facts.plan, files, is_intent=facts.is_intent)
    rows: list[Node] = []
    for figure in [*found, cost(facts.spent)]:
        value = [Element("strong", figure.text), [Element("span", text) for text in figure.more]]
        shown = [Element("dt", figure.title), Element("dd", value)]
        rows.append(Element("div", shown, {"class": figure.tone or None}))
    return rows


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
    """Return the commands that approve, revise or reject the plan; empty unless it is submitted.

    Before, it is the one that answers the first open question.
    """
    ways: Node = _ways(facts) if facts.waits else None
    if not facts.waits and "decide" in facts.commands:
        asked = facts.open_questions()[0]
        keys = ", ".join(option.key for option in asked.options)
        said = f"{asked.question}{keys and ' One of: '}{keys}"
        ways = Element("div", _way("Answer", said, {"in a terminal": facts.commands["decide"]}),
                       {"class": "ways"})  # fmt: skip
    return Section("answer", "Your answer", ways, "answer")


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
