"""The parts of a plan that one agent or reviewer needs, as lines of text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shared.contents import (
    ASSUMED,
    AUTHOR,
    CARRIER,
    DECISIONS,
    DESIGNER,
    DEVELOPER,
    MILESTONE,
    NOT_WANTED,
    PLAN,
    PLANNER,
    QUOTES,
    REDESIGNER,
    UNSEEN,
    WRITER,
    answer_of,
    lines_for,
    rows_for,
)
from state.milestones import changes_of, files_of, title_of
from state.phases import CODE_PHASES
from state.statements import placed

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
    """Return the plan's text for the host, which knows it: milestones in `own` in full."""
    reader = PLANNER if phase == "plan-design" else AUTHOR
    lines = lines_for(reader, PLAN, plan)
    for milestone in plan.milestones:
        lines.append(f"{milestone.id} v{milestone.version} {milestone.name}")
        lines += milestone_lines(milestone, reader) if milestone.id in own else []
    return "\n".join(lines)


def agent_slice(
    plan: Plan,
    phase: str,
    own: Collection[str] = (),
    *,
    edits: bool = False,
    brief: bool = False,
) -> str:
    """Return the plan's text for an agent that works on a phase and has seen nothing of the run.

    Milestones in `own` stand in full, others by name and files; where none is named, the plan is
    yet to be designed. With `edits`, what may be edited is shown with its version. A `brief` text
    leaves out what the user has said beside task and constraints.
    """
    if phase == "plan-design" and not own:
        return "\n".join(lines_for(DESIGNER, PLAN, plan))
    reader = DEVELOPER if phase in CODE_PHASES else WRITER
    reader = REDESIGNER if phase == "plan-design" else reader
    lines = []
    for milestone in plan.milestones:
        head = f"{milestone.id} v{milestone.version}" if edits else milestone.id
        if milestone.id in own:
            lines += [
                f"{head} {titled(milestone)}",
                *milestone_lines(milestone, reader, edits=edits),
            ]
        else:
            lines.append(f"{head} {_named(milestone)}")
    if reader == REDESIGNER:
        lines += _overview_lines(plan, plan.overview.title)
    left_out = (ASSUMED, QUOTES, NOT_WANTED, UNSEEN) if brief else ()
    rows = [one for one in rows_for(reader, PLAN, plan) if one[0] not in left_out]
    return "\n".join([*lines, *row_lines(rows, edits=edits)])


def milestone_slice(plan: Plan, name: str, *, whole: bool) -> str:
    """Return the plan's text for who writes one milestone; other milestones by name and files.

    `whole` adds the task and its context, which an agent has not seen: after the milestone itself,
    since a block cuts what is too long, and of other milestones' decisions only what was decided.
    """
    own = next(m for m in plan.milestones if m.id == name)
    lines = [f"{name} {own.name}", *milestone_lines(own, CARRIER)]
    lines += [f"{m.id} {_named(m, ', not yours')}" for m in plan.milestones if m.id != name]
    if whole:
        cited = {ref for i in own.code_intents for ref in i.decision_refs}
        lines += row_lines(rows_for(CARRIER, PLAN, plan), cited)
    return "\n".join(lines)


def titled(milestone: Milestone) -> str:
    """Return a milestone's name, and the entries of the task that it is for."""
    cited = ", ".join(milestone.requirements)
    return f"{milestone.name}{cited and f', for {cited}'}"


def _named(milestone: Milestone, aside: str = "") -> str:
    """Return a milestone's name and files, which is all that who works on others is told."""
    return f"{milestone.name}{aside}: {', '.join(sorted(files_of(milestone)))}"


def milestone_lines(
    milestone: Milestone,
    reader: str,
    also: Collection[Content[Any]] = (),
    *,
    edits: bool = False,
) -> list[str]:
    """Return what a milestone says to a reader as indented lines; `also` as `rows_for` has it."""
    rows = rows_for(reader, MILESTONE, milestone, also)
    return [f"  {line}" for line in row_lines(rows, edits=edits)]


def row_lines(
    rows: Iterable[tuple[Content[Any], Row]],
    named: Container[str] | None = None,
    *,
    edits: bool = False,
) -> list[str]:
    """Return rows as lines: with versions for who `edits` them, of decisions not `named` briefly.

    Without names all decisions are told with their reasons.
    """
    lines = []
    for content, row in rows:
        brief = content is DECISIONS and named is not None and row.id not in named
        name = f"{row.id} v{row.version}" if edits and row.version else row.id
        lines.append(row._replace(id=name, why="" if brief else row.why).line(content.label))
    return lines


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
    message = " ".join(f"{plan.overview.title}: {plan.overview.approach}".split())
    lines = [*(f"{t.id}: {t.text}" for t in plan.task_spec), *_overview_lines(plan, message)]
    whole = tuple(m for m in plan.milestones if m.id in own)
    shown = [e for part in {**vars(plan), "milestones": whole}.values() for e in entities_of(part)]
    lines += [
        f"{e.id} v{e.version} {_title(e)}".rstrip()
        for e in [*shown, *(m for m in plan.milestones if m.id not in own)]
    ]
    return "\n".join(lines)


def _title(entity: Any) -> str:  # noqa: ANN401 – any entity
    """Return what describes an entity; of a remark also what it is about."""
    is_remark = entity.id.startswith("RM-")
    return placed(entity.text, entity.anchor) if is_remark else title_of(entity)


def _overview_lines(plan: Plan, message: str) -> list[str]:
    """Return the overview and the knowledge that an edit may change, with their versions."""
    version = plan.invisible_knowledge.version
    return [f"overview v{plan.overview.version} {message}", f"knowledge v{version}"]


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
