"""The plan's design on the review page: request, decisions, risks, milestones, questions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.submit.page.html import Element, Items, Section, Titled, listed
from orchestrator.submit.page.waves import picture
from quality_reviewer.criteria import judged_criteria
from shared.builders import counted
from shared.contents import ACCEPTED, INTENTS, MILESTONE, PERSON
from shared.steps.slices import chosen, knowledge_lines
from state.models import TaskItem
from state.statements import DECLINED, DONE, cited_by, outcome_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from orchestrator.submit.page.facts import Edited, Facts
    from orchestrator.submit.page.html import Node
    from shared.contents import Row
    from state.models import Milestone, Option, Plan, Remark
    from state.reasons import Invariant, RejectedAlternative, Tradeoff


def with_id(name: Node, *children: Node) -> Node:
    """Return a text prefixed with the id of the plan entity that it is about."""
    return [Element("span", name, {"class": "id"}), " ", children]


def questions(facts: Facts) -> Section:
    """Return the questions that the user was asked, with answers; unanswered ones come first."""
    waiting = facts.open_questions()
    rows = []
    for asked in sorted(facts.plan.checkpoints, key=lambda c: c not in waiting):
        answer = facts.answers.get(asked.id)
        if answer is None:
            said = Element("p", "not answered yet", {"class": "warn"})
        else:
            labels = {o.key: o.label for o in asked.options}
            said = Element("p", ["Answer: ", Element("strong", ", ".join(chosen(labels, answer)))])
        heading = Element("h3", with_id(asked.id, asked.question))
        options = Items([_option(o) for o in asked.options], "options")
        rows.append(Element("div", [heading, said, options]))
    return Section("questions", "Questions and answers", rows)


def _option(option: Option) -> Node:
    return [option.label, f" – {option.description}" if option.description else None]


def goal(facts: Facts) -> Section:
    """Return the user's request in their own words and how the assistant understood it."""
    plan, request = facts.plan, facts.run.request
    quotes = [Element("blockquote", q, {"class": "text"}) for q in plan.context.user_quotes]
    tasks = [_statement(plan, task) for task in plan.task_spec]
    remarks = [_statement(plan, remark) for remark in plan.user_remarks]
    return Section("goal", "Goal", [
        Element("blockquote", request, {"class": "text"}) if request.strip() else None,
        Items(tasks, "rows"),
        Titled("In your words", quotes),
        Titled("Your remarks", Items(remarks, "rows")),
        Titled("Notes on this revision", Items(plan.remarks, "text rows")),
        Titled("As understood", Items(plan.context.current_understanding)),
    ])  # fmt: skip


def _statement(plan: Plan, one: TaskItem | Remark) -> Node:
    """Return an entry of the task or a remark with what has become of it (SD-3)."""
    if isinstance(one, TaskItem) and one.out_of_scope:
        return with_id(one.id, Element("span", one.text, {"class": "quiet"}))
    outcome = outcome_of(plan, one)
    if outcome.startswith(DONE):
        return with_id(one.id, one.text, " → ", DONE, listed(_links(cited_by(plan, one.id))))
    if outcome:
        tone = "warn" if outcome.startswith(DECLINED) else "quiet"
        return with_id(one.id, one.text, Element("span", f" → {outcome}", {"class": tone}))
    return with_id(one.id, one.text, Element("span", " – no milestone cites it", {"class": "warn"}))


def _links(names: Iterable[str]) -> list[Node]:
    return [Element("a", name, {"href": f"#{name}"}) for name in names]


def decisions(plan: Plan) -> Section:
    """Return each design decision with its reasons and rejected alternatives, as page elements."""
    context = plan.planning_context
    rows: list[Node] = []
    for decision in context.decision_log:
        rejected = [a for a in context.rejected_alternatives if a.decision_ref == decision.id]
        steps = [s.strip() for s in decision.reasoning_chain.replace("->", "\n").split("\n")]
        reasons = [Element("li", step) for step in steps if step]
        rows.append(Element("article", [
            Element("h3", with_id(decision.id, decision.decision), {"id": decision.id}),
            Element("ol", reasons, {"class": "chain"}) if reasons else None,
            Items([_alternative(a) for a in rejected], "rejected"),
        ]))  # fmt: skip
    known = {d.id for d in context.decision_log}
    rest = [_alternative(a) for a in context.rejected_alternatives if a.decision_ref not in known]
    rest += [_rejected("", text) for text in plan.context.rejected_alternatives]
    return Section("decisions", "Decisions", [*rows, Items(rest, "rejected")])


