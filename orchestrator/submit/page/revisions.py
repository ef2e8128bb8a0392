"""The differences between the plan and the revision that the person has seen last.

First that of the code, by what they have said of it (LP-1), then that of the plan, field by field.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from orchestrator.submit.page.design import with_id
from orchestrator.submit.page.diff import anchor_of, compare
from orchestrator.submit.page.facts import Diff
from orchestrator.submit.page.file_diffs import MOST_OPEN, beginning, shown
from orchestrator.submit.page.html import Element, Items, Section, Titled
from orchestrator.submit.since import BASE_MOVED, NO_DIFFERENCE, WITHOUT
from shared.builders import counted
from shared.patch import read_patch, size
from state.fields import Model
from state.milestones import title_of
from state.models import Change, Documentation

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from orchestrator.submit.page.facts import Facts
    from orchestrator.submit.page.html import Node
    from orchestrator.submit.since import Cause, Since
    from state.models import Plan

# What every revision has of its own, or what follows from the rest.
_ASIDE = frozenset({
    "counters", "created_at", "digest", "frozen_at", "last_operation", "milestone_dependencies",
    "plan_id", "remarks", "revision", "reviews", "schema_version", "seals", "unproven",
    "verify",
})  # fmt: skip
_PATCH = frozenset({"patch", "before", "after", "diff", "encoding"})
_WITH_ANCHOR = ("DL-", "M-", "CC-", "CP-", "RM-")


class _Part(NamedTuple):
    """A part of a plan that is compared on its own."""

    entity: Model
    # By name, without the entities in them, which are parts of their own.
    fields: dict[str, object]


class _Difference(NamedTuple):
    """A part of the plan that differs."""

    name: str
    # Each is None if only the other revision has it.
    old: _Part | None
    new: _Part | None


def differences(facts: Facts) -> Section:
    """Return the plan entities that were added, removed or changed since the last revision."""
    if facts.previous is None:
        wrong = facts.since and [_code(facts.since, None)]
        return Section("differences", "Differences", wrong)
    old, new = dict(_parts(facts.previous)), dict(_parts(facts.plan))
    found = [
        _Difference(name, old.get(name), new.get(name))
        for name in (*new, *(n for n in old if n not in new))
        if name not in old or name not in new or old[name].fields != new[name].fields
    ]
    changed = [
        Element("article", [Element("h3", _heading(name, new)), Items(_fields(old, new), "rows")])
        for name, old, new in found
        if old is not None and new is not None
    ]
    added = [
        _heading(name, new)
        for name, old, new in found
        if old is None and new and not name.startswith("RM-")
    ]
    notes, tasks = facts.plan.remarks, {task.text for task in facts.plan.task_spec}
    since = facts.previous.revision
    told = facts.since and facts.since.causes
    ids = {cause.id for cause in told or ()}  # those stand with the difference of the code
    remarks = [r for r in facts.plan.user_remarks if r.revision >= since and r.id not in ids]
    remarked: list[Node] = [with_id(one.id, one.text) for one in remarks]
    remarked += [note for note in notes if note.strip() in tasks]  # of before RM-
    gone = [_heading(name, old, gone=True) for name, old, new in found if new is None and old]
    code = _code(facts.since, facts.previous.digest) if facts.since else None
    return Section("differences", f"Since revision {since}", [
        code,
        None if found else Element("p", "Nothing of the plan differs."),
        Titled("You remarked", Items(remarked, "text rows")),
        Titled("Revised since", Items([n for n in notes if n.strip() not in tasks], "text rows")),
        changed,
        Titled("New", Items(added, "rows")),
        Titled("Gone", Items(gone, "rows")),
    ])  # fmt: skip


def _code(since: Since, digest: str | None) -> Node:
    """Return the difference of the code itself, each part under what it was made for.

    `digest` is that of the earlier revision: remarks on lines of it are linked to their rows.
    """
    if since.wrong:
        said = f"How the code differs from revision {since.revision} cannot be shown: {since.wrong}"
        return Element("p", said, {"class": "warn"})
    files = [Diff(change) for change in since.changes]
    added, removed = sum(f.added for f in files), sum(f.removed for f in files)
    size = f"{counted(len(files), 'file')}, +{added:,} −{removed:,}" if files else "the same"
    moved = Element("p", BASE_MOVED, {"class": "warn"}) if since.base_moved else None
    parts: list[Node] = []
    number, rows = 0, _rows_of(files)
    for part in since.parts:
        said = ", ".join(cause.id for cause in part.causes)
        parts.append(Element("h3", f"For {said}" if said else WITHOUT.capitalize()))
        parts.append(Items([_cause(c, digest, rows) for c in part.causes], "rows"))
        for change in part.changes:
            number += 1
            is_open = number <= MOST_OPEN
            parts.append(shown(Diff(change), f"since-{number}", f"s{number}", is_open=is_open))
    unmet = [_cause(cause, digest, rows) for cause in since.unmet]
    return [Element("p", ["The code: ", Element("strong", size)]), moved, *parts,
            Titled(NO_DIFFERENCE.capitalize(), Items(unmet, "rows"))]  # fmt: skip


def _rows_of(files: Sequence[Diff]) -> dict[tuple[str, int], str]:
    """Return the anchors of the rows that show a line of the earlier revision, by file and line."""
    return {
        (file.change.old_file or file.change.file, line.old): anchor_of(line, f"s{number}")
        for number, file in enumerate(files, start=1)
        for line in beginning(file.lines)
        if line.kind in " -" and line.old is not None
    }


def _cause(cause: Cause, digest: str | None, rows: Mapping[tuple[str, int], str]) -> Node:
    """Return something that was said; of a remark on a line, with a link to what it has become."""
    at, row = cause.anchor, ""
    if at is not None and at.side == "new" and at.revision_digest == digest:
        row = next(filter(None, (rows.get((at.file, n)) for n in (at.line, at.end))), "")
    link = [" · ", Element("a", "that line now", {"href": f"#{row}"})] if row else None
    name = Element("a", cause.id, {"href": f"#{cause.id}"})
    return with_id(name, cause.said, f" → {cause.outcome}", link)


def _parts(plan: Plan) -> Iterator[tuple[str, _Part]]:
    """Yield each entity and each other part of a plan by name; the plan's own fields as `plan`."""
    own: dict[str, object] = {}
    for name, value in vars(plan).items():
        if name in _ASIDE:
            continue
        if isinstance(value, Model):
            yield from _within(name, value)
        elif value is not None:
            yield from _entities(value)
            own[name] = _plain(value)
    yield "plan", _Part(plan, own)


