"""A frozen plan: canonical bytes, the digest that names them, seals that find an edit (PL-15)."""

from __future__ import annotations

import copy
import json
import math
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from orchestrator.ci.validate import Wanted, validate_files
from state.freeze import check_seals, freeze, seal
from state.frozen_bytes import digest_of
from state.models import Plan
from state.validator import check_plan
from tests.forms import examples
from tests.state.plans import plain, sample_plan

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from state.errors import Problem

pytestmark = pytest.mark.requirement("PL-15")

NOW = "2026-01-02T03:04:05Z"
FROZEN, DIGEST = freeze(sample_plan(), NOW)
DATA: dict[str, Any] = json.loads(FROZEN)

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
)
JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner)
)


def jcs(value: Any) -> str:  # noqa: ANN401
    """Return RFC 8785 canonical JSON, written from the RFC and not from the library we use."""
    if isinstance(value, dict):
        names = sorted(value, key=lambda name: name.encode("utf-16-be"))
        return "{" + ",".join(f"{jcs(n)}:{jcs(value[n])}" for n in names) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(jcs, value)) + "]"
    if isinstance(value, float):
        return number(value)
    return json.dumps(value, ensure_ascii=False)


def number(value: float) -> str:
    """Return a number as ECMA 262 Number::toString does (RFC 8785, section 3.2.2.3)."""
    if value == 0:
        return "0"
    digits, n = _decimal(abs(value))
    sign, k = ("-" if value < 0 else ""), len(digits)
    if k <= n <= 21:
        return sign + digits + "0" * (n - k)
    if 0 < n <= 21:
        return f"{sign}{digits[:n]}.{digits[n:]}"
    if -6 < n <= 0:
        return f"{sign}0.{'0' * -n}{digits}"
    power = f"e{'+' if n > 0 else '-'}{abs(n - 1)}"
    return sign + (digits if k == 1 else f"{digits[0]}.{digits[1:]}") + power


def _decimal(value: float) -> tuple[str, int]:
    """Return the shortest digits that give `value` back, and where their decimal point is."""
    mantissa, _, power = f"{value!r}e0".partition("e")
    whole, _, part = mantissa.partition(".")
    part = "" if part == "0" else part
    digits = (whole + part).lstrip("0")
    point = len(whole) + int(power.partition("e")[0])
    point -= len(whole + part) - len(digits)
    return digits.rstrip("0"), point


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:  # noqa: ANN401
    """Yield the path of every value that holds no other."""
    if isinstance(value, (dict, list)) and value:
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(item, (*at, key))
    else:
        yield at


def owner_of(place: tuple[Any, ...]) -> str:
    """Return the name of the innermost entity around a place, or of its part of the plan."""
    names, value = [str(place[0])], DATA
    for key in place:
        value = value[key]
        if isinstance(value, dict) and "id" in value and "version" in value:
            names.append(value["id"])
    return names[-1]


def edited(place: tuple[Any, ...], value: object) -> bytes:
    """Return the frozen bytes with one value changed, canonical again."""
    data = copy.deepcopy(DATA)
    target: Any = data
    for key in place[:-1]:
        target = target[key]
    target[place[-1]] = value
    return jcs(data).encode("utf-8", "surrogatepass")


def findings(tmp_path: Path, data: bytes, *, frozen: bool = True) -> list[Problem]:
    """Return what `planner validate` finds in a file with these bytes."""
    file = tmp_path / "plan.json"
    file.write_bytes(data)
    (report,) = validate_files([str(file)], Wanted(frozen=frozen))
    return report.problems


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("frozen")


def test_a_frozen_plan_is_canonical_and_sound(folder: Path) -> None:
    assert jcs(DATA).encode() == FROZEN
    assert check_plan(Plan.model_validate_json(FROZEN)) == []
    assert findings(folder, FROZEN) == []
    assert DATA["frozen_at"] == NOW


def test_the_digest_is_that_of_the_bytes_without_the_digest_member() -> None:
    rest = {k: v for k, v in DATA.items() if k != "digest"}
    assert sha256(jcs(rest).encode()).hexdigest() == DIGEST == DATA["digest"]
    assert digest_of(FROZEN) == (DIGEST, DIGEST)


def test_freezing_again_what_was_frozen_gives_the_same_bytes() -> None:
    plan = Plan.model_validate_json(FROZEN)
    assert freeze(plan, NOW) == (FROZEN, DIGEST)


def test_every_entity_and_every_part_has_a_seal() -> None:
    ids = {p[1] for p in _ids(DATA)}
    assert ids <= set(DATA["seals"])
    assert set(DATA) - set(DATA["seals"]) == {"digest", "seals"}
    assert DATA["seals"] == seal(DATA)


def _ids(value: Any) -> Iterator[tuple[str, str]]:  # noqa: ANN401
    if isinstance(value, dict):
        if "id" in value and "version" in value:
            yield "id", value["id"]
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from _ids(item)


def test_a_change_of_any_one_value_is_named_with_its_entity() -> None:
    for place in places(DATA):
        if place[0] in ("digest", "seals"):
            continue
        data = copy.deepcopy(DATA)
        target: Any = data
        for key in place[:-1]:
            target = target[key]
        was = target[place[-1]]
        target[place[-1]] = "edited" if was != "edited" else "again"
        named = {p.at for p in check_seals(data)}
        if place[-1] == "id" and owner_of(place[:-1]) == was:
            assert {was, "edited"} <= named, place  # gone, and added
        else:
            (name,) = named
            assert name == owner_of(place) or name.startswith(f"{owner_of(place)}."), place


