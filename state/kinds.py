"""List the kinds of entities in a plan (milestone, decision …), their place and their writers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from state import models, reasons
from state.actors import ARCHITECT, DEVELOPER, WRITER
from state.context import CATEGORIES, OVERRULED
from state.errors import Refused
from state.milestones import DOC_LISTS, changes_of, docs_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from state.fields import Model
    from state.milestones import AnyMilestone, AnyPlan

Json = dict[str, Any]
Path = tuple[str | int, ...]

# What `plan schema` shows beside the kinds: the edit that says what the task is.
_CONTEXT = "context"


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
        roles=(ARCHITECT, DEVELOPER, WRITER),
        hidden=("text", "revision", "anchor", "left_out"),
        made_by="`planner plan revise` with what the user said",
    ),
    "decision": Kind(
        "DL", reasons.Decision, ("planning_context", "decision_log"), hidden=("timestamp",)
    ),
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
    "checkpoint": Kind(
        "CP",
        models.Checkpoint,
        ("checkpoints",),
        roles=(ARCHITECT, DEVELOPER, WRITER),
        hidden=("origin", "revision", "answer"),
    ),
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

# Where a plan has its entities outside of milestones.
_LISTS = [kind.place for kind in KINDS.values() if kind.prefix and not kind.in_milestone]


class Found(NamedTuple):
    """An entity of a plan, and where it stands in the plan."""

    kind: str
    id: str  # the kind's name for entities that have none, such as the overview
    entity: Any  # a model, or as printed steps read it
    # The fields and numbers that lead to it.
    path: Path


def find(plan: AnyPlan, entity_id: str) -> Found | None:
    """Return the plan's entity with the given id; None if there is none."""
    return next((f for f in _walk(plan) if f.id == entity_id), None)


def entities(plan: AnyPlan, kind: str, milestone: str | None = None) -> list[Any]:
    """Return all plan entities of a kind such as milestone; raise Refused for an unknown kind.

    With a `milestone` those of other milestones are left out.
    """
    if kind not in KINDS:
        raise Refused("not_found", "KIND", f"{kind!r} is not a kind of entity", ", ".join(KINDS))
    ids = [m.id for m in plan.milestones]
    left_out = {("milestones", n) for n, name in enumerate(ids) if milestone not in (None, name)}
    return [f.entity for f in _walk(plan) if f.kind == kind and f.path[:2] not in left_out]


def counted(plan: AnyPlan) -> dict[str, int]:
    """Return the plan's id counters, none below an id in use, so that new ids are unique."""
    counters = dict(plan.counters)
    for found in _walk(plan):
        prefix, dash, number = found.id.rpartition("-")
        if dash:
            counters[prefix] = max(counters.get(prefix, 0), int(number))
    return counters


def schema(kind: str | None) -> Json:
    """Return the JSON Schema of a plan, of what edits may set in a kind, or of the context.

    Refused for any other kind.
    """
    if kind is None:
        return models.Plan.model_json_schema()
    if kind == _CONTEXT:
        return _context_schema()
    if kind not in KINDS:
        known = ", ".join([*KINDS, _CONTEXT])
        raise Refused("not_found", "--kind", f"{kind!r} is not a kind of entity", known)
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


def _context_schema() -> Json:
    """Return the JSON Schema of the edit that says what the task is, or what else is assumed."""
    texts = {"type": "array", "items": {"type": "string"}}
    return {
        "description": "First in the first design; afterwards with assumptions and overruled alone",
        "type": "object",
        "properties": {"op": {"const": _CONTEXT}, **dict.fromkeys([*CATEGORIES, OVERRULED], texts)},
        "required": ["op"],
        "additionalProperties": False,
    }


def _reached(schema: Json, definitions: Json) -> Json:
    """Return the `$defs` definitions that a JSON Schema refers to, directly or through others."""
    text = str(schema)
    found = {n: d for n, d in definitions.items() if f"'#/$defs/{n}'" in text}
    return {**found, **_reached(found, definitions)} if found else {}


def walk(plan: AnyPlan) -> list[Found]:
    """Return every entity of a plan with its place, ordered by kind."""
    return list(_walk(plan))


def ids(plan: AnyPlan) -> list[str]:
    """Return the id of every entity of a plan that has one, each as often as it stands there."""
    found = [e.id for place in _LISTS for e in value_at(plan, place) if not isinstance(e, str)]
    for milestone in plan.milestones:
        within = (*milestone.code_intents, *changes_of(milestone), *docs_of(milestone))
        found += [entity.id for entity in within]
    return found


def _walk(plan: AnyPlan) -> Iterator[Found]:
    every: tuple[AnyMilestone, ...] = plan.milestones
    milestones = [(("milestones", n), m) for n, m in enumerate(every)]
    for name, kind in KINDS.items():
        if not kind.in_milestone:
            yield from _members(name, kind, (), plan)
            continue
        for at, milestone in milestones:
            docs = name == "doc"
            yield from _docs(at, milestone) if docs else _members(name, kind, at, milestone)
    for at, milestone in milestones:
        changes: tuple[Any, ...] = milestone.documentation.changes
        for n, change in enumerate(changes):
            yield Found("change", change.id, change, (*at, "documentation", "changes", n))


def _members(name: str, kind: Kind, at: Path, owner: Any) -> Iterator[Found]:  # noqa: ANN401 – a plan or milestone
    value, at = value_at(owner, kind.place), (*at, *kind.place)
    if not kind.prefix:
        yield Found(name, name, value, at)
        return
    for n, entity in enumerate(value):
        if not isinstance(entity, str):
            yield Found(name, entity.id, entity, (*at, n))


def _docs(at: Path, milestone: AnyMilestone) -> Iterator[Found]:
    promised, at = milestone.documentation, (*at, "documentation")
    if promised.module_comment is not None and not isinstance(promised.module_comment, str):
        comment = promised.module_comment
        yield Found("doc", comment.id, comment, (*at, "module_comment"))
    for key in DOC_LISTS.values():
        for n, entity in enumerate(getattr(promised, key)):
            if not isinstance(entity, str):
                yield Found("doc", entity.id, entity, (*at, key, n))


def value_at(part: Any, path: Path) -> Any:  # noqa: ANN401 – any part of a plan
    """Return what stands at a place of a part of a plan."""
    for key in path:
        part = part[key] if isinstance(key, int) else getattr(part, key)
    return part


def with_added(plan: Any, path: Path, entity: object) -> Any:  # noqa: ANN401 – a plan, as a model
    """Return a plan with an entity more at a place in it: at the end of a list, or in a field."""
    held = value_at(plan, path)
    return with_value(plan, path, (*held, entity) if isinstance(held, tuple) else entity)


def with_value(part: Any, path: Path, value: object) -> Any:  # noqa: ANN401 – any part of a plan
    """Return a part of a plan, a model, with another value at a place in it."""
    if not path:
        return value
    key, rest = path[0], path[1:]
    if isinstance(key, int):
        return (*part[:key], with_value(part[key], rest, value), *part[key + 1 :])
    return part.model_copy(update={key: with_value(getattr(part, key), rest, value)})
