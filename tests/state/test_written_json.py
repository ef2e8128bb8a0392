"""JSON that a model writes: one wording of what is wrong, and a quick answer that nothing is."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from state.errors import Refused
from state.plain_json import is_plainly_sound
from state.written_json import TEXT, an_object, checked, list_of, problems_in, sound_items

pytestmark = pytest.mark.requirement("PL-11")

# Every word that our schemas have.
SCHEMA: dict[str, Any] = {
    **an_object(
        {
            "kind": {"enum": ["one", "two", None, 1]}, "name": TEXT,
            "part": {"type": ["integer", "null"], "minimum": 1, "maximum": 3, "allowed": "1 to 3"},
            "share": {"type": "number"}, "sure": {"type": "boolean"},
            "rows": list_of({"$ref": "#/$defs/row"}, "[…]", minItems=1, maxItems=2),
            "free": {"type": "object", "additionalProperties": {"type": "string", "minLength": 1}},
        },
        ("kind",),
        '{"kind": "one"}',
    ),
    "why": "this one is whole",
    "allOf": [
        {"if": {"required": ["part"]}, "then": {"properties": {"name": TEXT}, "required": ["name"]}}
    ],
    "if": {"properties": {"kind": {"enum": ["two"]}}, "required": ["kind"]},
    "then": {"properties": {"rows": {}}, "required": ["rows"]},
    "else": {"properties": {"rows": {"maxItems": 1}}},
    "$defs": {"row": {"type": "array", "items": {"type": "string", "pattern": "^a"}}},
}  # fmt: skip
scalars = st.none() | st.booleans() | st.integers(-1, 4) | st.sampled_from(
    [1.0, 2.5, "", " ", "a", "b", "one", "two"]
)  # fmt: skip
rows = st.lists(st.lists(scalars, max_size=2) | scalars, max_size=3)
objects = st.fixed_dictionaries(
    {},
    optional={
        "kind": scalars, "name": scalars, "part": scalars, "share": scalars, "sure": scalars,
        "rows": rows | scalars, "free": st.dictionaries(st.sampled_from("ab"), scalars) | scalars,
        "more": scalars,
    },
)  # fmt: skip


@given(objects | scalars | rows)
@example({"kind": True})
@example({"kind": 1.0, "part": 2.0, "name": "a"})
@example({"kind": "two", "rows": [["a"], []]})
@example({"kind": "one", "rows": [["a"], []]})
def test_the_quick_answer_is_that_of_the_schema(value: object) -> None:
    sound = jsonschema.Draft202012Validator(SCHEMA).is_valid(value)
    assert is_plainly_sound(value, SCHEMA) == sound
    assert (not problems_in(value, SCHEMA, "whole")) == sound


@pytest.mark.parametrize("where", [{}, {"if": {"contains": 1}}, {"allOf": [{"format": "date"}]}])
def test_a_word_that_the_quick_answer_does_not_know_is_left_to_the_schema(
    where: dict[str, Any],
) -> None:
    schema = where or {"multipleOf": 2}
    assert not is_plainly_sound(4, schema)
    assert problems_in(4, schema, "whole") == []


def said(value: object, schema: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Return what is wrong with JSON, where, and what should stand there."""
    return [(p.at, p.problem, p.allowed) for p in problems_in(value, schema, "whole")]


def test_each_problem_says_where_what_and_what_should_stand_there() -> None:
    value = {"name": " ", "part": 7, "sure": None, "rows": [["b"], 3], "free": {"a": ""}, "x": 1}
    assert sorted(said(value, SCHEMA)) == [
        ("free.a", "this is empty", ""),
        ("kind", "it is missing", "one, two, null, 1"),
        ("name", "this is empty", "a text"),
        ("part", "this is too large", "1 to 3"),
        ("rows", "this has 2 entries, which are too many", "1 entries or fewer"),
        ("rows[0][0]", "this is not of the allowed form", ""),
        ("rows[1]", "this is a number, not a list", ""),
        ("sure", "this is null, not true or false", ""),
        ("x", "there is no such field: this one is whole",
         "kind, name, part, share, sure, rows, free"),
    ]  # fmt: skip
    assert said([], SCHEMA) == [("whole", "this is a list, not an object", '{"kind": "one"}')]
    assert said({"kind": 2}, SCHEMA) == [
        ("kind", "this is none of the possible values", "one, two, null, 1")
    ]


def test_a_part_of_a_file_is_named_by_its_place() -> None:
    assert [p.at for p in problems_in(3, TEXT, at="[2]")] == ["[2]"]
    value = {"kind": "one", "share": float("nan")}
    assert [p.at for p in problems_in(value, SCHEMA, at="[2]")] == ["[2].share"]


def test_a_list_that_is_too_long_is_one_problem_and_its_items_are_not_sound() -> None:
    schema = an_object({"rows": list_of(TEXT, "[…]", maxItems=2)}, (), "")
    problems = problems_in({"rows": [0, 0, "a"]}, schema)
    assert [p.at for p in problems] == ["rows"]
    assert sound_items([0, 0, "a"], problems, "rows") == {}


def test_items_with_a_problem_are_left_out_and_the_others_keep_their_numbers() -> None:
    value = ["a", 0, "c", " "]
    problems = problems_in(value, list_of(TEXT, "[…]"))
    assert sound_items(value, problems) == {0: "a", 2: "c"}
    assert sound_items({}, []) == {}


def test_of_very_many_problems_the_first_are_told_and_no_item_counts_as_sound() -> None:
    with pytest.raises(Refused) as caught:
        checked([0] * 5_000, list_of(TEXT, "[…]"), "whole")
    assert 50 < len(caught.value.problems) <= 200


def test_where_a_placeholder_still_stands_is_told_with_all_else() -> None:
    value = {"kind": "…", "name": "a … b", "rows": [["… (the name)"]], "free": {"a": " … "}}
    placeholder = "this is the example's placeholder"
    found = {at: problem for at, problem, _ in said(value, SCHEMA)}
    assert found == {"kind": placeholder, "rows[0][0]": placeholder, "free.a": placeholder}


def test_json_that_keeps_its_schema_is_returned() -> None:
    assert checked(["a"], list_of(TEXT, "[…]"), "whole") == ["a"]