@given(st.sampled_from(list(places(DATA))), JSON)
@settings(max_examples=examples(120))
def test_any_change_of_any_one_value_is_a_finding(
    folder: Path, place: tuple[Any, ...], value: object
) -> None:
    data = edited(place, value)
    assume(data != FROZEN)
    assert findings(folder, data)


@given(st.integers(0, len(FROZEN) - 1), st.integers(1, 255))
@settings(max_examples=examples(120))
def test_any_changed_byte_is_a_finding(folder: Path, at: int, flip: int) -> None:
    data = FROZEN[:at] + bytes([FROZEN[at] ^ flip]) + FROZEN[at + 1 :]
    assert findings(folder, data)


@given(st.integers(0, len(FROZEN) - 1), st.sampled_from([b"", b" ", b"\n", b'"x":1,']))
@settings(max_examples=examples(80))
def test_any_cut_or_inserted_bytes_are_a_finding(folder: Path, at: int, more: bytes) -> None:
    for data in (FROZEN[:at] + more + FROZEN[at + 1 :], FROZEN[:at] + more + FROZEN[at:]):
        assert findings(folder, data) or is_the_same(data)


def is_the_same(data: bytes) -> bool:
    """Return whether only spaces between the members of a plan are others."""
    return bool(json.loads(data) == json.loads(FROZEN)) and jcs(json.loads(data)).encode() == FROZEN


def test_a_truncated_file_is_a_finding_wherever_it_ends(folder: Path) -> None:
    for end in range(0, len(FROZEN), 97):
        assert findings(folder, FROZEN[:end])


@pytest.mark.parametrize("value", [2**53, 10**400, math.nan, math.inf, 1e300, "\ud800"])
def test_an_edit_that_brings_in_what_cannot_be_frozen_is_named_with_its_place(
    value: object,
) -> None:
    data = copy.deepcopy(DATA)
    data["milestones"][0]["code_intents"][0]["params"]["limit"] = value
    assert [p.at for p in check_seals(data)] == ["CI-001"]


@pytest.mark.parametrize("seals", [None, [], 3, "x", {}, {"M-001": 1}, {"M-001": ["x"]}])
def test_damaged_seals_are_a_finding_and_no_failure(folder: Path, seals: object) -> None:
    assert check_seals({**DATA, "seals": seals})
    assert findings(folder, edited(("seals",), seals))


@given(JSON)
@settings(max_examples=examples(100))
def test_any_json_object_in_place_of_a_frozen_plan_gives_findings(value: Any) -> None:  # noqa: ANN401
    assert check_seals({"milestones": value, "seals": value, "planning_context": value})
    assert check_seals({**DATA, "milestones": [{"id": value, "version": value}]})
    assert check_seals(value if isinstance(value, dict) else {"x": value})


def test_deep_nesting_in_place_of_a_frozen_plan_gives_a_finding() -> None:
    deep: Any = {}
    for _ in range(5000):
        deep = {"planning_context": [deep]}
    assert check_seals({"planning_context": deep})


def test_only_a_plan_that_says_so_in_every_member_counts_as_frozen(folder: Path) -> None:
    draft = {**DATA, "frozen_at": None, "digest": None, "seals": {}}
    assert findings(folder, jcs(draft).encode(), frozen=False) == []
    assert [p.at for p in findings(folder, jcs(draft).encode())] == ["frozen_at"]
    without = {k: v for k, v in DATA.items() if k not in ("digest", "frozen_at")}
    assert [p.at for p in findings(folder, jcs(without).encode(), frozen=False)] == ["frozen_at"]


@pytest.mark.requirement("CM-1")
def test_a_copy_that_is_indented_is_as_good_as_the_plan(folder: Path) -> None:
    assert not findings(folder, json.dumps(DATA, indent=2).encode())
    edited = {**DATA, "created_at": "2020-01-01T00:00:00Z"}
    [problem] = findings(folder, json.dumps(edited, indent=2).encode())
    assert problem.at == "created_at"


def test_the_same_content_with_another_digest_is_told_from_an_edit(folder: Path) -> None:
    (problem,) = findings(folder, json.dumps({**DATA, "digest": "0" * 64}, indent=2).encode())
    assert problem.at == "digest"
    assert "reformatted" in problem.problem


def test_text_that_looks_like_a_digest_is_not_taken_for_it() -> None:
    trick = f',"digest":"{"0" * 64}"'
    data = plain(sample_plan())
    data["base"]["branch"] = trick
    data["checkpoints"][0]["question"] = trick
    data["diagrams"][0]["title"] = trick
    data["context"]["assumptions"] = [trick]
    frozen, digest = freeze(Plan.model_validate(data), NOW)
    assert digest_of(frozen) == (digest, digest)


@given(JSON)
@settings(max_examples=examples(100))
def test_the_library_writes_what_the_rfc_says(value: Any) -> None:  # noqa: ANN401
    rfc8785 = pytest.importorskip("rfc8785")
    assert rfc8785.dumps(value).decode() == jcs(value)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.0, "1"),
        (-0.0, "0"),
        (1e21, "1e+21"),
        (1e20, "100000000000000000000"),
        (1e-6, "0.000001"),
        (1e-7, "1e-7"),
        (123456.789, "123456.789"),
        (5e-324, "5e-324"),
        (1.7976931348623157e308, "1.7976931348623157e+308"),
        ({"\ufb33": 1, "😀": 2, "a": 3}, '{"a":3,"😀":2,"\ufb33":1}'),
        ('\x1f\u2028\\"\n', '"\\u001f\u2028\\\\\\"\\n"'),
    ],
)
def test_canonical_form_is_that_of_the_rfc(value: object, text: str) -> None:
    rfc8785 = pytest.importorskip("rfc8785")
    assert jcs(value) == text
    assert rfc8785.dumps(value).decode() == text
