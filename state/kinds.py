"""List the kinds of entities in a plan (milestone, decision …), their place and their writers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from state import models, reasons
from state.actors import ARCHITECT, DEVELOPER, WRITER
from state.errors import Refused
from state.milestones import DOC_LISTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from state.fields import Model

Json = dict[str, Any]


class Kind(NamedTuple):
    """One kind of plan entity, such as milestone."""

    # Of its ids; `overview` and `knowledge` exist once in a plan and have none.
    prefix: str
    model: type[Model]
    # In the plan.
    place: tuple[str, ...]
    # Those that may write it.
    roles: tuple[str, ...] = (ARCHITECT,)
    in_milestone: bool = False
    hidden: tuple[str, ...] = ()
    # What makes entities that no edit adds or removes; '' for all others.
    made_by: str = ""

    @property
    def is_added(self) -> bool:
        """Whether edits may add and remove plan entities of this kind."""
        return bool(self.prefix) and not self.made_by

    @property
    def fields(self) -> list[str]:
        """Return the names of the fields that an edit may set in a plan entity of one kind."""
        own = [f for f in self.model.model_fields if f not in ("id", "version", *self.hidden)]
        return ["milestone", *own] if self.in_milestone else own


KINDS = {
    "overview": Kind("", models.Overview, ("overview",)),
    "knowledge": Kind(
        "",
        reasons.InvisibleKnowledge,
        ("invisible_knowledge",),
        hidden=("invariants", "tradeoffs"),
    ),
    "remark": Kind(
        "RM",
        models.Remark,
        ("user_remarks",),
        hidden=("text", "revision"),
        made_by="`planner plan revise` with what the user said",
    ),
    "decision": Kind("DL", reasons.Decision, ("planning_context", "decision_log")),
    "alternative": Kind(
        "RA", reasons.RejectedAlternative, ("planning_context", "rejected_alternatives")
    ),
    "constraint": Kind("C", reasons.Constraint, ("planning_context", "constraints")),
    "risk": Kind("R", reasons.Risk, ("planning_context", "known_risks")),
    "invariant": Kind("INV", reasons.Invariant, ("invisible_knowledge", "invariants")),
    "tradeoff": Kind("TO", reasons.Tradeoff, ("invisible_knowledge", "tradeoffs")),
    "milestone": Kind(
        "M",
        models.Milestone,
        ("milestones",),
        hidden=("number", "code_intents", "code_changes", "documentation"),
    ),
    "intent": Kind("CI", models.Intent, ("code_intents",), in_milestone=True),
    "doc": Kind("DOC", models.Doc, (), roles=(ARCHITECT, WRITER), in_milestone=True),
    "diagram": Kind("DG", models.Diagram, ("diagrams",)),
    "checkpoint": Kind("CP", models.Checkpoint, ("checkpoints",)),
    "change": Kind(
        "CC",
        models.Change,
        ("code_changes",),
        roles=(DEVELOPER,),
        in_milestone=True,
        hidden=tuple(f for f in models.Change.model_fields if f != "why_comments"),
        made_by="`planner plan capture`",
    ),
}


class Found(NamedTuple):
    """A plan entity in JSON, with the list or object that holds it, so that it can be replaced."""

    kind: str
    entity: Json
    owner: Any  # the object or list that holds it under `key`
    key: str | int


def find(data: Json, entity_id: str) -> Found | None:
    """Return the plan's entity with the given id; None if there is none."""
    return next((f for f in walk(data) if id_of(f) == entity_id), None)


def entities(data: Json, kind: str, milestone: str | None = None) -> list[Json]:
    """Return all plan entities of a kind such as milestone; raise Refused for an unknown kind."""
    if kind not in KINDS:
        raise Refused("not_found", "KIND", f"{kind!r} is not a kind of entity", ", ".join(KINDS))
    if milestone is not None:
        data = {**data, "milestones": [m for m in data["milestones"] if m["id"] == milestone]}
    return [f.entity for f in walk(data) if f.kind == kind]


def count_ids(data: Json) -> None:
    """Set the plan's id counters to the highest ids in use, so that new ids are unique."""
    counters = data["counters"]
    for found in walk(data):
        prefix, dash, number = id_of(found).rpartition("-")
        if dash:
            counters[prefix] = max(counters.get(prefix, 0), int(number))


def title_of(entity: Json) -> str:
    """Return the text that describes a plan entity in a printed list: its title, after its file."""
    names = (
        "title",
        "name",
        "decision",
        "alternative",
        "description",
        "risk",
        "text",
        "behavior",
        "question",
    )
    found = next((str(entity[n]) for n in names if entity.get(n)), "")
    file = entity.get("file")
    return f"{file}: {found}" if file else found


def schema(kind: str | None) -> Json:
    """Return the JSON Schema of a plan, or of the fields that edits may set in a kind of entity."""
    if kind is None:
        return models.Plan.model_json_schema()
    if kind not in KINDS:
        raise Refused("not_found", "--kind", f"{kind!r} is not a kind of entity", ", ".join(KINDS))
    allowed = KINDS[kind].fields
    whole = KINDS[kind].model.model_json_schema()
    whole["properties"] = {n: p for n, p in whole["properties"].items() if n in allowed}
    whole["required"] = [n for n in whole.get("required", []) if n in allowed]
    whole["$defs"] = _reached(whole["properties"], whole.get("$defs", {}))
    # An edit names the place of the entity, which is not a field of the entity.
    where = {"milestone": {"type": "string", "pattern": "^M-[0-9]{3,15}$"}}
    if kind == "doc":
        where["kind"] = {"type": "string", "enum": ["module-comment", *DOC_LISTS]}  # type: ignore[dict-item]
    if KINDS[kind].in_milestone and kind != "change":
        whole["properties"] = {**where, **whole["properties"]}
        whole["required"] = [*where, *whole["required"]]
    return whole


def _reached(schema: Json, definitions: Json) -> Json:
    """Return the `$defs` definitions that a JSON Schema refers to, directly or through others."""
    text = str(schema)
    found = {n: d for n, d in definitions.items() if f"'#/$defs/{n}'" in text}
    return {**found, **_reached(found, definitions)} if found else {}


def id_of(found: Found) -> str:
    """Return a plan entity's id, or the kind's name for entities without id such as overview."""
    return str(found.entity.get("id", found.kind))


def walk(data: Json) -> Iterator[Found]:
    """Yield every entity of a plan given as JSON, with its place, ordered by kind."""
    for name, kind in KINDS.items():
        owners = data["milestones"] if kind.in_milestone else [data]
        for owner in owners:
            yield from _docs(owner) if name == "doc" else _members(name, kind, owner)
    for milestone in data["milestones"]:
        changes = milestone["documentation"]["changes"]
        for n, change in enumerate(changes):
            yield Found("change", change, changes, n)


def _members(name: str, kind: Kind, owner: Json) -> Iterator[Found]:
    place: Any = owner
    for key in kind.place[:-1]:
        place = place[key]
    if not kind.prefix:
        yield Found(name, place[kind.place[-1]], place, kind.place[-1])
        return
    entities = place[kind.place[-1]]
    for n, entity in enumerate(entities):
        if isinstance(entity, dict):
            yield Found(name, entity, entities, n)


def _docs(milestone: Json) -> Iterator[Found]:
    documentation = milestone["documentation"]
    if isinstance(documentation["module_comment"], dict):
        yield Found("doc", documentation["module_comment"], documentation, "module_comment")
    for key in DOC_LISTS.values():
        for n, entity in enumerate(documentation[key]):
            if isinstance(entity, dict):
                yield Found("doc", entity, documentation[key], n)
