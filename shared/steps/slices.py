"""The parts of a plan that one agent or reviewer needs, as lines of text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shared.contents import (
    ALTERNATIVES,
    AUTHOR,
    CARRIER,
    DECISIONS,
    DESIGN_REVIEWER,
    REVIEWER,
    RISKS,
    STATED,
    lines_of,
    milestone_lines,
)
from state.milestones import changes_of, files_of
from state.phases import CODE_PHASES, DOCS_PHASES

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from state import plan_table, reasons
    from state.milestones import AnyPlan
    from state.plan_table import Checkpoint, Milestone, Plan

_CONTEXT = (
    ("constraint", "constraints"), ("assumed", "assumptions"), ("the user said", "user_quotes"),
    ("not wanted", "rejected_alternatives"), ("not in the code", "invisible_knowledge"),
)  # fmt: skip
# What an agent need not find out again, and a reviewer should find out for itself.
_FOUND = (("entry point", "entry_points"), ("known", "current_understanding"))
# What documentation has to say, or must not contradict.
_DOCUMENTED = tuple(
    c for c in _CONTEXT if c[1] in ("constraints", "user_quotes", "invisible_knowledge")
)


def task_lines(plan: Plan) -> list[str]:
    """Return what the user asked for and remarked since, as lines of text with their ids."""
    lines = [f"{task.id}: {task.text}" for task in plan.task_spec]
    # What the author says has become of a remark; nothing where milestones do it.
    said = [(one, f" → {one.outcome}" if one.outcome else "") for one in plan.user_remarks]
    return lines + [f"{one.id}: {one.text}{outcome}" for one, outcome in said]


def context_lines(plan: Plan, keys: Iterable[tuple[str, str]] = _CONTEXT) -> list[str]:
    """Return the context that the user gave besides the task, as lines of text."""
    return [f"{name}: {text}" for name, key in keys for text in getattr(plan.context, key)]


def concerned(plan: Plan, items: Iterable[dict[str, Any]]) -> list[str]:
    """Return the ids of the milestones that review items name, by id, by file or by a part's id.

    An item that names none is about all of them; so is an empty list.
    """
    names = {m.id: {m.id, *(n for e in entities_of(m) for n in _names(e))} for m in plan.milestones}
    found: set[str] = set()
    for item in items:
        text = f"{item['scope']} {item['finding'] or ''}"
        named = {m for m, own in names.items() if any(name in text for name in own)}
        found |= named or set(names)
    return [m for m in names if m in found or not found]


def _names(entity: Any) -> list[str]:  # noqa: ANN401 – any entity
    return [entity.id, *filter(None, [getattr(entity, "file", None)])]


def work_slice(plan: Plan, phase: str, own: Collection[str]) -> str:
    """Return the plan's text for a phase's work: milestones in `own` in full, others by name."""
    lines = task_lines(plan) if phase == "plan-design" else []
    for milestone in plan.milestones:
        lines.append(f"{milestone.id} v{milestone.version} {milestone.name}")
        if phase != "plan-design" and milestone.id in own:
            lines += _says(milestone, AUTHOR)
    return "\n".join(lines)


def agent_slice(plan: Plan, phase: str) -> str:
    """Return the plan's text for an agent that starts a phase and has seen nothing of the run."""
    if phase == "plan-design":
        return "\n".join([*task_lines(plan), *context_lines(plan), *context_lines(plan, _FOUND)])
    lines = [*task_lines(plan), *context_lines(plan), plan.overview.approach, *_reasons(plan)]
    if phase in CODE_PHASES:
        lines += [
            f"{milestone.id} is accepted when: {text}"
            for milestone in plan.milestones
            for text in milestone.acceptance_criteria
        ]
    return "\n".join([*lines, work_slice(plan, phase, [m.id for m in plan.milestones])])


def milestone_slice(plan: Plan, name: str, *, whole: bool) -> str:
    """Return the plan's text for who writes one milestone; other milestones by name and files.

    `whole` adds the task and its context, which an agent has not seen: after the milestone itself,
    since a block cuts what is too long, and of other milestones' decisions only what was decided.
    """
    own = next(m for m in plan.milestones if m.id == name)
    lines = [f"{name} {own.name}"]
    lines += _says(own, CARRIER)
    lines += [
        f"{m.id} {m.name}, not yours: {', '.join(sorted(files_of(m)))}"
        for m in plan.milestones
        if m.id != name
    ]
    if whole:
        lines += [*task_lines(plan), *context_lines(plan), plan.overview.approach]
        lines += _reasons(plan, {ref for i in own.code_intents for ref in i.decision_refs})
    return "\n".join(lines)


