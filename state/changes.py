"""Add the file changes made in the worktree to the plan, each under its milestone (PL-10)."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any, NamedTuple

from state.edits import finish
from state.errors import Problem, Refused
from state.milestones import changes_of, files_of, promised_files
from state.models import Change, Milestone, Plan
from state.spelling import how_spelled, twin

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


class _Place(NamedTuple):
    """The place of a changed file in the plan: milestone, intents that name it, code or docs."""

    milestone: int
    intents: tuple[str, ...]
    is_documentation: bool


def bytes_of(plan: Plan) -> str:
    """Return what names the bytes of a plan's changes, whatever is said of them; '' of none."""
    rows = [[c.file, c.old_file, c.mode, c.after] for c in plan_changes(plan)]
    return hashlib.sha256(json.dumps(rows).encode()).hexdigest() if rows else ""


def attach(plan: Plan, changes: Sequence[Mapping[str, Any]]) -> Plan:
    """Return the plan with exactly the given file changes; known files keep id and comments.

    A change is given as the fields of `state.models.Change` that its capture knows.
    Raises Refused naming every changed file that no intent, test or promised document names.
    """
    known = {c.file: c for m in plan.milestones for c in changes_of(m)}
    counter = max(
        [plan.counters.get("CC", 0), *(int(c.id.rpartition("-")[2]) for c in known.values())]
    )
    code: list[list[Change]] = [[] for _ in plan.milestones]
    documents: list[list[Change]] = [[] for _ in plan.milestones]
    problems: list[Problem] = []
    naming = _naming(plan)
    for change in changes:
        place = _place(plan, naming, change)
        if place is None:
            other = twin(change["file"], naming)
            problems.append(
                _otherwise_spelled(change, other) if other else _unplanned(plan, change["file"])
            )
            continue
        old = known.get(change["file"])
        counter += old is None
        entity = _entity(change, old, f"CC-{counter:03d}", place)
        (documents if place.is_documentation else code)[place.milestone].append(entity)
    if problems:
        raise Refused.of(problems)
    return _with_changes(plan, code, documents, counter)


def attach_alone(plan: Plan, name: str, changes: Iterable[Mapping[str, Any]]) -> Plan:
    """Return the plan with one of its milestones alone, which has the changes that it names."""
    only = plan.model_copy(update={"milestones": tuple(m for m in plan.milestones if m.id == name)})
    code: list[Change] = []
    documents: list[Change] = []
    naming = _naming(only)
    for number, change in enumerate(changes, 1):
        place = _place(only, naming, change)
        if place is not None:
            entity = _entity(change, None, f"CC-{number:03d}", place)
            (documents if place.is_documentation else code).append(entity)
    changed = tuple(_changed(m, code, documents) for m in only.milestones)
    return only.model_copy(update={"milestones": changed})


def plan_changes(plan: Plan) -> list[Change]:
    """Return all file changes of the plan, sorted by path."""
    return sorted((c for m in plan.milestones for c in changes_of(m)), key=lambda c: c.file)


def apart(change: Change) -> bool:
    """Return whether the content of a change is beside plan.json, being too large for a patch.

    A deletion has no patch then either, and needs nothing.
    """
    return change.encoding == "blob" and change.after is not None


def _naming(plan: Plan) -> dict[str, list[int]]:
    """Return for each file the numbers of the milestones that name it in any way, in order."""
    found: dict[str, list[int]] = {}
    for number, milestone in enumerate(plan.milestones):
        for file in files_of(milestone):
            found.setdefault(file, []).append(number)
    return found


def _place(plan: Plan, naming: Mapping[str, list[int]], change: Mapping[str, Any]) -> _Place | None:
    names = {change["file"], change["old_file"]}
    for number in sorted({n for name in names for n in naming.get(name, ())}):
        milestone = plan.milestones[number]
        intents = tuple(i.id for i in milestone.code_intents if i.file in names)
        if intents or not names.isdisjoint(milestone.tests.files):
            return _Place(number, intents, is_documentation=False)
        if milestone.is_documentation_only and not names.isdisjoint(milestone.files):
            return _Place(number, (), is_documentation=True)
        if not names.isdisjoint(promised_files(milestone)):
            return _Place(number, (), is_documentation=True)
    return None


def _unplanned(plan: Plan, file: str) -> Problem:
    ids = ", ".join(m.id for m in plan.milestones) or "none yet"
    text = f"{file} was changed, and no intent, test or promised document names it"
    allowed = (
        "change the file back to the base (`tree restore`); or, if it belongs to the change, the "
        f"host – an agent asks for it in its report – adds an intent to one of {ids} (`plan add "
        "intent --milestone ID --file PATH --behavior TEXT`) or lists it in `tests.files`"
    )
    return Problem("refused", file, text, allowed)


def _otherwise_spelled(change: Mapping[str, Any], named: str) -> Problem:
    """Return the problem of a changed file that the plan names in another spelling."""
    file = change["file"]
    text = f"{file} was changed, and the plan names {named}: the changed one"
    text += f" {how_spelled(file, named)}"
    if change["before"] is None:
        way = "give the file in the worktree the name that the plan has, then the same again; where"
        way += " git has a file of that name already, write into that one and remove this one"
    else:
        way = "the repository has the file as it was changed, so name it like that in the plan:"
        way += " `file` of the intent, `files` of its milestone, `tests.files` (`plan set ID …`)"
    return Problem("refused", file, text, way)


def _entity(change: Mapping[str, Any], old: Change | None, new_id: str, place: _Place) -> Change:
    content = dict(change)
    content["intent_ref"] = place.intents[0] if place.intents else None
    content["more_intent_refs"] = place.intents[1:]
    if old is None:
        return Change(id=new_id, **content)
    same = all(getattr(old, name) == value for name, value in content.items())
    version = old.version if same else old.version + 1
    return Change(id=old.id, version=version, why_comments=old.why_comments, **content)


def _changed(milestone: Milestone, code: Sequence[Change], docs: Sequence[Change]) -> Milestone:
    documentation = milestone.documentation.model_copy(update={"changes": tuple(docs)})
    values = {"code_changes": tuple(code), "documentation": documentation}
    return milestone.model_copy(update=values)


def _with_changes(
    plan: Plan, code: Iterable[list[Change]], documents: Iterable[list[Change]], counter: int
) -> Plan:
    milestones = [_changed(*parts) for parts in zip(plan.milestones, code, documents, strict=True)]
    counters = {**plan.counters, "CC": counter}
    changed = plan.model_copy(update={"milestones": tuple(milestones), "counters": counters})
    return finish(changed)
