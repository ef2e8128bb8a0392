"""The plan's design on the review page: request, decisions, risks, milestones, questions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.submit.outcomes import rows_of_milestone
from orchestrator.submit.page.html import Element, Items, Section, Titled, listed
from orchestrator.submit.page.waves import picture
from shared.builders import counted
from shared.contents import DECIDED, DECISIONS, DRAWN, GOAL, INTENTS, LIMITS, answer_of
from state.statements import DECLINED, DONE, UNCITED

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from orchestrator.submit.outcomes import Rows
    from orchestrator.submit.page.facts import Edited, Facts
    from orchestrator.submit.page.html import Node
    from orchestrator.submit.page.places import Places
    from shared.contents import Row
    from state.models import Milestone, Option, Plan


_CHANGE = "CC-"  # the anchor of its diff


def with_id(name: Node, *children: Node) -> Node:
    """Return a text prefixed with the id of the plan entity that it is about."""
    return [Element("span", name, {"class": "id"}), " ", children]


def questions(facts: Facts, places: Places) -> Section:
    """Return the questions that the user was asked, with answers; unanswered ones come first."""
    waiting = facts.open_questions()
    rows = []
    for asked in sorted(facts.plan.checkpoints, key=lambda c: c not in waiting):
        said = Element("p", "not answered yet", {"class": "warn"})
        if asked not in waiting:
            answer = Element("strong", answer_of(asked, facts.answers))
            said = Element("p", ["Answer: ", answer, _outcome(asked.outcome, places)])
        heading = Element("h3", with_id(asked.id, asked.question), {"id": asked.id})
        options = Items([_option(o) for o in asked.options], "options")
        rows.append(Element("div", [heading, said, options]))
    return Section("questions", "Questions and answers", rows)


def _option(option: Option) -> Node:
    return [option.label, f" – {option.description}" if option.description else None]


def entry(row: Row, places: Places, label: str = "") -> Node:
    """Return a row of the list of a plan's contents as page elements; its id is an anchor."""
    anchor = None if row.id.startswith(_CHANGE) else row.id
    parts: list[Node] = [
        Element(
            "span",
            places.linked(text) if kind == "quiet" else text,
            {"class": kind, "id": anchor if kind == "id" else None},
        )
        for text, kind in ((label, "no"), (row.id, "id"), (row.kind, "quiet"))
        if text
    ]
    parts += [listed([Element("code", file) for file in row.files])] if row.files else []
    parts += [f"{row.place}:"] if row.place else []
    parts += [places.linked(row.text)] if row.text else []
    parts += _links(row.refs)
    why: Node = [" – ", places.linked(row.why)]
    shown = Element("span", why, {"class": "quiet"}) if row.why else None
    apart = [part for one in parts for part in (" ", one)][1:]
    return [apart, shown, _outcome(row.outcome, places)]


def _outcome(text: str, places: Places) -> Node:
    """Return what has become of a statement (SD-3)."""
    if text.startswith(DONE):
        return [" → ", DONE, listed(_links(text.removeprefix(DONE).split(", ")))]
    tone = "warn" if text == UNCITED or text.startswith(DECLINED) else "quiet"
    return Element("span", [" → ", places.linked(text)], {"class": tone}) if text else None


def _links(names: Iterable[str]) -> list[Node]:
    return [Element("a", name, {"href": f"#{name}"}) for name in names]


def _titled(rows: Rows, places: Places) -> list[Node]:
    """Return rows under the headings of their kinds."""
    return [
        Titled(content.title, Items([entry(row, places) for row in found], "text rows"))
        for content, found in rows.items()
    ]


def goal(request: str, rows: Rows, places: Places) -> Section:
    """Return the user's request in their own words and how the assistant understood it."""
    quoted = Element("blockquote", request, {"class": "text"}) if request.strip() else None
    return Section("goal", GOAL, [quoted, *_titled(rows, places)])


def decisions(rows: Rows, places: Places) -> Section:
    """Return each design decision with its reasons and rejected alternatives, as page elements."""
    rest = {content: found for content, found in rows.items() if content is not DECISIONS}
    decided = rows.get(DECISIONS, [])
    articles: list[Node] = []
    for decision in decided:
        steps = [s.strip() for s in decision.why.replace("->", "\n").split("\n")]
        reasons = [Element("li", step) for step in steps if step]
        articles.append(Element("article", [
            Element("h3", with_id(decision.id, decision.text), {"id": decision.id}),
            Element("ol", reasons, {"class": "chain"}) if reasons else None,
            _rejected(rest, {decision.id}, places),
        ]))  # fmt: skip
    known = {decision.id for decision in decided}
    under = {row.under for found in rest.values() for row in found}
    return Section("decisions", DECIDED, [*articles, _rejected(rest, under - known, places)])


def _rejected(rows: Rows, under: Collection[str], places: Places) -> Node:
    """Return the rows that belong to some decisions, or to none where `under` has ''."""
    own = [(c.label, row) for c, found in rows.items() for row in found if row.under in under]
    return Items([entry(row, places, label) for label, row in own], "rejected")


def risks(limits: Rows, drawn: Rows, places: Places) -> Section:
    """Return the plan's risks, assumptions, constraints and invariants, as page elements."""
    pictures = [
        Element("pre", row.line(content.label)) for content, found in drawn.items() for row in found
    ]
    return Section("risks", LIMITS, [*_titled(limits, places), Titled(DRAWN, pictures)])


def milestones(plan: Plan, files: Sequence[Edited], places: Places) -> Section:
    """Return the drawing of the waves of milestones, then each milestone with what it must do."""
    own = {m.id: [f for f in files if f.milestone is m] for m in plan.milestones}
    drawn = picture(plan, {m.id: _beside(m, own[m.id]) for m in plan.milestones})
    every = [_milestone(plan, m, own[m.id], places) for m in plan.milestones]
    content = [drawn, every] if every else None
    return Section("milestones", "Waves and milestones", content)


def _beside(milestone: Milestone, files: Sequence[Edited]) -> Node:
    """Return the text shown beside a milestone in the drawing of the waves."""
    added, removed = sum(f.added for f in files), sum(f.removed for f in files)
    size = f"{counted(len(files), 'file')}, +{added:,} −{removed:,}" if files else ""
    needs = f"after {', '.join(milestone.depends_on)}" if milestone.depends_on else ""
    quiet = " · ".join(part for part in (size, needs) if part)
    link = Element("a", with_id(milestone.id, milestone.name), {"href": f"#{milestone.id}"})
    return Element("div", [link, Element("span", quiet, {"class": "quiet"})])


def _milestone(plan: Plan, milestone: Milestone, files: Sequence[Edited], places: Places) -> Node:
    rows = rows_of_milestone(plan, milestone)
    intents = [entry(row, places) for row in rows.pop(INTENTS, [])]
    terms: dict[str, Sequence[Node]] = {
        content.title: [entry(row, places) for row in found] for content, found in rows.items()
    }
    terms["changes"] = [
        [Element("a", f.change.file, {"href": f"#{f.change.id}"}), f" {f.figures or f.what}"]
        for f in files
    ]
    shown = [
        Element("div", [Element("dt", name), [Element("dd", value) for value in values]])
        for name, values in terms.items()
        if values
    ]
    return Element("article", [
        Element("h3", with_id(milestone.id, milestone.name), {"id": milestone.id}),
        Items(intents, "rows"),
        Element("dl", shown, {"class": "terms"}),
    ])  # fmt: skip