def _alternative(rejected: RejectedAlternative) -> Node:
    why = f" – {rejected.rejection_reason}" if rejected.rejection_reason else None
    return _rejected(rejected.id, rejected.alternative, why)


def _rejected(name: str, alternative: str, why: str | None = None) -> Node:
    return [Element("span", "not chosen", {"class": "no"}), " ", with_id(name, alternative, why)]


def risks(plan: Plan) -> Section:
    """Return the plan's risks, assumptions, constraints and invariants, as page elements."""
    context, knowledge = plan.planning_context, plan.invisible_knowledge
    known = [
        with_id(r.id, Element("strong", r.risk), f" – {r.mitigation}" if r.mitigation else None,
              [" ", Element("code", r.anchor)] if r.anchor else None)
        for r in context.known_risks
    ]  # fmt: skip
    limits = [
        with_id(c.id, f"{c.type} " if c.type else None, c.description,
              f" ({c.source})" if c.source else None)
        for c in context.constraints
    ]  # fmt: skip
    return Section("risks", "Risks, assumptions, constraints", [
        Titled("Risks", Items(known, "rows")),
        Titled("Assumptions", Items(plan.context.assumptions, "rows")),
        Titled("Constraints", Items([*plan.context.constraints, *limits], "rows")),
        Titled("Stays true", Items([_stated(i) for i in knowledge.invariants], "rows")),
        Titled("Given up", Items([_stated(t) for t in knowledge.tradeoffs], "rows")),
        Titled("Architecture and data flow", [
            Element("pre", text) for text in knowledge_lines(plan)
        ]),
    ])  # fmt: skip


def _stated(value: Invariant | Tradeoff | str) -> Node:
    return value if isinstance(value, str) else with_id(value.id, value.text)


def milestones(plan: Plan, files: Sequence[Edited]) -> Section:
    """Return the drawing of the waves of milestones, then each milestone with what it must do."""
    own = {m.id: [f for f in files if f.milestone is m] for m in plan.milestones}
    drawn = picture(plan, {m.id: _beside(m, own[m.id]) for m in plan.milestones})
    every = [_milestone(plan, m, own[m.id]) for m in plan.milestones]
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


def _milestone(plan: Plan, milestone: Milestone, files: Sequence[Edited]) -> Node:
    return Element("article", [
        Element("h3", with_id(milestone.id, milestone.name), {"id": milestone.id}),
        Items(_intents(milestone), "rows"),
        Element("dl", _terms(plan, milestone, files), {"class": "terms"}),
    ])  # fmt: skip


def _intents(milestone: Milestone) -> list[Node]:
    rows = []
    for intent in milestone.code_intents:
        where = intent.file + (f":{intent.function}" if intent.function else "")
        refs = [[" ", link] for link in _links(intent.decision_refs)]
        rows.append(with_id(intent.id, Element("code", where), " ", intent.behavior, refs))
    return rows


def _accepted_when(plan: Plan, milestone: Milestone) -> list[Node]:
    """Return the acceptance criteria, each with what its reviewer named to show it (RV-7)."""
    criteria, together = judged_criteria(plan, milestone)
    rows: list[Node] = [
        [text, Element("span", f" – shown by {evidence}", {"class": "quiet"}) if evidence else None]
        for text, evidence in criteria
    ]
    both = Element("span", f"all of it shown by {together}", {"class": "quiet"})
    return [*rows, both] if together else rows


def _terms(plan: Plan, milestone: Milestone, files: Sequence[Edited]) -> list[Node]:
    rows: dict[str, Sequence[Node]] = {ACCEPTED.title: _accepted_when(plan, milestone)}
    for content in MILESTONE:
        if content not in (ACCEPTED, INTENTS) and PERSON in content.shown:
            rows[content.title] = [_said(row) for row in content.rows(milestone)]
    rows["changes"] = [
        [Element("a", f.change.file, {"href": f"#{f.change.id}"}), f" {f.figures or f.what}"]
        for f in files
    ]
    return [
        Element("div", [Element("dt", name), [Element("dd", value) for value in values]])
        for name, values in rows.items()
        if values
    ]


def _said(row: Row) -> Node:
    return row.line("") if row.text else listed([Element("code", file) for file in row.files])
