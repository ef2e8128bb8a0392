"""What the plan intends: request, decisions, risks, milestones, questions to the user."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.submit.page.html import Markup, count, items, joined, section, tag, titled
from orchestrator.submit.page.waves import picture
from shared.steps.slices import chosen

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from orchestrator.submit.page.facts import Edited, Review
    from state.models import Milestone, Option, Plan
    from state.reasons import Invariant, Tradeoff


def named(name: str, *children: str | None) -> Markup:
    """Return text after the id of the entity that it is about."""
    return joined([tag("span", name, class_="id"), " ", *children])


def questions(review: Review) -> Markup:
    """Return what the user was asked and answered; open questions first."""
    waiting = review.open_questions()
    rows = []
    for asked in sorted(review.plan.checkpoints, key=lambda c: c not in waiting):
        answer = review.answers.get(asked.id)
        options = items((_option(o) for o in asked.options), class_="options")
        if answer is None:
            said = tag("p", "not answered yet", class_="warn")
        else:
            labels = {o.key: o.label for o in asked.options}
            said = tag("p", "Answer: ", tag("strong", ", ".join(chosen(labels, answer))))
        rows.append(tag("div", tag("h3", named(asked.id, asked.question)), said, options))
    return section("questions", "Questions and answers", *rows)


def _option(option: Option) -> Markup:
    return joined([option.label, f" – {option.description}" if option.description else None])


def goal(review: Review) -> Markup:
    """Return the request in the user's words and how the assistant understood it."""
    plan = review.plan
    quotes = [tag("blockquote", q, class_="text") for q in plan.context.user_quotes]
    request = review.run.request
    parts = [
        tag("blockquote", request, class_="text") if request.strip() else None,
        items((_task(plan, t.id, t.text, t.out_of_scope) for t in plan.task_spec), class_="rows"),
        titled("In your words", joined(quotes) if quotes else None),
        titled("Remarks on the last revision", items(plan.remarks, class_="text rows")),
        titled("As understood", items(plan.context.current_understanding)),
    ]
    return section("goal", "Goal", *parts)


def _task(plan: Plan, name: str, text: str, out_of_scope: bool) -> Markup:
    cited = [m.id for m in plan.milestones if name in m.requirements]
    if out_of_scope:
        return named(name, tag("span", text, class_="quiet"))
    if not cited:
        return named(name, text, tag("span", " – no milestone cites it", class_="warn"))
    return named(name, text, " → ", joined(_links(cited), ", "))


def _links(names: Iterable[str]) -> list[Markup]:
    return [tag("a", name, href=f"#{name}") for name in names]


def decisions(plan: Plan) -> Markup:
    """Return each decision with its reasons and rejected alternatives."""
    context = plan.planning_context
    rows = []
    for decision in context.decision_log:
        rejected = [a for a in context.rejected_alternatives if a.decision_ref == decision.id]
        steps = [s.strip() for s in decision.reasoning_chain.replace("->", "\n").split("\n")]
        reasons = [tag("li", step) for step in steps if step]
        rows.append(
            tag(
                "article",
                tag("h3", named(decision.id, decision.decision), id=decision.id),
                tag("ol", *reasons, class_="chain") if reasons else None,
                items((_rejected(a.id, a.alternative, a.rejection_reason) for a in rejected),
                      class_="rejected"),
            )
        )  # fmt: skip
    known = {d.id for d in context.decision_log}
    rest = [
        _rejected(a.id, a.alternative, a.rejection_reason)
        for a in context.rejected_alternatives
        if a.decision_ref not in known
    ]
    rest += [_rejected("", text, "") for text in plan.context.rejected_alternatives]
    return section("decisions", "Decisions", *rows, items(rest, class_="rejected"))


def _rejected(name: str, alternative: str, reason: str) -> Markup:
    why = f" – {reason}" if reason else None
    return joined([tag("span", "not chosen", class_="no"), " ", named(name, alternative, why)])


