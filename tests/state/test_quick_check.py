"""A glance may see too much, never too little: what it lets pass is sound on a closer look."""

from __future__ import annotations

import copy
import re
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import ValidationError

from state.milestones import files_of
from state.models import Plan
from state.quick_check import glance
from state.validator import check_closely
from tests.state.plans import plain, sample_plan

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.requirement("PL-14")

BAD_PATHS = ("", ".", "..", "/a", "a/", "a//b", "a/../b", "./a", ".git/x", "a/.GIT", ".planner/x",
             ".Planner", "a\0b", "x\n/.planner/y")  # fmt: skip
REFERENCE = re.compile(r"[A-Z]+-[0-9]+")


def simple_plan() -> dict[str, Any]:
    """Return the sample plan without what a glance always looks at closely."""
    data = plain(sample_plan())
    for milestone in data["milestones"]:
        for intent in milestone["code_intents"]:
            intent["params"] = {}
    data["task_spec"] = [{"id": "T-1", "text": "a"}, {"id": "T-2", "text": "b"}]
    data["milestones"][0]["requirements"] = ["T-1", "RM-001", "prose"]
    data["milestones"][0]["waits_for"] = [data["checkpoints"][0]["id"]]
    return data


DATA = simple_plan()


def places(value: Any, way: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], str]]:  # noqa: ANN401
    if isinstance(value, str):
        yield way, value
    elif isinstance(value, (dict, list)):
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        for key, item in pairs:
            yield from places(item, (*way, key))


def edited() -> Iterator[Plan]:
    """Yield the plan with one reference, id or path in it replaced by each other one."""
    every = [(way, text) for way, text in places(DATA) if way[0] != "seals"]
    references = sorted(
        {text for _, text in every if REFERENCE.fullmatch(text)}
        | {"DL-999", "T-999", "RM-999", "CP-999"}
    )
    files = sorted({file for m in Plan.model_validate(DATA).milestones for file in files_of(m)})
    for way, text in every:
        others = references if REFERENCE.fullmatch(text) else ()
        for other in (*BAD_PATHS, *files) if text in files else others:
            data = copy.deepcopy(DATA)
            target = data
            for key in way[:-1]:
                target = target[key]
            target[way[-1]] = other
            try:
                yield Plan.model_validate(data)
            except ValidationError:
                continue


def test_a_sound_plan_is_seen_at_a_glance_with_its_files() -> None:
    plan = Plan.model_validate(DATA)
    assert glance(plan) == [files_of(m) for m in plan.milestones]


def test_what_a_glance_lets_pass_is_sound() -> None:
    seen = [(glance(plan), list(check_closely(plan))) for plan in edited()]
    assert [problems for files, problems in seen if files is not None and problems] == []
    assert sum(bool(problems) for _, problems in seen) > 100


def test_a_task_entry_that_stands_twice_is_looked_at_closely() -> None:
    data = copy.deepcopy(DATA)
    data["task_spec"] = [{"id": "T-1", "text": "a"}, {"id": "T-1", "text": "b"}]
    plan = Plan.model_validate(data)
    assert glance(plan) is None
    assert [p.at for p in check_closely(plan)] == ["task_spec"]
