"""An imported plan loses the dependencies that no order can keep, with a warning each (PC-3)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.plan.import_plan import drop_dependencies
from state.models import Milestone
from state.store import load_plan
from state.waves import find_cycle
from tests.journey import FILES, Journey
from tests.state.plans import OLDER_PLAN

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

    Repositories = Callable[..., Repository]

pytestmark = pytest.mark.requirement("PC-3")

NAMES = ["M-001", "M-002", "M-003", "M-004"]


def milestone(name: str, number: int, before: list[str]) -> Milestone:
    return Milestone(id=name, number=number, name="x", depends_on=tuple(before))


def plan_of(**depends_on: list[str]) -> list[Milestone]:
    """Return milestones by the last digit of their ids, with what they depend on."""
    return [
        milestone(f"M-00{name[1:]}", number, [f"M-00{one}" for one in before])
        for number, (name, before) in enumerate(depends_on.items(), 1)
    ]


@pytest.mark.parametrize(
    ("milestones", "kept", "warnings"),
    [
        (plan_of(m1=[], m2=["1"]), [[], ["M-001"]], []),
        (plan_of(m1=["1"]), [[]], ["M-001: its dependency on M-001, which is itself"]),
        (plan_of(m1=["9"]), [[]], ["M-001: its dependency on M-009, which the plan does not have"]),
        (
            plan_of(m1=["3"], m2=["1"], m3=["2", "9"]),
            [["M-003"], ["M-001"], []],
            ["M-003: its dependency on M-002, which closes M-003 -> M-002 -> M-001 -> M-003",
             "M-003: its dependency on M-009, which the plan does not have"],
        ),
    ],
)  # fmt: skip
def test_each_impossible_dependency_is_removed_with_a_warning_of_its_own(
    milestones: list[Milestone], kept: list[list[str]], warnings: list[str]
) -> None:
    found, warned = drop_dependencies(milestones)
    assert warned == warnings
    assert [[*m.depends_on] for m in found] == kept


@given(st.lists(st.lists(st.sampled_from([*NAMES, "M-009"]), unique=True), min_size=4, max_size=4))
def test_what_is_left_has_an_order_and_as_much_was_warned_of(before: list[list[str]]) -> None:
    rows = [milestone(name, n, before[n - 1]) for n, name in enumerate(NAMES, 1)]
    found, warnings = drop_dependencies(rows)
    assert find_cycle(found) == []
    assert len(warnings) == sum(map(len, before)) - sum(len(m.depends_on) for m in found)
    for one, wanted in zip(found, before, strict=True):
        for lost in {*wanted} - {*one.depends_on}:
            assert any(w.startswith(f"{one.id}: its dependency on {lost},") for w in warnings)


def test_the_command_says_what_it_has_left_out(make_repo: Repositories) -> None:
    journey = Journey(make_repo("repo", files=FILES))
    journey.start()
    plan = json.loads(json.dumps(OLDER_PLAN))
    plan["milestones"] = [
        {**plan["milestones"][0], "id": m.id, "depends_on": m.depends_on, "number": m.number,
         "files": [f"src/{m.number}.py"], "name": f"Part {m.number}",
         "code_intents": [], "code_changes": [], "documentation": {}, "tests": {}}
        for m in plan_of(m1=["2"], m2=["1"])
    ]  # fmt: skip
    journey.write_answer("old.json", plan)
    answer = journey.planner("plan", "import", f"{journey.state_dir}/answers/old.json")
    assert answer.code == 0, answer.text
    assert answer.data("left out") == (
        "M-002: its dependency on M-001, which closes M-002 -> M-001 -> M-002"
    )
    stored = load_plan(f"{journey.state_dir}/plan.json")
    assert [m.depends_on for m in stored.milestones] == [("M-002",), ()]


@pytest.mark.requirement("SD-1")
def test_what_an_imported_plans_strategy_asked_is_named_and_cited_by_nobody(
    make_repo: Repositories,
) -> None:
    """Its user has answered it there; here its id may become that of another question."""
    journey = Journey(make_repo("repo", files=FILES))
    journey.start()
    plan = json.loads(json.dumps(OLDER_PLAN))
    plan["milestones"][0]["requirements"] = ["dates are read", "CP-001", "CP-002"]
    options = [{"key": "a", "label": "A"}, {"key": "b", "label": "B"}]
    asked = {"question": "Which?", "options": options, "outcome": "declined: no", "answer": "A"}
    told = {"question": "For whom?", "options": [], "origin": "strategy", "answer": "All."}
    plan["checkpoints"] = [{"id": "CP-001", **told}, {"id": "CP-002", **asked}]
    journey.write_answer("old.json", plan)
    answer = journey.planner("plan", "import", f"{journey.state_dir}/answers/old.json")
    assert "CP-001: what a strategy asked, For whom? → All." in answer.data("left out")
    stored = load_plan(f"{journey.state_dir}/plan.json")
    assert stored.milestones[0].requirements == ("dates are read", "CP-002")
    [kept] = stored.checkpoints
    assert (kept.id, kept.answer, kept.outcome) == ("CP-002", "", "")
