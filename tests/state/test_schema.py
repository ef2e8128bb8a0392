"""The plan file's schema: models, published JSON Schema, and how they agree (PL-10)."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pydantic import ValidationError

from state.kinds import schema
from state.models import Plan
from state.validator import check_plan
from tests.forms import examples
from tests.state.plans import OLDER_PLAN, older_plan, plain, sample_plan

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.requirement("PL-10")

PUBLISHED = Path(__file__).resolve().parents[2] / "state" / "schemas" / "plan.schema.json"
VALIDATOR = Draft202012Validator(Plan.model_json_schema())
FULL = plain(sample_plan())


def is_valid(data: object) -> bool:
    try:
        Plan.model_validate_json(json.dumps(data))
    except ValidationError:
        return False
    return True


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:  # noqa: ANN401
    """Yield the path of every value in a JSON tree."""
    yield at
    if isinstance(value, (dict, list)):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(item, (*at, key))


def parent(data: Any, place: tuple[Any, ...]) -> Any:  # noqa: ANN401
    for key in place[:-1]:
        data = data[key]
    return data


def test_a_plan_with_only_the_older_fields_is_valid_and_sound() -> None:
    plan = Plan.model_validate_json(json.dumps(older_plan()))
    assert VALIDATOR.is_valid(older_plan())
    assert check_plan(plan) == []
    assert (plan.revision, plan.depth, plan.digest, plan.base) == (1, "full", None, None)


def test_a_plan_keeps_every_older_field_it_was_given() -> None:
    kept = plain(Plan.model_validate(older_plan()))

    def missing(wanted: Any, found: Any, at: str = "") -> list[str]:  # noqa: ANN401
        if isinstance(wanted, dict):
            return [p for k, v in wanted.items() for p in missing(v, found[k], f"{at}.{k}")]
        if isinstance(wanted, list):
            pairs = enumerate(zip(wanted, found, strict=True))
            return [p for n, (v, f) in pairs for p in missing(v, f, f"{at}[{n}]")]
        return [] if wanted == found else [at]

    assert missing(OLDER_PLAN, kept) == []


def test_a_plan_with_every_kind_of_entity_is_valid_and_sound() -> None:
    assert check_plan(Plan.model_validate(FULL)) == []
    assert VALIDATOR.is_valid(FULL)


def test_the_published_schema_is_that_of_the_models(request: pytest.FixtureRequest) -> None:
    text = json.dumps(Plan.model_json_schema(), indent=2) + "\n"
    if request.config.getoption("--update-golden"):
        PUBLISHED.write_text(text, encoding="utf-8")
    assert PUBLISHED.read_text(encoding="utf-8") == text
    assert schema(None) == Plan.model_json_schema()


def test_the_published_schema_is_a_schema() -> None:
    Draft202012Validator.check_schema(json.loads(PUBLISHED.read_text(encoding="utf-8")))


def test_an_unknown_field_is_refused_in_every_object_but_params() -> None:
    accepted = []
    for place in places(FULL):
        data = copy.deepcopy(FULL)
        target = parent(data, (*place, None))
        if isinstance(target, dict) and not {"params", "counters", "seals"} & set(place):
            target["surprise"] = 1
            if is_valid(data) or VALIDATOR.is_valid(data):
                accepted.append(place)
    assert accepted == []


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("schema_version", 1),
        ("schema_version", 3),
        ("schema_version", "2"),
        ("plan_id", "no uuid"),
        ("revision", 0),
        ("revision", "1"),
        ("revision", True),
        ("revision", 2**53),
        ("digest", "short"),
        ("depth", "deep"),
        ("counters", {"M": -1}),
        ("counters", {"M": 2**53}),
        ("milestones", {}),
        ("overview", None),
    ],
)
def test_a_wrong_value_is_refused_by_models_and_schema(field: str, value: object) -> None:
    data = {**FULL, field: value}
    assert not is_valid(data)
    assert not VALIDATOR.is_valid(data)


@pytest.mark.parametrize(
    ("more", "valid"),
    [
        ({"options": []}, False),
        ({"options": [{"key": "a", "label": "A"}]}, False),
        ({"options": [], "origin": "plan"}, False),
        ({"options": [], "origin": "strategy"}, True),
    ],
)
def test_only_a_question_of_the_strategy_has_fewer_than_two_options(
    more: dict[str, Any], *, valid: bool
) -> None:
    asked = {"id": "CP-001", "question": "Which one?", **more}
    data = {**FULL, "checkpoints": [asked]}
    assert (is_valid(data), VALIDATOR.is_valid(data)) == (valid, valid)


@pytest.mark.parametrize(
    ("entity_id", "valid"),
    [
        ("M-001", True),
        ("M-1000", True),
        ("M-999999999999999", True),
        ("M-9999999999999999", False),
        ("M-01", False),
        ("M-1a1", False),
        ("m-001", False),
        ("M-٠٠١", False),
        ("CI-001", False),
        (" M-001", False),
    ],
)
def test_an_id_is_its_prefix_and_three_to_fifteen_ascii_digits(
    entity_id: str, *, valid: bool
) -> None:
    data = older_plan()
    data["milestones"][0]["id"] = entity_id
    data["milestone_dependencies"]["waves"] = []
    assert is_valid(data) is valid


SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 9),
    st.integers(),
    # Whole floats are the exception that the next test documents.
    st.floats(allow_nan=False, allow_infinity=False).filter(lambda f: not f.is_integer()),
    st.sampled_from(["", "M-001", "DL-002", "CP-1", "100644", "MUST", "full", "a" * 40]),
    # Python's `$` matches before a last newline, that of JSON Schema (ECMA 262) does not.
    st.text(max_size=6).filter(lambda t: not t.endswith("\n")),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=5,
)
PLACES = sorted((p for p in places(FULL) if p), key=str)
OLDER_PLACES = sorted((p for p in places(OLDER_PLAN) if p), key=str)


@st.composite
def mutated(draw: st.DrawFn) -> Any:  # noqa: ANN401
    """Draw a plan with one or two values replaced, taken away or put beside."""
    older = draw(st.booleans())
    data = copy.deepcopy(OLDER_PLAN if older else FULL)
    for _ in range(draw(st.integers(1, 2))):
        place = draw(st.sampled_from(OLDER_PLACES if older else PLACES))
        try:
            owner = parent(data, place)
            _mutate(draw, owner, place[-1])
        except (KeyError, IndexError, TypeError):
            continue  # the first change has taken the second one's place away
    return data


def _mutate(draw: st.DrawFn, owner: Any, key: Any) -> None:  # noqa: ANN401
    how = draw(st.sampled_from(["replace", "replace", "take", "double"]))
    if how == "replace":
        owner[key] = draw(VALUES)
    elif how == "take":
        del owner[key]
    elif isinstance(owner, list):
        owner.append(copy.deepcopy(owner[key]))
    else:
        owner[draw(st.text(max_size=4))] = draw(VALUES)


@given(mutated())
@settings(max_examples=examples(100))
def test_models_and_published_schema_judge_any_plan_alike(data: Any) -> None:  # noqa: ANN401
    assert is_valid(data) == VALIDATOR.is_valid(data)


def test_where_models_are_stricter_than_json_schema_can_be() -> None:
    """Whole floats, and what only `check_plan` knows: references, waves, numbers in params."""
    data = older_plan()
    data["milestones"][0]["number"] = 1.0
    assert VALIDATOR.is_valid(data)
    assert not is_valid(data)
    data = older_plan()
    data["milestones"][0]["code_intents"][0]["decision_refs"] = ["DL-099"]
    assert VALIDATOR.is_valid(data)
    assert check_plan(Plan.model_validate(data))


@given(mutated())
@settings(max_examples=examples(80))
def test_a_valid_plan_is_the_same_after_it_was_written_and_read(data: Any) -> None:  # noqa: ANN401
    if is_valid(data):
        plan = Plan.model_validate_json(json.dumps(data))
        assert Plan.model_validate_json(plan.model_dump_json(indent=2)) == plan
