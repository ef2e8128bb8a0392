"""A plan of some of another's milestones (PM-7)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from state.edits import finish
from state.errors import Refused
from state.models import Milestone, Plan, Remark, TaskItem
from state.parts import part_of
from state.results import Outcome, VerifyResult
from state.statements import UNCITED, is_left_out, outcome_of
from state.validator import check_plan
from tests.state.plans import TREE, empty_plan

pytestmark = pytest.mark.requirement("PM-7")

IDS = [f"M-{number:03d}" for number in range(1, 7)]


def plan_with(needs: dict[str, set[str]]) -> Plan:
    """Return a plan whose milestones depend on others, as verified and reviewed as one can be."""
    milestones = tuple(
        Milestone(id=name, number=number, name=name, depends_on=tuple(sorted(needs.get(name, ()))))
        for number, name in enumerate(IDS, 1)
    )
    verified = VerifyResult(command="make test", baseline="pass", outcome="pass", tree=TREE)
    reviewed = Outcome(phase="plan-code", iteration=1, by="host", judged=("fits",), tree=TREE)
    plan = empty_plan(milestones=milestones, verify=(verified,), reviews=(reviewed,))
    return finish(plan)


def test_what_the_commands_said_of_the_whole_is_not_said_of_a_part() -> None:
    whole = plan_with({})
    part = part_of(whole, {"M-002"})
    assert part.verify == ()
    assert part.reviews == whole.reviews
    assert (part.revision, part.frozen_at, part.digest) == (whole.revision + 1, None, None)


def test_the_refusal_names_all_that_a_part_needs_however_far_away() -> None:
    whole = plan_with({"M-004": {"M-003"}, "M-003": {"M-001"}})
    with pytest.raises(Refused) as refused:
        part_of(whole, {"M-004", "M-006"})
    (problem,) = refused.value.problems
    assert (problem.at, problem.allowed) == ("M-004", "--only M-001,M-003,M-004,M-006")
    part_of(whole, {"M-001", "M-003", "M-004", "M-006"})


@pytest.mark.requirement("SD-1")
def test_what_only_others_would_have_done_is_told_as_left_out_by_the_person() -> None:
    milestones = (
        Milestone(id="M-001", number=1, name="one", requirements=("T-1", "RM-001")),
        Milestone(id="M-002", number=2, name="two", requirements=("T-1", "RM-001", "RM-002")),
    )
    remarks = tuple(Remark(id=f"RM-00{n}", text="Say why", revision=1) for n in (1, 2, 3))
    task = (TaskItem(id="T-1", text="f adds two"),)
    whole = empty_plan(milestones=milestones, task_spec=task, user_remarks=remarks)
    part = part_of(finish(whole), {"M-001"})
    left = "left out by the person: M-002"
    some, none = f"done: M-001; {left}", f"declined: {left}"
    assert [outcome_of(part, one) for one in part.task_spec] == [some]
    assert [outcome_of(part, one) for one in part.user_remarks] == [some, none, UNCITED]
    assert [one.id for one in part.user_remarks if is_left_out(part, one)] == ["RM-002"]


@given(st.data())
def test_a_part_is_a_valid_plan_or_refused_and_never_lacks_what_it_needs(
    data: st.DataObject,
) -> None:
    needs = {
        name: data.draw(st.sets(st.sampled_from(IDS[:at]), max_size=2))
        for at, name in enumerate(IDS)
        if at
    }
    only = data.draw(st.sets(st.sampled_from(IDS), min_size=1, max_size=len(IDS) - 1))
    whole = plan_with(needs)
    stands = all(needs.get(name, set()) <= only for name in only)
    try:
        part = part_of(whole, only)
    except Refused:
        assert not stands
        return
    assert stands
    assert {m.id for m in part.milestones} == only
    assert {name for wave in part.milestone_dependencies.waves for name in wave.milestones} == only
    assert check_plan(part) == []
