"""Any sequence of edits gives a valid plan or `Refused`, and nothing else (PL-11, PL-12)."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from state.actors import ROLES
from state.edits import apply_edits
from state.freeze import freeze
from state.frozen_bytes import digest_of
from state.kinds import KINDS, entities, find
from state.models import Plan
from state.store import parse_plan
from state.validator import check_plan
from tests.forms import LONG, examples
from tests.state.plans import SETS, change, empty_plan, kind_of, outcome, sample_plan

VALIDATOR = Draft202012Validator(Plan.model_json_schema())
SAMPLE = sample_plan()

TEXT = st.text(max_size=8) | st.sampled_from(["a.py", "b/c.py", "../x", "]]>", "a, b", "$m"])
WILD = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(), max_size=5)
    | st.sampled_from(["add", "set", "remove", "milestone", "M-001", "$m"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["op", "kind", "id", "version", "fields", "as"]), inner)
        | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=12,
)
PLAIN_FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "milestone": st.sampled_from(["M-001", "M-001", "M-002", "$m", "M-004", "nothing"]),
    "kind": st.sampled_from(["docstring", "module-comment", "inline-comment", "poem"]),
    "depends_on": st.lists(st.sampled_from(["M-001", "M-002", "$m"]), max_size=1),
    "waits_for": st.lists(st.sampled_from(["CP-001", "CP-001", "$c"]), max_size=1),
    "decision_ref": st.sampled_from(["DL-001", "DL-001", None, "$d", "M-001"]),
    "decision_refs": st.lists(st.sampled_from(["DL-001", "DL-002", "$d"]), max_size=1),
    "files": st.lists(st.sampled_from(["a.py", "b.py", "c.py", "d e/f,g.py"]), max_size=1),
    "nodes": st.lists(st.fixed_dictionaries({"id": st.sampled_from("xyz")}), max_size=3),
    "edges": st.just([]) | st.just([{"source": "x", "target": "y"}]),
    "file": st.sampled_from(["a.py", "a.py", "b.py", "c.py", "/x"]),
    "options": st.sampled_from([["a", "b"], ["a", "b"], ["a", "b", "c"], ["a"], ["a", "a"]]).map(
        lambda keys: [{"key": key, "label": "L"} for key in keys]
    ),
    "tests": st.just({}) | st.fixed_dictionaries({"files": st.lists(TEXT, max_size=1)}),
    "params": st.dictionaries(st.text(max_size=3), WILD, max_size=2),
    "mode": st.sampled_from(["code", "docs", "test"]),
    "multi": st.booleans(),
    "is_documentation_only": st.booleans(),
    "max_tokens": st.integers(0, 3) | st.none(),
    "max_turns": st.none(),
    "architecture": st.just({"diagram_ascii": "x"}),
    "data_flow": st.just({}),
    "flags": st.lists(TEXT, max_size=1),
    "requirements": st.lists(TEXT | st.just("T-1"), max_size=1),
    "acceptance_criteria": st.lists(TEXT, max_size=1),
    "allowed_tools": st.lists(TEXT, max_size=1),
    "denied_tools": st.just([]),
    "why_comments": st.lists(TEXT, max_size=1),
    "outcome": st.sampled_from(["", "declined: no", "a.py:1", "done: M-001"]),
}
REQUIRED = {
    name: [f for f, info in kind.model.model_fields.items() if info.is_required()]
    for name, kind in KINDS.items()
}


def versions(plan: Plan) -> dict[str, int]:
    return {getattr(e, "id", k): e.version for k in KINDS for e in entities(plan, k)}


@st.composite
def fields_of(draw: st.DrawFn, kind: str) -> dict[str, Any]:
    """Draw fields that an edit of this kind may name, those it needs first."""
    allowed = KINDS[kind].fields
    needed = [f for f in REQUIRED[kind] if f in allowed]
    needed += ["milestone"] if "milestone" in allowed else []
    needed += ["kind"] if kind == "doc" else []
    names = needed + draw(st.lists(st.sampled_from(allowed), max_size=1))
    usual = {name: draw(PLAIN_FIELDS.get(name, TEXT)) for name in names}
    return usual if draw(st.integers(0, 9)) else {**usual, "odd": 1}


@st.composite
def edits(draw: st.DrawFn, known: dict[str, int]) -> dict[str, Any]:
    """Draw an edit of a plan with the entities `known`, right more often than not."""
    op = draw(st.sampled_from(["add", "add", "set", "set", "set", "remove"]))
    if op == "add":
        kind = draw(st.sampled_from([k for k in KINDS if KINDS[k].is_added]))
        new = {"op": op, "kind": kind, "fields": draw(fields_of(kind))}
        return {**new, **draw(st.sampled_from([{}, {"as": "$m"}, {"as": "$d"}, {"as": "$c"}]))}
    entity = draw(st.sampled_from([*known, "$m", "nothing"]))
    stale = draw(st.sampled_from([0, 0, 0, 0, 0, 0, 1]))
    edit: dict[str, Any] = {"op": op, "id": entity, "version": known.get(entity, 1) + stale}
    if op == "set":
        kind = kind_of(entity) if entity in known else "milestone"
        fields = draw(fields_of(kind))
        fixed = {"milestone", "kind"} if draw(st.integers(0, 9)) else set()
        edit["fields"] = {k: v for k, v in fields.items() if k not in fixed}
    return edit


def hold(before: Plan, after: Plan) -> None:
    """Assert what must be true of any plan that edits have made out of another."""
    assert check_plan(after) == []
    text = after.model_dump_json()
    assert Plan.model_validate_json(text) == after
    assert VALIDATOR.is_valid(json.loads(text))
    assert all(after.counters[name] >= number for name, number in before.counters.items())
    old, new = versions(before), versions(after)
    assert all(new[name] >= version for name, version in old.items() if name in new)
    for name in set(new) - set(old):
        prefix, _, number = name.rpartition("-")
        assert int(number) > before.counters.get(prefix, 0)
    data, digest = freeze(after, "2026-01-02T03:04:05Z")
    assert digest_of(data) == (digest, digest)


@pytest.mark.requirement("PL-11", "PL-12")
@given(st.none() | st.none() | st.sampled_from(ROLES), st.data())
@settings(max_examples=1000 if LONG else 40)
def test_any_sequence_of_likely_edits_gives_a_sound_plan_or_a_refusal(
    role: str | None, data: st.DataObject
) -> None:
    plan = SAMPLE
    for _ in range(data.draw(st.integers(1, 6))):
        batch = data.draw(st.lists(edits(versions(plan)), min_size=1, max_size=3))
        done, _ = outcome(apply_edits, plan, batch, role)
        event(f"{len(batch)} applied" if done else "refused")
        if done:
            after, applied = done
            assert len(applied) == len(batch)
            hold(plan, after)
            plan = after


@pytest.mark.requirement("PL-11", "PL-12")
@given(st.lists(WILD | edits(versions(SAMPLE)), max_size=4))
@settings(max_examples=4000 if LONG else 100)
def test_any_json_gives_a_sound_plan_or_a_refusal(batch: list[Any]) -> None:
    done, _ = outcome(apply_edits, SAMPLE, batch, None)
    if done:
        hold(SAMPLE, done[0])


@pytest.mark.requirement("PL-10", "PL-11")
@given(st.text(st.characters(), max_size=30), st.sampled_from(sorted(SETS)), st.data())
@settings(max_examples=2000 if LONG else 60)
def test_any_text_in_any_field_comes_back_as_it_went_in_or_is_refused(
    text: str, entity: str, data: st.DataObject
) -> None:
    found = find(SAMPLE, entity)
    assert found is not None
    names = [n for n in KINDS[found.kind].fields if n not in ("milestone", "params", "number")]
    name = data.draw(st.sampled_from(names))
    listed = isinstance(getattr(found.entity, name), tuple)
    edit = change(entity, found.entity.version, **{name: [text] if listed else text})
    done, _ = outcome(apply_edits, SAMPLE, [edit], None)
    if done is None:
        return
    frozen, _ = freeze(done[0], "2026-01-02T03:04:05Z")
    for stored in (done[0].model_dump_json().encode(), frozen):
        entity_now = find(parse_plan(stored, "plan.json"), entity)
        assert entity_now is not None
        assert getattr(entity_now.entity, name) == ((text,) if listed else text)


@pytest.mark.requirement("PL-11")
@given(st.text(st.characters(), max_size=10))
@settings(max_examples=examples(100))
def test_any_text_as_id_kind_name_or_field_is_a_refusal_or_an_edit(text: str) -> None:
    for edit in (
        {"op": text},
        {"op": "add", "kind": text, "fields": {}},
        {"op": "add", "kind": "risk", "as": text, "fields": {"risk": text, text: text}},
        {"op": "set", "id": text, "version": 1, "fields": {text: text}},
        {"op": "remove", "id": text, "version": text},
    ):
        outcome(apply_edits, empty_plan(), [edit], None)


def test_the_same_edits_give_the_same_bytes() -> None:
    once, again = sample_plan().model_dump_json(), sample_plan().model_dump_json()
    assert sha256(once.encode()).digest() == sha256(again.encode()).digest()