def risks(plan: Plan) -> Markup:
    """Return risks, assumptions, constraints and what must stay true."""
    context, knowledge = plan.planning_context, plan.invisible_knowledge
    known = [
        named(r.id, tag("strong", r.risk), f" – {r.mitigation}" if r.mitigation else None,
              *((" ", tag("code", r.anchor)) if r.anchor else ()))
        for r in context.known_risks
    ]  # fmt: skip
    limits = [
        named(c.id, f"{c.type} " if c.type else None, c.description,
              f" ({c.source})" if c.source else None)
        for c in context.constraints
    ]  # fmt: skip
    parts: list[tuple[str, list[str]]] = [
        ("Risks", [*known]),
        ("Assumptions", list(plan.context.assumptions)),
        ("Constraints", [*plan.context.constraints, *limits]),
        ("Stays true", [_stated(i) for i in knowledge.invariants]),
        ("Given up", [_stated(t) for t in knowledge.tradeoffs]),
    ]
    found = [titled(title, items(rows, class_="rows")) for title, rows in parts]
    return section("risks", "Risks, assumptions, constraints", *found)


def _stated(value: Invariant | Tradeoff | str) -> str:
    return value if isinstance(value, str) else named(value.id, value.text)


def milestones(plan: Plan, files: Sequence[Edited]) -> Markup:
    """Return the picture of the waves, then each milestone with what it must do."""
    if not plan.milestones:
        return Markup()
    own = {m.id: [f for f in files if f.milestone is m] for m in plan.milestones}
    drawn = picture(plan, lambda m: _beside(m, own[m.id]))
    every = [_milestone(m, own[m.id]) for m in plan.milestones]
    return section("milestones", "Waves and milestones", drawn, *every)


def _beside(milestone: Milestone, files: Sequence[Edited]) -> Markup:
    """Return the text beside a milestone's mark in the picture."""
    added, removed = sum(f.added for f in files), sum(f.removed for f in files)
    size = f"{count(len(files), 'file')}, +{added:,} −{removed:,}" if files else ""
    needs = f"after {', '.join(milestone.depends_on)}" if milestone.depends_on else ""
    quiet = " · ".join(part for part in (size, needs) if part)
    link = tag("a", named(milestone.id, milestone.name), href=f"#{milestone.id}")
    return tag("div", link, tag("span", quiet, class_="quiet"))


def _milestone(milestone: Milestone, files: Sequence[Edited]) -> Markup:
    return tag(
        "article",
        tag("h3", named(milestone.id, milestone.name), id=milestone.id),
        items(_intents(milestone), class_="rows"),
        tag("dl", *_terms(milestone, files), class_="terms"),
    )


def _intents(milestone: Milestone) -> Iterator[Markup]:
    for intent in milestone.code_intents:
        where = intent.file + (f":{intent.function}" if intent.function else "")
        refs = [joined([" ", link]) for link in _links(intent.decision_refs)]
        yield named(intent.id, tag("code", where), " ", intent.behavior, *refs)


def _terms(milestone: Milestone, files: Sequence[Edited]) -> Iterator[Markup]:
    tests, scenarios = milestone.tests, milestone.tests.scenarios
    shown = [tag("code", file) for file in tests.files]
    if not shown and tests.skip_reason:
        shown = [joined(["none: ", tests.skip_reason])]
    changes = [
        joined([tag("a", f.change.file, href=f"#{f.change.id}"), f" {f.figures or f.what}"])
        for f in files
    ]
    rows: list[tuple[str, Sequence[str]]] = [
        ("accepted when", milestone.acceptance_criteria),
        ("tests", shown),
        ("scenarios", [*scenarios.normal, *scenarios.edge, *scenarios.error]),
        ("waits for", milestone.waits_for),
        ("flags", milestone.flags),
        ("changes", changes),
    ]
    for name, values in rows:
        if values:
            yield tag("div", tag("dt", name), *(tag("dd", value) for value in values))
