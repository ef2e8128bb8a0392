"""context.json: eight categories, checked once (PL-17)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.builders import problem_text
from state.context import CATEGORIES, check_context, task_items
from state.errors import Refused
from tests.forms import examples
from tests.state.plans import outcome, refusal

pytestmark = pytest.mark.requirement("PL-17")


def test_all_eight_categories_are_kept_in_order_and_missing_ones_are_empty() -> None:
    context = check_context({"user_quotes": ["q"], "task_spec": ["a", "b"]})
    assert list(context) == list(CATEGORIES)
    assert context["task_spec"] == ["a", "b"]
    assert context["assumptions"] == []
    assert len(CATEGORIES) == 8


@pytest.mark.parametrize(
    ("value", "at"),
    [
        ([], "context"),
        (None, "context"),
        ({}, "task_spec"),
        ({"task_spec": []}, "task_spec"),
        ({"task_spec": "a"}, "task_spec"),
        ({"task_spec": ["a", 1]}, "task_spec[1]"),
        ({"task_spec": ["a", ""]}, "task_spec[1]"),
        ({"task_spec": ["a"], "wishes": ["b"]}, "wishes"),
        ({"task_spec": ["a"], "constraints": {"MUST": "x"}}, "constraints"),
        ({"task_spec": ["a\ud800"]}, "task_spec[0]"),
    ],
)
def test_what_breaks_the_schema_is_named_with_its_place(value: object, at: str) -> None:
    (problem,) = refusal(check_context, value)
    assert problem.at == at
    assert problem.allowed


def test_an_unknown_category_is_refused_with_the_known_ones() -> None:
    (problem,) = refusal(check_context, {"task_spec": ["a"], "wishes": []})
    assert problem.allowed == ", ".join(CATEGORIES)


def test_every_problem_is_named_at_once() -> None:
    wrong = {"task_spec": [1, ""], "wishes": [], "constraints": 3}
    assert len(refusal(check_context, wrong)) == 4


def test_entries_of_the_task_are_numbered_and_excluded_ones_marked() -> None:
    items = task_items(
        check_context({"task_spec": ["do a", "Out of scope: b", "not in scope: c"]}),
        {"do a": "strategy"},
    )
    assert [(i.id, i.out_of_scope) for i in items] == [("T-1", False), ("T-2", True), ("T-3", True)]
    assert [i.origin for i in items] == ["strategy", "request", "request"]


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from([*CATEGORIES, "x"]), inner, max_size=4)
        ),
        max_leaves=10,
    )
)
@settings(max_examples=examples(200))
def test_any_json_is_a_context_or_refused(value: Any) -> None:  # noqa: ANN401
    context, problems = outcome(check_context, value)
    assert problems or check_context(context) == context


def test_deep_nesting_is_refused() -> None:
    deep: Any = []
    for _ in range(5000):
        deep = [deep]
    assert refusal(check_context, {"task_spec": deep})
    assert refusal(check_context, deep)


@pytest.mark.parametrize("value", [["secret-word"], {"task_spec": [{"token": "secret-word"}]}])
def test_a_message_about_a_wrong_shape_shows_no_value(value: object) -> None:
    with pytest.raises(Refused) as caught:
        check_context(value)
    assert "secret-word" not in "".join(problem_text(p) for p in caught.value.problems)
