"""plan.json on disk: saved, loaded, refused where it is damaged (PL-10)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from state.errors import Refused
from state.plan_table import Plan
from state.shape import as_json, read
from state.store import load_plan, parse_plan, read_plan, save_plan
from tests.forms import examples
from tests.generated_table import TABLE, render_table
from tests.state.plans import (
    empty_plan,
    outcome,
    plain,
    refusal,
    sample_plan,
    without_defaults,
)

if TYPE_CHECKING:
    from state.errors import Problem

pytestmark = pytest.mark.requirement("PL-10")

DATA = plain(sample_plan())


def names(folder: Path) -> list[str]:
    return sorted(p.name for p in folder.iterdir())


DAMAGED = {
    "empty": b"",
    "blank": b" \n",
    "cut": json.dumps(DATA).encode()[:-40],
    "cut in the middle": json.dumps(DATA).encode()[:900],
    "latin-1": json.dumps(DATA, ensure_ascii=False).replace("One", "Été").encode("latin-1"),
    "utf-16": json.dumps(DATA).encode("utf-16"),
    "with a mark": b"\xef\xbb\xbf" + json.dumps(DATA).encode(),
    "zeros": b"\0" * 4096,
    "null": b"null",
    "number": b"2",
    "list": b"[]",
    "object": b"{}",
    "text": b'"plan"',
    "deep": b"[" * 100_000,
    "deep inside": b'{"schema_version": 2, "x": ' + b"[" * 100_000,
    "deep and closed": b'{"schema_version": 2, "x": ' + b"[" * 900 + b"]" * 900 + b"}",
    "endless number": b'{"schema_version": ' + b"9" * 10_000 + b"}",
    "bare": b'{"schema_version": 2}',
    "older": json.dumps({**DATA, "schema_version": 1}).encode(),
    "newer": json.dumps({**DATA, "schema_version": 3}).encode(),
    "far newer": json.dumps({**DATA, "schema_version": 10**30}).encode(),
    "odd version": json.dumps({**DATA, "schema_version": "two"}).encode(),
    "true version": json.dumps({**DATA, "schema_version": True}).encode(),
    "fraction": json.dumps({**DATA, "schema_version": 2.5}).encode(),
    "wrong type": json.dumps({**DATA, "milestones": {"M-001": {}}}).encode(),
    "odd milestone": json.dumps({**DATA, "milestones": [None]}).encode(),
    "conflict": b"<<<<<<< HEAD\n" + json.dumps(DATA).encode() + b"\n=======\n",
}


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_plan_is_refused_and_left_as_it_is(tmp_path: Path, name: str) -> None:
    path = tmp_path / "plan.json"
    path.write_bytes(DAMAGED[name])
    for reader in (load_plan, read_plan):
        problems = refusal(reader, str(path))
        assert {p.kind for p in problems} == {"invalid"}
        assert all(p.at.startswith((str(path), "plan")) for p in problems)
    assert path.read_bytes() == DAMAGED[name]
    assert names(tmp_path) == ["plan.json"]


def test_a_plan_of_a_newer_schema_says_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    path.write_bytes(DAMAGED["newer"])
    for reader in (load_plan, read_plan):
        (problem,) = refusal(reader, str(path))
        assert "newer planner (schema version 3, known: 2)" in problem.problem
        assert "update the planner" in problem.allowed


def test_a_plan_that_breaks_the_schema_names_every_field(tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    data = {**DATA, "depth": "deep", "overview": {"titel": "x"}}
    path.write_text(json.dumps(data))
    assert {p.at for p in refusal(load_plan, str(path))} == {"plan.depth", "plan.overview.titel"}


def test_a_plan_is_the_same_after_saving_and_loading(tmp_path: Path) -> None:
    path = str(tmp_path / "plan.json")
    for plan in (empty_plan(), sample_plan()):
        save_plan(path, plan)
        assert load_plan(path) == plan
        assert as_json(read_plan(path)) == plain(plan)
        first = Path(path).read_bytes()
        save_plan(path, load_plan(path))
        assert Path(path).read_bytes() == first


@given(st.binary(max_size=200) | st.text(max_size=60).map(str.encode))
@settings(max_examples=examples(150))
def test_any_bytes_are_a_plan_or_refused(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    path = tmp_path_factory.getbasetemp() / "any.json"
    path.write_bytes(data)
    for reader in (load_plan, read_plan):
        assert refusal(reader, str(path))


@given(st.data())
@settings(max_examples=examples(150))
def test_any_flipped_bytes_are_a_plan_or_refused(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    path = tmp_path_factory.getbasetemp() / "flipped.json"
    whole = bytearray(sample_plan().model_dump_json().encode())
    for _ in range(data.draw(st.integers(1, 3))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(whole)
    for reader in (load_plan, read_plan):
        outcome(reader, str(path))


# a frozen plan, whose JSON is one line


@pytest.mark.parametrize("params", [{}, {"a": 1e15, "b": 1e15, "c": 1e15}])
def test_a_name_that_stands_twice_in_a_frozen_plan_is_refused_whatever_hides_its_letters(
    params: dict[str, float],
) -> None:
    """Numbers are written longer than they were read, just as much as the second name adds."""
    plan = sample_plan().model_copy(update={"seals": {"seal": ""}})
    data = plain(plan)
    data["milestones"][0]["code_intents"][0]["params"] = params
    line = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    line = line.replace(f"1{'0' * 15}.0", "1e15")
    read = parse_plan(line.encode(), "plan.json")
    assert plain(read) == data
    longer = len(read.model_dump_json().encode()) - len(line.encode())
    assert longer >= 0
    second = '"%s":"",' % ("n" * max(1, longer - len('"":"",')))
    twice = line.replace('"seals":{', f'"seals":{{{second}{second}')
    assert parse_plan(twice.replace(second, "", 1).encode(), "plan.json").seals
    with pytest.raises(Refused, match="twice"):
        parse_plan(twice.encode(), "plan.json")


# what is read without pydantic


@pytest.mark.requirement("SD-9")
def test_the_table_of_fields_is_made_from_the_models() -> None:
    assert TABLE.read_text(encoding="utf-8") == render_table(), "--update-golden makes it"


@pytest.mark.requirement("SD-9")
def test_what_a_plan_was_written_without_has_its_default_as_the_models_give_it(
    tmp_path: Path,
) -> None:
    """Every field with a default is left out, at every depth, and read again both ways."""
    for plan in (empty_plan(), sample_plan()):
        bare = without_defaults(json.loads(plan.model_dump_json()), "Plan")
        path = tmp_path / "plan.json"
        path.write_text(json.dumps(bare))
        assert as_json(read_plan(str(path))) == plain(load_plan(str(path))) == plain(plan)


def faults(data: object) -> list[Problem]:
    return read(data, Plan)[1]


def test_every_plan_that_is_valid_is_complete() -> None:
    assert faults(plain(empty_plan())) == []
    assert faults(DATA) == []


def test_what_is_missing_without_a_default_or_wrong_is_named_with_every_place() -> None:
    broken = json.loads(json.dumps(DATA))
    broken["milestones"][0]["tests"] = None
    del broken["milestones"][1]["name"]
    broken["overview"]["title"] = 3
    broken["remarks"] = "x"
    broken["milestones"][0]["documentation"]["docstrings"] = [None]
    broken["milestones"][0]["documentation"]["module_comment"] = 4
    broken["milestones"][0]["is_documentation_only"] = 1
    broken["milestones"][0]["number"] = True
    places = [p.at for p in faults(broken)]
    assert {
        "plan.milestones[0].tests",
        "plan.milestones[1].name",
        "plan.remarks",
        "plan.milestones[0].documentation.docstrings[0]",
        "plan.milestones[0].documentation.module_comment",
        "plan.milestones[0].is_documentation_only",
        "plan.milestones[0].number",
        "plan.overview.title",
    } == set(places)
    assert [p.at for p in faults([])] == ["plan"]