def _within(name: str, part: Model) -> Iterator[tuple[str, _Part]]:
    own: dict[str, object] = {}
    for key, value in vars(part).items():
        yield from _entities(value)
        if isinstance(value, Documentation):
            yield from _within(f"{name}.{key}", value)
        else:
            own[key] = _plain(value)
    yield name, _Part(part, own)


def _entities(value: object) -> Iterator[tuple[str, _Part]]:
    for one in value if isinstance(value, tuple) else (value,):
        if isinstance(one, Model) and (name := _id_of(one)):
            yield from _within(name, one)


def _plain(value: object) -> object:
    """Return the value of a field without the entities in it."""
    if isinstance(value, tuple):
        return tuple(one for one in value if not _id_of(one))
    return None if _id_of(value) else value


def _id_of(value: object) -> str:
    """Return the id of an entity; '' of anything else, such as an entry of the task."""
    return str(getattr(value, "id", "")) if hasattr(value, "version") else ""


def _heading(name: str, part: _Part, *, gone: bool = False) -> Node:
    linked = name.startswith(_WITH_ANCHOR) and not gone
    label = Element("a", name, {"href": f"#{name}"}) if linked else name.replace("_", " ")
    return with_id(label, title_of(part.entity))


def _fields(old: _Part, new: _Part) -> list[Node]:
    rows: list[Node] = []
    before, after = old.entity, new.entity
    patched = any(old.fields.get(key) != new.fields.get(key) for key in _PATCH)
    if patched and isinstance(before, Change) and isinstance(after, Change):
        rows.append(f"another diff: {_size(after)}, was {_size(before)}")
    for key, value in new.fields.items():
        if key in _PATCH or key == "version" or old.fields.get(key) == value:
            continue
        was, now = compare(_text(old.fields.get(key)), _text(value))
        label = Element("span", key.replace("_", " "), {"class": "quiet"})
        rows.append([label, " ", Element("del", was), " ", Element("ins", now)])
    return rows


def _size(change: Change) -> str:
    added, removed = size(read_patch(change))
    return f"+{added:,} −{removed:,}, blob {(change.after or 'absent')[:12]}"


def _text(value: object) -> str:
    if isinstance(value, Model | dict):
        fields = vars(value) if isinstance(value, Model) else value
        if "text" in fields:
            return _text(fields["text"])
        shown = ((k.replace("_", " "), _text(v)) for k, v in fields.items())
        return ", ".join(f"{k} {v}" for k, v in shown if v != "none") or "none"
    if isinstance(value, tuple | list):
        return "; ".join(map(_text, value)) or "none"
    return "none" if value is None else str(value) or "none"
