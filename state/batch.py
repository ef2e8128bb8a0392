"""Apply one batch of edits to a plan; check names, roles, versions (PL-11, PL-12)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import ValidationError

from state.actors import ARCHITECT
from state.clock import now
from state.errors import Problem, value_text
from state.fields import overlap
from state.invalid import problems_of
from state.kinds import (
    KINDS,
    Found,
    Json,
    Path,
    counted,
    find,
    value_at,
    walk,
    with_added,
    with_value,
)
from state.milestones import DOC_LISTS
from state.written_json import known_fields, problems_in

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from state.fields import Model
    from state.models import Plan

OPS = ("add", "set", "remove")
REFERENCES = {
    "milestone": "M",
    "depends_on": "M",
    "waits_for": "CP",
    "decision_ref": "DL",
    "decision_refs": "DL",
}


_FIELDS = {"type": "object", "allowed": "the fields to write: {…}"}
_ID = {"type": "string", "allowed": "M-001, overview, knowledge …"}
_ALIAS = {"type": ["string", "null"], "pattern": r"^\$", "allowed": "$ and letters, as in $m1"}
_KIND = {"enum": [*KINDS], "allowed": ", ".join(k for k, v in KINDS.items() if v.is_added)}
_BY_OP = {
    "add": known_fields(
        {"op": {}, "kind": _KIND, "as": _ALIAS, "fields": _FIELDS}, ("kind", "fields")
    ),
    "set": known_fields({"op": {}, "id": _ID, "version": {}, "fields": _FIELDS}, ("id", "fields")),
    "remove": known_fields({"op": {}, "id": _ID, "version": {}}, ["id"]),
}
_EXAMPLE = '{"op": "add", "kind": …, "fields": {…}}'
_EDIT: Json = {
    "type": "object", "allowed": _EXAMPLE,
    "required": ["op"], "properties": {"op": {"enum": OPS}},
    "allOf": [
        {"if": {"properties": {"op": {"enum": [op]}}, "required": ["op"]}, "then": known}
        for op, known in _BY_OP.items()
    ],
}  # fmt: skip


class Applied(NamedTuple):
    """The outcome of one edit of the plan: operation, id of the edited entity, its new version."""

    op: str
    id: str
    version: int


class Batch:
    """Applies one batch of edits to a plan and collects every problem with the edits."""

    def __init__(self, plan: Plan, role: str | None, answered: Collection[str] = ()) -> None:
        """`answered` are the ids of the questions whose words an answer rests on."""
        self.answered = answered
        # As the edits have left it.
        self.plan = plan
        self.counters = counted(plan)
        self.role = role
        self.names: dict[str, str] = {}
        self.lost: set[object] = set()  # names given by malformed edits, which are reported once
        self.problems: list[Problem] = []

    def run(self, edits: Sequence[object], first: int = 0) -> list[Applied]:
        """Apply edits to the plan in order, give new entities ids and collect all problems.

        `first` is the number of the first of them in the list from which they come.
        """
        rows = [
            (at, edit)
            for n, value in enumerate(edits, first)
            if (edit := self._shape(at := f"[{n}]", value)) is not None
        ]
        ids = [self._name(at, edit) for at, edit in rows]
        applied = []
        for (at, edit), new_id in zip(rows, ids, strict=True):
            before = len(self.problems)
            result = getattr(self, f"_{edit['op']}")(at, edit, new_id)
            if len(self.problems) == before:
                applied.append(result)
        return applied

    def refuse(self, at: str, problem: str, allowed: str = "", kind: Any = "invalid") -> None:  # noqa: ANN401 – a Kind literal
        """Record a problem with one edit; a single problem makes the whole batch refused."""
        self.problems.append(Problem(kind, at, problem, allowed))

    def _shape(self, at: str, edit: object) -> Json | None:
        """Return the edit, or None after reporting that it has another form."""
        problems = problems_in(edit, _EDIT, at=at)
        self.problems += problems
        if not problems and isinstance(edit, dict):
            return edit
        if isinstance(edit, dict) and isinstance(edit.get("as"), str):
            self.lost.add(edit["as"])
        return None

    def _name(self, at: str, edit: Json) -> str:
        if edit["op"] != "add":
            return ""
        new_id = self._new_id(KINDS[edit["kind"]].prefix)
        alias = edit.get("as")
        if alias is not None:
            if alias in self.names:
                self.refuse(f"{at}.as", f"the name {alias} is given twice", "use each name once")
            self.names[alias] = new_id
        return new_id

    def _new_id(self, prefix: str) -> str:
        """Return the next unused entity id with a given prefix, such as M-004 for the prefix M."""
        self.counters[prefix] = self.counters.get(prefix, 0) + 1
        return f"{prefix}-{self.counters[prefix]:03d}"

    def _resolve(self, at: str, field: str, value: Any) -> Any:  # noqa: ANN401 – any JSON value
        """Return a JSON value with each `$name` of a new entity replaced by the entity's id."""
        if isinstance(value, dict):
            return {k: self._resolve(f"{at}.{k}", k, v) for k, v in value.items()}
        if isinstance(value, list):
            return [self._resolve(f"{at}[{n}]", field, v) for n, v in enumerate(value)]
        if field in REFERENCES and isinstance(value, str) and value.startswith("$"):
            if value in self.lost and field != "milestone":
                return f"{REFERENCES[field]}-001"
            if value not in self.names and value not in self.lost:
                known = ", ".join(self.names) or "none in this batch"
                self.refuse(at, f"no edit of this batch is named {value}", known, "not_found")
            return self.names.get(value, value)
        return value

    def _may(self, at: str, kind: str) -> bool:
        if self.role is None or self.role in KINDS[kind].roles:
            return True
        mine = ", ".join(k for k, v in KINDS.items() if self.role in v.roles) or "no kind"
        self.refuse(at, f"the role {self.role} may not write {kind}", mine, "refused")
        return False

    def _read_fields(self, at: str, kind: str, fields: Json) -> Json:
        """Return an edit's fields with each `$name` replaced by an id; report invalid fields."""
        allowed = [*KINDS[kind].fields, *(["kind"] if kind == "doc" else [])]
        resolved = {}
        for key, value in fields.items():
            where = f"{at}.fields.{key}"
            if key not in allowed:
                self.refuse(where, "there is no such field", ", ".join(allowed))
                continue
            free = key == "params"  # it may hold anything
            resolved[key] = value if free else self._resolve(where, key, value)
        return resolved

    def _checked(self, at: str, kind: str, entity: Json) -> Model | None:
        """Return an edited entity, validated and complete, or None after reporting bad fields."""
        try:
            return KINDS[kind].model.model_validate(entity)
        except ValidationError as error:
            known = [p.at for p in self.problems]
            self.problems.extend(
                problem
                for problem in problems_of(error, f"{at}.fields")
                if not any(overlap(problem.at, k) for k in known)
            )
            return None

    def _add(self, at: str, edit: Json, new_id: str) -> Applied:
        kind = edit["kind"]
        result = Applied("add", new_id, 1)
        if not KINDS[kind].is_added:
            by = KINDS[kind].made_by
            how = f"run {by}, which makes each {kind}" if by else f"set {kind}"
            self.refuse(f"{at}.kind", f"{kind} cannot be added", how)
        elif self._may(at, kind):
            fields = self._read_fields(at, kind, edit["fields"])
            place = self._place(at, kind, fields)
            if kind == "milestone":
                numbers = (m.number for m in self.plan.milestones)
                fields["number"] = max(numbers, default=0) + 1
            if kind == "checkpoint":
                fields["revision"] = self.plan.revision
            if kind == "decision":
                fields["timestamp"] = now()
            entity = self._checked(at, kind, {"id": new_id, "version": 1, **fields})
            if entity is None:  # refused already; edits that refer to it are not refused as well
                entity = _blank(kind, new_id)
            if place is not None:
                self.plan = with_added(self.plan, place, entity)
        return result

    def _place(self, at: str, kind: str, fields: Json) -> Path | None:
        """Return the place in the plan that takes a new entity, a list or a field; or None."""
        if not KINDS[kind].in_milestone:
            return KINDS[kind].place
        wanted = fields.pop("milestone", None)
        number = next((n for n, m in enumerate(self.plan.milestones) if m.id == wanted), None)
        if number is None:
            self._refuse_milestone(at, kind, wanted)
            fields.pop("kind", None)
            return None
        if kind == "doc":
            return self._doc_place(at, number, fields)
        return ("milestones", number, *KINDS[kind].place)

    def _refuse_milestone(self, at: str, kind: str, wanted: object) -> None:
        if isinstance(wanted, str) and wanted in self.lost:
            return
        known = ", ".join(m.id for m in self.plan.milestones) or "none yet"
        text = f"there is no milestone {wanted} (add it before its {kind}s)"
        if wanted is None:
            text = f"name the milestone that the {kind} belongs to"
        self.refuse(f"{at}.fields.milestone", text, known, "not_found")

    def _doc_place(self, at: str, number: int, fields: Json) -> Path | None:
        kind, documentation = fields.pop("kind", None), ("milestones", number, "documentation")
        if kind == "module-comment":
            if self.plan.milestones[number].documentation.module_comment is not None:
                self.refuse(
                    f"{at}.fields.kind",
                    "the milestone already has a module comment",
                    "change it with `set`",
                )
            return (*documentation, "module_comment")
        if not (isinstance(kind, str) and kind in DOC_LISTS):
            kinds = ", ".join(["module-comment", *DOC_LISTS])
            self.refuse(
                f"{at}.fields.kind", f"{value_text(kind)} is not a kind of documentation", kinds
            )
            return None
        return (*documentation, DOC_LISTS[kind])

    def _current(self, at: str, edit: Json) -> Found | None:
        """Return the entity that an edit names; None after reporting a bad id, role or version."""
        wanted: str = edit["id"]
        found = find(self.plan, self.names.get(wanted, wanted))
        if found is None:
            known = ", ".join(f.id for f in walk(self.plan))
            if wanted not in self.lost:
                self.refuse(f"{at}.id", f"there is no {wanted}", known, "not_found")
            return None
        if not self._may(at, found.kind):
            return None
        version, current = edit.get("version"), found.entity.version
        if type(version) is not int or version != current:
            # Shown as `plan show` prints it, to who writes the edit again.
            now = json.dumps(found.entity.model_dump(mode="json"), ensure_ascii=False)
            text = f"version {value_text(version)} is not the current one; the entity is now: {now}"
            self.refuse(f"{at}.version", text, f"version {current}", "conflict")
            return None
        return found

    def _set(self, at: str, edit: Json, _: str) -> Applied | None:
        found = self._current(at, edit)
        if found is None:
            return None
        fields = self._read_fields(at, found.kind, edit["fields"])
        for fixed in ("milestone", "kind"):
            if fixed in fields:
                del fields[fixed]
                text = f"`{fixed}` of an entity cannot be changed"
                self.refuse(f"{at}.fields.{fixed}", text, "remove the entity and add it again")
        designs, is_answered = self.role in (None, ARCHITECT), found.id in self.answered
        if found.kind == "checkpoint" and (is_answered or not designs):
            for name in fields.keys() - {"outcome"}:  # who is asked must not read other words
                is_done = "answered" if is_answered else "asked"
                text = f"{found.id} is {is_done} already, so its `{name}` stays as it is"
                self.refuse(f"{at}.fields.{name}", text, "outcome; or ask another: context ask")
        version = found.entity.version + 1
        entity = self._checked(at, found.kind, {**vars(found.entity), **fields, "version": version})
        changed = entity or found.entity.model_copy(update={"version": version})
        self.plan = with_value(self.plan, found.path, changed)
        return Applied("set", found.id, version)

    def _remove(self, at: str, edit: Json, _: str) -> Applied | None:
        found = self._current(at, edit)
        if found is None:
            return None
        if not KINDS[found.kind].is_added:
            how = "run `planner plan capture`" if found.kind == "change" else f"set {found.id}"
            self.refuse(f"{at}.id", f"{found.id} cannot be removed", how)
        elif found.kind == "checkpoint":
            text = f"{found.id}: a question stays in the plan, with what became of it"
            self.refuse(f"{at}.id", text, "withdraw it: `planner decide` with --withdraw and why")
        elif isinstance(number := found.path[-1], int):
            entities = value_at(self.plan, found.path[:-1])
            rest = (*entities[:number], *entities[number + 1 :])
            self.plan = with_value(self.plan, found.path[:-1], rest)
        else:
            self.plan = with_value(self.plan, found.path, None)
        return Applied("remove", found.id, found.entity.version)


def _blank(kind: str, new_id: str) -> Model:
    """Return a placeholder for a refused new entity, so that later edits can refer to its id."""
    values = {"id": new_id, "version": 1, "number": 1} if kind == "milestone" else {"id": new_id}
    return KINDS[kind].model.model_construct(**values)
