"""The differences between the plan and its previous revision, field by field."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from orchestrator.submit.page.design import with_id
from orchestrator.submit.page.diff import compare
from orchestrator.submit.page.html import Element, Items, Section, Titled
from shared.patch import read_patch, size
from state.freeze import parts
from state.models import Change

if TYPE_CHECKING:
    from collections.abc import Mapping

    from orchestrator.submit.page.facts import Facts
    from orchestrator.submit.page.html import Node

# What every revision has of its own, or what follows from the rest.
_ASIDE = frozenset({
    "counters", "created_at", "digest", "frozen_at", "last_operation", "milestone_dependencies",
    "plan_id", "remarks", "revision", "reviews", "schema_version", "seals", "verify",
})  # fmt: skip
# Lists of entities that are compared on their own.
_CHILDREN = frozenset({
    "algorithm_blocks", "changes", "checkpoints", "code_changes", "code_intents", "constraints",
    "decision_log", "diagrams", "docstrings", "inline_comments", "invariants", "known_risks",
    "milestones", "module_comment", "rejected_alternatives", "tradeoffs", "user_remarks",
})  # fmt: skip
_PATCH = frozenset({"patch", "before", "after", "diff", "encoding"})
_TITLES = ("decision", "risk", "name", "file", "question", "alternative", "description", "title")
_WITH_ANCHOR = ("DL-", "M-", "CC-")


class _Difference(NamedTuple):
    """A plan entity that differs."""

    name: str
    # Each is None if only the other revision has it.
    old: Mapping[str, Any] | None
    new: Mapping[str, Any] | None


def differences(facts: Facts) -> Section:
    """Return the plan entities that were added, removed or changed since the last revision."""
    if facts.previous is None:
        return Section("differences", "Differences", None)
    old = _entities(facts.previous.model_dump(mode="json"))
    new = _entities(facts.plan.model_dump(mode="json"))
    found = [
        _Difference(name, old.get(name), new.get(name))
        for name in (*new, *(n for n in old if n not in new))
        if old.get(name) != new.get(name)
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
    remarks = [one for one in facts.plan.user_remarks if one.revision >= since]
    remarked: list[Node] = [with_id(one.id, one.text) for one in remarks]
    remarked += [note for note in notes if note.strip() in tasks]  # of before RM-
    gone = [_heading(name, old, gone=True) for name, old, new in found if new is None and old]
    return Section("differences", f"Since revision {since}", [
        None if found else Element("p", "Nothing of the plan differs."),
        Titled("You remarked", Items(remarked, "text rows")),
        Titled("Revised since", Items([n for n in notes if n.strip() not in tasks], "text rows")),
        changed,
        Titled("New", Items(added, "rows")),
        Titled("Gone", Items(gone, "rows")),
    ])  # fmt: skip


def _entities(plan: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return a plan's entities and top-level fields by name, each without its child entities."""
    found = {
        name: value if isinstance(value, dict) else {name: value}
        for name, value in parts(dict(plan), "")
        if name not in _ASIDE
    }
    return {
        name: {key: v for key, v in fields.items() if not _is_children(key, v, found)}
        for name, fields in found.items()
    }


def _is_children(key: str, value: object, known: Mapping[str, object]) -> bool:
    names = value if isinstance(value, list) else [value]
    return key in _CHILDREN and all(isinstance(n, str) and n in known for n in names)


def _heading(name: str, fields: Mapping[str, Any], *, gone: bool = False) -> Node:
    title = next((str(fields[key]) for key in _TITLES if fields.get(key)), "")
    linked = name.startswith(_WITH_ANCHOR) and not gone
    label = Element("a", name, {"href": f"#{name}"}) if linked else name.replace("_", " ")
    return with_id(label, title)


def _fields(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[Node]:
    found: list[Node] = []
    if any(old.get(key) != new.get(key) for key in _PATCH):
        found.append(f"another diff: {_size(new)}, was {_size(old)}")
    for key in (*new, *(k for k in old if k not in new)):
        if key in _PATCH or key == "version" or old.get(key) == new.get(key):
            continue
        before, after = compare(_text(old.get(key)), _text(new.get(key)))
        label = Element("span", key.replace("_", " "), {"class": "quiet"})
        found.append([label, " ", Element("del", before), " ", Element("ins", after)])
    return found


def _size(change: Mapping[str, Any]) -> str:
    added, removed = size(read_patch(Change.model_validate(change)))
    return f"+{added:,} −{removed:,}, blob {(change['after'] or 'absent')[:12]}"


def _text(value: object) -> str:
    if isinstance(value, dict):
        if "text" in value:
            return _text(value["text"])
        shown = ((k.replace("_", " "), _text(v)) for k, v in value.items())
        return ", ".join(f"{k} {v}" for k, v in shown if v != "none") or "none"
    if isinstance(value, list):
        return "; ".join(map(_text, value)) or "none"
    return "none" if value is None else str(value) or "none"