def review_slice(
    plan: Plan,
    phase: str,
    own: Collection[str],
    *,
    again: bool,
    known: bool = False,
    found: str = "",
) -> str:
    """Return the plan's text for a reviewer: milestones in `own` in full, others by name.

    They stand first, since a block cuts what is too long. If it only looks `again` at what it
    `found`, or the plan is `known` to it, since it has written it, other milestones and context are
    left out; of decisions it is told what was decided, and why only where a finding names them.
    """
    lines = [
        line
        for milestone in plan.milestones
        if milestone.id in own
        for line in _asked_about(milestone, phase)
    ]
    lines += task_lines(plan)
    if again or known:
        cited = "\n".join(lines)
        for reason, decision in zip(_reasons(plan), _reasons(plan, ()), strict=True):
            name = _id_of(reason)
            lines += [reason] if again and name in found else [decision] if name in cited else []
        return "\n".join(lines)
    others = [m for m in plan.milestones if m.id not in own]
    lines += [f"{m.id} {m.name} (not asked about)" for m in others]
    lines += context_lines(plan, _DOCUMENTED if phase in DOCS_PHASES else _CONTEXT)
    lines += [plan.overview.problem, plan.overview.approach, *_reasons(plan)]
    return "\n".join(line for line in lines if line)


def _asked_about(milestone: Milestone, phase: str) -> list[str]:
    after = f", after {', '.join(milestone.depends_on)}" if milestone.depends_on else ""
    lines = [f"{milestone.id} {milestone.name}{after}"]
    return lines + _says(milestone, DESIGN_REVIEWER if phase == "plan-design" else REVIEWER)


def _says(milestone: Milestone, reader: str) -> list[str]:
    return [f"  {line}" for line in milestone_lines(milestone, reader)]


def knowledge_lines(plan: AnyPlan) -> list[str]:
    """Return what a plan says of the architecture, the flow of data and why it is built so."""
    known = plan.invisible_knowledge
    texts = {
        "architecture": _figure(known.architecture),
        "data flow": _figure(known.data_flow),
        "built so because": known.structure_rationale,
    }
    return [f"{name}: {text}" for name, text in texts.items() if text.strip()]


def _figure(figure: plan_table.Figure | reasons.Figure) -> str:
    return "\n".join(part for part in (figure.description, figure.diagram_ascii) if part.strip())


def _reasons(plan: Plan, cited: Collection[str] | None = None) -> list[str]:
    """Return decisions, risks and what the code does not show; reasons of `cited` decisions."""
    decisions = [
        row if cited is None or row.id in cited else row._replace(why="")
        for row in DECISIONS.rows(plan)
    ]
    lines = [row.line(DECISIONS.label) for row in decisions]
    lines += [line for kind in (ALTERNATIVES, RISKS, STATED) for line in lines_of(kind, plan)]
    return lines + knowledge_lines(plan)


def _id_of(line: str) -> str:
    return line.partition(":")[0].partition(",")[0]


def patches(plan: Plan, own: Collection[str], *, in_order: bool = False) -> str:
    """Return the captured changes of some milestones as diffs; binary files are only named.

    `in_order` puts each milestone's tests first, then the code that they demand, then
    documentation: a host that reads its own change anew reads it in another order than it wrote it.
    """
    parts = []
    for milestone in plan.milestones:
        tests = milestone.tests.files
        changes = changes_of(milestone) if milestone.id in own else ()
        if in_order:
            changes = tuple(sorted(changes, key=lambda c: c.file not in tests))
        parts += [(c.patch or "") if c.encoding is None else f"binary: {c.file}\n" for c in changes]
    return "".join(parts)


def entity_lines(plan: Plan, own: Collection[str]) -> str:
    """Return a line for each part of the plan, with the version that an edit of the part must name.

    Of milestones other than `own` only their own line.
    """
    overview = plan.overview
    lines = [f"{t.id}: {t.text}" for t in plan.task_spec]
    message = " ".join(f"{overview.title}: {overview.approach}".split())
    lines += [f"overview v{overview.version} {message}"]
    lines += [f"knowledge v{plan.invisible_knowledge.version}"]
    whole = tuple(m for m in plan.milestones if m.id in own)
    shown = [e for part in {**vars(plan), "milestones": whole}.values() for e in entities_of(part)]
    lines += [
        " ".join(filter(None, [e.id, f"v{e.version}", getattr(e, "file", None), _title(e)]))
        for e in [*shown, *(m for m in plan.milestones if m.id not in own)]
    ]
    return "\n".join(lines)


def entities_of(value: object) -> list[Any]:
    """Return all parts of a plan (milestones, intents and so on) in order, except code changes."""
    if isinstance(value, tuple):
        return [e for item in value for e in entities_of(item)]
    fields = getattr(value, "__dict__", {})
    own = [value] if "id" in fields and "version" in fields else []
    return own + [
        e for k, item in fields.items() if not k.endswith("changes") for e in entities_of(item)
    ]


def _title(entity: Any) -> str:  # noqa: ANN401 – any entity
    names = ("title", "name", "decision", "alternative", "description", "risk", "text", "behavior")
    return next((str(text) for n in names if (text := getattr(entity, n, ""))), "")


def answer_lines(checkpoints: Iterable[Checkpoint], answers: dict[str, list[str]]) -> str:
    """Return the user's answers to the questions at checkpoints, as lines of text."""
    return "\n".join(
        f"{c.id} {c.question} → "
        f"{', '.join(chosen({o.key: o.label for o in c.options}, answers[c.id]))}"
        for c in checkpoints
        if c.id in answers
    )


def chosen(labels: Mapping[str, str], choices: Iterable[str]) -> list[str]:
    """Return a checkpoint's answer as the user read it: option labels in place of option keys."""
    return [labels.get(choice, choice) for choice in choices]
