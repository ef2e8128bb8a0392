"""What is wrong with a value is said in our words, with what is allowed, whatever the value is."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import ValidationError

from shared.builders import problem_text
from state import models
from state.context import check_context
from state.errors import Problem, Refused, value_text
from state.fields import Model
from state.invalid import problems_of
from state.plain_json import LARGEST_INTEGER
from state.store import parse_plan

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.requirement("PL-11")
# One or more of every JSON type, each wrong somewhere, and what Python's JSON reads besides.
WRONG: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 3.0, 1.5, 2**60, 10**400, float("nan"), float("inf"), "", "x", "3",
    "true", "\ud800", [], [1], ["x"], [None], [[]], [{}], [["a"]], [["a", "b", 0, 1]], [{"Doc": 1}],
    [{"key": "a", "label": "A"}] * 5, {}, {"a": 1}, {"x": "y"}, {"str": 1}, {"Doc": []},
)  # fmt: skip
FOREIGN = re.compile(
    r"input should|should (be|have|match)|field required|extra inputs|ensure this|unable to parse"
    r"|valid (string|integer|boolean|dictionary|array|list|number)|required property|of the type",
    re.IGNORECASE,
)  # fmt: skip
TAGS = re.compile(r"\.(?:str|constrained-int|tuple\[.*|[A-Z]\w*)(?=[.\[]|$)")


def every_model(base: type[Model] = Model) -> Iterator[type[Model]]:
    for model in base.__subclasses__():
        yield model
        yield from every_model(model)


def problems(model: type[Model], value: object, *, as_json: bool) -> list[Problem]:
    """Return what is wrong with a value, given as an edit gives it, or as a file holds it."""
    try:
        if as_json:
            model.model_validate_json(json.dumps(value))
        else:
            model.model_validate(value)
    except ValidationError as error:
        return problems_of(error, "plan")
    return []


@pytest.mark.parametrize("as_json", [False, True])
def test_no_wrong_value_of_any_field_is_told_in_the_words_of_a_library(*, as_json: bool) -> None:
    count = 0
    for model in sorted(set(every_model()), key=lambda one: one.__name__):
        whole = [*WRONG, *({name: value} for name in model.model_fields for value in WRONG)]
        for value in whole:
            for problem in problems(model, value, as_json=as_json):
                count += 1
                told = f"{model.__name__} {value!r}: {problem.at}: {problem_text(problem)}"
                assert not FOREIGN.search(problem_text(problem)), told
                assert problem.allowed, told
                named = "'Doc'" in told or "'str'" in told  # by whoever wrote the value
                assert named or not TAGS.search(problem.at), told
    assert count > 5_000


def only(model: type[Model], **fields: Any) -> tuple[str, str, str]:  # noqa: ANN401
    """Return place, problem and allowed values of the one problem that is no missing field."""
    found = [p for p in problems(model, fields, as_json=False) if "missing" not in p.problem]
    (one,) = found
    return one.at, one.problem, one.allowed


@pytest.mark.parametrize(
    ("model", "field", "value", "wanted"),
    [
        ("Milestone", "number", 0, ("plan.number", "this is too small", "1 or more")),
        ("Milestone", "number", "3", ("plan.number", "this is a text, not a whole number",
                                      "a whole number")),
        ("Milestone", "number", 3.0, ("plan.number", "this is a number, not a whole number",
                                      "a whole number")),
        ("Milestone", "number", True, ("plan.number", "this is true or false, not a whole number",
                                       "a whole number")),
        ("Milestone", "number", 2**60, (
            "plan.number", "this is too large", f"{LARGEST_INTEGER} or less")),
        ("Milestone", "is_documentation_only", "yes", (
            "plan.is_documentation_only", "this is a text, not true or false", "true or false")),
        ("Milestone", "tests", [], ("plan.tests", "this is a list, not an object",
                                    "an object")),
        ("Milestone", "colour", 1, (
            "plan.colour", "there is no such field", "leave the field out")),
        ("Milestone", "mode", "red", (
            "plan.mode", "this is none of the possible values",
            "'code', 'test', 'research', 'design', 'docs' or 'run'")),
        ("Checkpoint", "options", [], ("plan.options", "this has 0 entries, which are too few",
                                       "2 entries or more")),
        ("Checkpoint", "options", [{"key": str(n), "label": "A"} for n in range(5)], (
            "plan.options", "this has 5 entries, which are too many", "4 entries or fewer")),
        ("Plan", "seals", [], ("plan.seals", "this is a list, not an object",
                               "an object")),
        ("Plan", "seals", {"Doc": 1}, ("plan.seals.Doc", "this is a number, not a text", "a text")),
        ("Base", "commit", "\ud800", (
            "plan.commit", "this text holds half of a character", "a text that UTF-8 can hold")),
        # Where one of several kinds of values may stand, all of them are named at once …
        ("Documentation", "docstrings", [1], (
            "plan.docstrings[0]", "this is a number, not an object or a text",
            "an object or a text")),
        ("Change", "context_lines", True, (
            "plan.context_lines", "this is true or false, not a whole number, a text or a list",
            "a whole number, a text or a list")),
        # … and where it is one of them, what is wrong with that.
        ("Change", "context_lines", -1, (
            "plan.context_lines", "this is too small", "0 or more")),
        ("Change", "context_lines", [1], (
            "plan.context_lines[0]", "this is a number, not a text", "a text")),
        ("Change", "why_comments", [{"text": 1}], (
            "plan.why_comments[0].text", "this is a number, not a text", "a text")),
        ("Change", "why_comments", [{"text": "a", "Doc": 1}], (
            "plan.why_comments[0].Doc", "there is no such field", "leave the field out")),
    ],
)  # fmt: skip
def test_a_wrong_value_is_named_with_what_is_allowed(
    model: str, field: str, value: object, wanted: tuple[str, str, str]
) -> None:
    assert only(getattr(models, model), **{field: value}) == wanted


def test_a_missing_field_of_one_of_several_kinds_is_the_only_problem() -> None:
    found = problems(models.Documentation, {"docstrings": [{"id": "DOC-001"}]}, as_json=False)
    assert [(p.at, p.problem) for p in found] == [("plan.docstrings[0].file", "it is missing")]


def test_a_value_that_nests_too_deeply_to_be_shown_is_told_of_all_the_same() -> None:
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    assert value_text(deep) == "a list that nests too deeply"
    assert only(models.Milestone, tests=deep)[1] == ("this is a list, not an object")


def test_what_is_not_json_is_refused_in_our_words() -> None:
    for data in (b"", b"{", b"[" * 500, b"\xff", b'{"a": 1}}'):
        with pytest.raises(Refused) as caught:
            parse_plan(data, "plan.json")
        for problem in caught.value.problems:
            assert not FOREIGN.search(problem_text(problem)), problem_text(problem)
        try:
            models.Plan.model_validate_json(data)
        except ValidationError as error:
            (one,) = problems_of(error, "plan")
            assert one.problem.startswith("this is not JSON")


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ([], "this is a list, not an object"),
        ({"task_spec": "x"}, "this is a text, not a list"),
        ({"task_spec": []}, "this is empty"),
        ({"task_spec": [1]}, "this is a number, not a text"),
        ({}, "it is missing"),
        ({"task_spec": ["x"], "more": []}, "there is no such field"),
    ],
)
def test_a_context_is_refused_in_the_same_words(value: object, said: str) -> None:
    with pytest.raises(Refused) as caught:
        check_context(value)
    assert [p.problem for p in caught.value.problems] == [said]
    assert all(p.allowed for p in caught.value.problems)
