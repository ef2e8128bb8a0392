"""The parts of a plan that one agent or reviewer needs, as lines of text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shared.contents import (
    AGAIN,
    AUTHOR,
    CARRIER,
    DECISIONS,
    DESIGN_REVIEWER,
    DESIGNER,
    DEVELOPER,
    DOCS_REVIEWER,
    MILESTONE,
    PLAN,
    PLANNER,
    REASONS,
    REVIEWER,
    STATEMENTS,
    WRITER,
    answer_of,
    lines_for,
    rows_for,
)
from state.milestones import changes_of, files_of, title_of
from state.phases import CODE_PHASES, DOCS_PHASES

if TYPE_CHECKING:
    from collections.abc import Collection, Container, Iterable, Mapping, Sequence

    from shared.contents import Content, Row
    from state.plan_table import Checkpoint, Milestone, Plan


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
    """Return the plan's text for who knows it: milestones in `own` in full, others by name."""
    return _slice(plan, PLANNER if phase == "plan-design" else AUTHOR, own)


def agent_slice(plan: Plan, phase: str) -> str:
    """Return the plan's text for an agent that starts a phase and has seen nothing of the run."""
    if phase == "plan-design":
        return "\n".join(lines_for(DESIGNER, PLAN, plan))
    every = [milestone.id for milestone in plan.milestones]
    return _slice(plan, DEVELOPER if phase in CODE_PHASES else WRITER, every)


def _slice(plan: Plan, reader: str, own: Collection[str]) -> str:
    lines = lines_for(reader, PLAN, plan)
    for milestone in plan.milestones:
        lines.append(f"{milestone.id} v{milestone.version} {milestone.name}")
        lines += _says(milestone, reader) if milestone.id in own else []
    return "\n".join(lines)


def milestone_slice(plan: Plan, name: str, *, whole: bool) -> str:
    """Return the plan's text for who writes one milestone; other milestones by name and files.

    `whole` adds the task and its context, which an agent has not seen: after the milestone itself,
    since a block cuts what is too long, and of other milestones' decisions only what was decided.
    """
    own = next(m for m in plan.milestones if m.id == name)
    lines = [f"{name} {own.name}", *_says(own, CARRIER)]
    lines += [
        f"{m.id} {m.name}, not yours: {', '.join(sorted(files_of(m)))}"
        for m in plan.milestones
        if m.id != name
    ]
    if whole:
        cited = {ref for i in own.code_intents for ref in i.decision_refs}
        lines += [_line(*one, cited) for one in rows_for(CARRIER, PLAN, plan)]
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
    reader = DOCS_REVIEWER if phase in DOCS_PHASES else REVIEWER
    reader = DESIGN_REVIEWER if phase == "plan-design" else reader
    lines: list[str] = []
    for milestone in (m for m in plan.milestones if m.id in own):
        after = f", after {', '.join(milestone.depends_on)}" if milestone.depends_on else ""
        lines += [f"{milestone.id} {milestone.name}{after}", *_says(milestone, reader)]
    if again or known:
        lines += lines_for(AGAIN, STATEMENTS, plan)
        named = "\n".join([*lines, found if again else ""])
        rows = [one for one in rows_for(AGAIN, REASONS, plan) if one[1].id and one[1].id in named]
        return "\n".join([*lines, *(_line(*one, found if again else "") for one in rows)])
    lines += lines_for(reader, STATEMENTS, plan)
    lines += [f"{m.id} {m.name} (not asked about)" for m in plan.milestones if m.id not in own]
    return "\n".join([*lines, *lines_for(reader, REASONS, plan)])


def _says(milestone: Milestone, reader: str) -> list[str]:
    return [f"  {line}" for line in lines_for(reader, MILESTONE, milestone)]


def _line(content: Content[Any], row: Row, named: Container[str]) -> str:
    """Return a row as a line; of a decision that is not `named` only what was decided."""
    brief = content is DECISIONS and row.id not in named
    return (row._replace(why="") if brief else row).line(content.label)


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
        f"{e.id} v{e.version} {title_of(e)}".rstrip()
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


def answer_lines(checkpoints: Iterable[Checkpoint], answers: Mapping[str, Sequence[str]]) -> str:
    """Return the user's answers to the questions at checkpoints, as lines of text."""
    return "\n".join(
        f"{c.id} {c.question} → {answer_of(c, answers)}" for c in checkpoints if c.id in answers
    )
