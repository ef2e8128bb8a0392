"""The picture of the waves: every milestone once, no line through another one's mark."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hypothesis import given
from hypothesis import strategies as st

from orchestrator.submit.page.html import markup
from orchestrator.submit.page.waves import WIDEST, picture, place
from tests.orchestrator.submit.page.reviews import plan_data, plan_of

if TYPE_CHECKING:
    from state.models import Plan


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    """Draw a plan whose milestones depend on earlier ones."""
    milestones: list[dict[str, Any]] = []
    for n in range(1, draw(st.integers(1, 12)) + 1):
        known = [m["id"] for m in milestones]
        needs = draw(st.lists(st.sampled_from(known), unique=True)) if known else []
        milestones.append({"id": f"M-{n:03d}", "number": n, "name": "x", "depends_on": needs})
    return plan_of({**plan_data(), "milestones": milestones})


@given(plans())
def test_lines_lead_from_what_is_needed_and_cross_no_mark(plan: Plan) -> None:
    rows = place(plan)
    lane_of = {row.milestone.id: row.lane for row in rows}
    at = {row.milestone.id: n for n, row in enumerate(rows)}
    assert sorted(at) == sorted(m.id for m in plan.milestones)
    for row in rows:
        assert [lane_of[m] for m in row.milestone.depends_on] == list(row.into)
        assert row.lane not in row.passing
        needed_by = [m for m in plan.milestones if row.milestone.id in m.depends_on]
        assert row.leaves == bool(needed_by)
        for other in needed_by:
            between = rows[at[row.milestone.id] + 1 : at[other.id]]
            assert all(row.lane in r.passing for r in between)


def test_a_line_leaves_what_is_needed_later_and_passes_what_stands_between() -> None:
    needs = {"M-001": [], "M-002": ["M-001"], "M-003": [], "M-004": ["M-001", "M-003"]}
    milestones = [
        {"id": name, "number": int(name[2:]), "name": "x", "depends_on": wanted}
        for name, wanted in needs.items()
    ]
    rows = place(plan_of({**plan_data(), "milestones": milestones}))
    drawn = {row.milestone.id: (row.lane, row.into, row.passing, row.leaves) for row in rows}
    assert drawn == {
        "M-001": (0, (), (), True),
        "M-003": (1, (), (0,), True),
        "M-002": (2, (0,), (0, 1), False),
        "M-004": (0, (0, 1), (), False),
    }


def test_many_lanes_stay_narrow() -> None:
    needs = [{"id": f"M-{n:03d}", "number": n, "name": "x"} for n in range(1, 41)]
    last = {"id": "M-041", "number": 41, "name": "x", "depends_on": [m["id"] for m in needs]}
    plan = plan_of({**plan_data(), "milestones": [*needs, last]})
    drawn = markup(picture(plan, {m.id: m.name for m in plan.milestones}))
    assert drawn.count(f'width="{WIDEST}"') == 41 + 2
    assert "Wave 1 · 40 at once" in drawn
