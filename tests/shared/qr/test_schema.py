"""The review file: what is refused, that nothing is lost, that the quick check agrees."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.qr.schema import JSON_SCHEMA, Review, check_review, read_review, write_review
from shared.qr.types import ANSWERERS, AUTHORS, SEVERITIES, STATUSES, Item
from shared.resources import ROOT
from state.errors import Refused
from state.phases import PHASES
from state.plain_json import is_plainly_sound
from tests.hostile_json import cases

if TYPE_CHECKING:
    from pathlib import Path

    from state.phases import Phase

VALIDATOR = jsonschema.Draft202012Validator(JSON_SCHEMA)

SEED_ITEM = {"id": "qa-001", "scope": "*", "check": "covers it", "status": "TODO", "finding": None}
GOOD: dict[str, Any] = {
    "schema_version": "1.0",
    "phase": "plan-code",
    "iteration": 2,
    "items": [
        {
            "id": "qa-1234",
            "scope": "src/a.py",
            "check": "code-parses",
            "severity": "SHOULD",
            "status": "FAIL",
            "finding": "line 3",
            "note": "only this file",
            "group": "1",
            "by": "script",
            "rounds": 2,
            "accepted": "known",
            "declined": "the name is public",
            "evidence": "src/a.py:3",
            "cited": {"src/a.py:3": "x = 1"},
        }
    ],
}


def with_item(**fields: object) -> dict[str, Any]:
    data = copy.deepcopy(GOOD)
    data["items"][0].update(fields)
    return data


def without(name: str) -> dict[str, Any]:
    data = copy.deepcopy(GOOD)
    del data["items"][0][name]
    return data


SOUND = [
    GOOD,
    {**GOOD, "items": []},
    {**GOOD, "verdicts": {"1": {"verdict": None, "reason": ""}}},
    {**GOOD, "verdicts": {"1": {"verdict": "fail", "reason": "why"}}},
    {"schema_version": "1.0", "phase": "plan-design", "items": [SEED_ITEM]},
    with_item(group=None, accepted=None, rounds=0),
    with_item(status="PASS", finding=None),
    with_item(rounds=2.0),
    with_item(declined=None, cited=None),
    *(without(n) for n in ("severity", "note", "group", "by", "rounds", "accepted")),
    *(without(n) for n in ("declined", "evidence", "cited")),
    with_item(note=""),
]
UNSOUND: list[Any] = [
    [],
    None,
    {},
    {**GOOD, "schema_version": "2.0"},
    {**GOOD, "schema_version": 1.0},
    {**GOOD, "phase": "design"},
    {**GOOD, "iteration": 0},
    {**GOOD, "iteration": True},
    {**GOOD, "items": {}},
    {**GOOD, "items": ["qa-001"]},
    {**GOOD, "verdict": "pass"},
    {**GOOD, "verdicts": []},
    {**GOOD, "verdicts": {"1": "pass"}},
    {**GOOD, "verdicts": {"1": {"verdict": "PASS", "reason": ""}}},
    {**GOOD, "verdicts": {"1": {"verdict": "pass"}}},
    {**GOOD, "verdicts": {"1": {"verdict": "pass", "reason": None}}},
    {**GOOD, "verdicts": {"1": {"verdict": ["pass"], "reason": "", "by": "x"}}},
    *(without(n) for n in ("id", "scope", "check", "status", "finding")),
    with_item(id="qa-01"),
    with_item(id="qa-٣٣٣"),
    with_item(id=1),
    with_item(scope=" "),
    with_item(check=""),
    with_item(severity="must"),
    with_item(severity=["MUST"]),
    with_item(status="OK"),
    with_item(status="NOT_CHECKED", finding=None),
    with_item(finding=""),
    with_item(finding=3),
    with_item(group=""),
    with_item(by="host"),
    with_item(rounds=-1),
    with_item(rounds=1.5),
    with_item(rounds="2"),
    with_item(accepted=""),
    with_item(accepted=True),
    with_item(declined=""),
    with_item(declined=["why"]),
    with_item(evidence=" "),
    with_item(evidence=["src/a.py:3"]),
    with_item(cited="src/a.py:3"),
    with_item(cited={"src/a.py:3": 3}),
    with_item(note=None),
    with_item(remark="x"),
]


@pytest.mark.requirement("PL-18")
@pytest.mark.parametrize("data", SOUND)
def test_a_sound_review_fits_the_check_and_its_schema(data: object) -> None:
    assert check_review(data, "f") == []
    assert VALIDATOR.is_valid(data)


@pytest.mark.requirement("PL-18")
@pytest.mark.parametrize("data", UNSOUND)
def test_an_unsound_review_is_found_by_the_check_and_its_schema(data: object) -> None:
    assert check_review(data, "f")
    assert not VALIDATOR.is_valid(data)


scalars = (
    st.none() | st.booleans() | st.integers(-1, 3) | st.floats() | st.sampled_from(["", " ", "x"])
)
fields = {
    "id": st.sampled_from(["qa-001", "qa-1", "x"]) | scalars,
    "scope": st.sampled_from(["*", "M-001"]) | scalars,
    "check": st.just("a-check") | scalars,
    "severity": st.sampled_from(SEVERITIES) | scalars,
    "status": st.sampled_from(STATUSES) | scalars,
    "finding": st.just("what is wrong") | scalars,
    "group": scalars,
    "by": st.sampled_from(AUTHORS) | scalars,
    "rounds": scalars,
    "accepted": scalars,
    "declined": scalars,
    "cited": st.dictionaries(st.just("a.py:1"), scalars) | scalars,
    "more": scalars,
}
reviews = st.fixed_dictionaries(
    {
        "schema_version": st.sampled_from(["1.0", "1.1", 1.0]),
        "phase": st.sampled_from(PHASES) | scalars,
        "items": st.lists(st.fixed_dictionaries({}, optional=fields) | scalars, max_size=1),
    },
    optional={"iteration": scalars},
)


@pytest.mark.requirement("PL-18")
@given(reviews)
def test_the_quick_answer_and_the_schema_always_agree(data: object) -> None:
    assert is_plainly_sound(data, JSON_SCHEMA) == VALIDATOR.is_valid(data)


def test_the_schema_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(JSON_SCHEMA)


items = st.builds(
    Item,
    id=st.integers(0, 10**6).map(lambda n: f"qa-{n:03d}"),
    scope=st.just("src/ä b.py"),
    check=st.just("code-parses"),
    severity=st.sampled_from(SEVERITIES),
    status=st.sampled_from(STATUSES),
    finding=st.text(st.characters(codec="utf-8"), min_size=1).map(lambda t: f"x{t}"),
    group=st.none() | st.just("2"),
    by=st.sampled_from(AUTHORS),
    rounds=st.integers(0, 9),
    accepted=st.none() | st.just("because"),
    declined=st.none() | st.just("the name is public"),
    note=st.just("") | st.just("a doubt"),
    evidence=st.none() | st.just("a.py:1"),
    cited=st.none() | st.just({}) | st.just({"a.py:1": "x = 1", "run 3": ""}),
    answered_by=st.none() | st.sampled_from(ANSWERERS),
    asked=st.none() | st.just("Does it hold?"),
    digest=st.none() | st.just("0123456789abcdef"),
)


@pytest.mark.requirement("PL-18")
@given(
    st.sampled_from(PHASES),
    st.integers(1, 9),
    st.lists(items, unique_by=lambda i: i.id),
)
def test_what_is_written_is_read_again(
    tmp_path_factory: pytest.TempPathFactory, phase: Phase, iteration: int, rows: list[Item]
) -> None:
    path = str(tmp_path_factory.getbasetemp() / "qr.json")
    review = Review(phase, iteration, rows)
    write_review(path, review)
    assert read_review(path) == review


@pytest.mark.requirement("PL-18")
def test_a_file_with_only_the_older_fields_is_read_with_defaults(tmp_path: Path) -> None:
    path = tmp_path / "qr-plan-design.json"
    path.write_text(
        json.dumps({"schema_version": "1.0", "phase": "plan-design", "items": [SEED_ITEM]})
    )
    review = read_review(str(path))
    assert review.iteration == 1
    assert review.items == [Item(id="qa-001", scope="*", check="covers it")]


@pytest.mark.requirement("PL-18")
def test_all_that_is_wrong_with_a_file_is_said_at_once(tmp_path: Path) -> None:
    path = tmp_path / "qr-plan-code.json"
    data = with_item(severity="BAD", rounds=-1)
    path.write_text(json.dumps({**data, "phase": "x", "extra": 1}))
    with pytest.raises(Refused) as refusal:
        read_review(str(path))
    assert [(p.at, p.problem, p.allowed) for p in refusal.value.problems] == [
        (
            f"{path}: extra",
            "there is no such field",
            "schema_version, phase, iteration, items, verdicts",
        ),
        (
            f"{path}: phase",
            "this is none of the possible values",
            "plan-design, plan-code, plan-docs, impl-code, impl-docs",
        ),
        (
            f"{path}: items[0].severity",
            "this is none of the possible values",
            "MUST, SHOULD, COULD",
        ),
        (f"{path}: items[0].rounds", "this is too small", "an integer from 0"),
    ]


@pytest.mark.requirement("PL-18")
def test_an_id_that_two_items_have_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "qr-plan-code.json"
    data = {**GOOD, "items": [*GOOD["items"], {**SEED_ITEM, "id": "qa-1234"}]}
    path.write_text(json.dumps(data))
    with pytest.raises(Refused) as refusal:
        read_review(str(path))
    assert [(p.at, p.problem, p.allowed) for p in refusal.value.problems] == [
        (f"{path}: items[1].id", "qa-1234 is the id of items[0] too", "give each item its own id")
    ]


@pytest.mark.requirement("PL-18")
def test_a_refused_review_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "qr-plan-code.json"
    write_review(str(path), Review("plan-code"))
    before = path.read_bytes()
    for bad in (
        Item(id="qa-001", scope="*", check="c", status="FAIL"),
        Item(id="qa-001", scope="*", check="c", finding="\ud800"),
        Item(id="1", scope="*", check="c"),
    ):
        with pytest.raises(Refused):
            write_review(str(path), Review("plan-code", 1, [bad]))
    assert path.read_bytes() == before


@pytest.mark.requirement("PL-18")
@given(st.binary(max_size=200))
def test_a_file_of_bytes_that_are_no_review_is_refused_and_never_crashes(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    path = tmp_path_factory.getbasetemp() / "damaged.json"
    path.write_bytes(data)
    with pytest.raises(Refused):
        read_review(str(path))


@pytest.mark.requirement("PL-18", "SD-9")
@pytest.mark.parametrize(("text", "said"), cases("an object"))
def test_a_damaged_review_is_refused_in_the_words_of_any_json(
    tmp_path: Path, text: str, said: str
) -> None:
    path = tmp_path / "damaged.json"
    path.write_text(text)
    with pytest.raises(Refused) as refusal:
        read_review(str(path))
    assert said in str(refusal.value)


WRITER = f"""
import sys
sys.path.insert(0, {ROOT!r})
from quality_reviewer.items import next_number
from shared.qr.schema import read_review, write_review
from shared.qr.types import Item, item_id
from state.files import Lock
folder, name = sys.argv[1:]
for n in range(5):
    with Lock(folder + "/lock", "a test"):
        review = read_review(folder + "/qr.json")
        new = item_id(next_number(review.items))
        review.items.append(Item(id=new, scope="*", check=f"{{name}}-{{n}}"))
        write_review(folder + "/qr.json", review)
"""


@pytest.mark.requirement("PL-18")
def test_reviewers_who_write_at_once_lose_nothing(tmp_path: Path) -> None:
    write_review(str(tmp_path / "qr.json"), Review("plan-code"))
    writers = [
        subprocess.Popen([sys.executable, "-I", "-S", "-c", WRITER, str(tmp_path), str(n)])
        for n in range(6)
    ]
    assert [w.wait() for w in writers] == [0] * 6
    review = read_review(str(tmp_path / "qr.json"))
    assert {i.check for i in review.items} == {f"{w}-{n}" for w in range(6) for n in range(5)}
    assert len({i.id for i in review.items}) == 30
