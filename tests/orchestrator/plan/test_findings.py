"""A finding that a person accepts or its author declines, from a review made by hand (PL-22)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from orchestrator.plan.gate import accept_finding, decline_finding
from shared.qr.schema import Review, read_review, write_review
from shared.qr.types import Item
from shared.resources import review_path
from state.actors import UNPROVEN
from tests.shared.execution.scene import Scene, milestone
from tests.state.plans import refusal

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.requirement("PL-22")

ITEMS = [
    Item(id="qs-001", scope="M-001", check="names-say-what", status="FAIL", severity="SHOULD",
         finding="x", by="script"),
    Item(id="qa-002", scope="*", check="fits", status="FAIL", severity="COULD", finding="y",
         by="reviewer"),
    Item(id="qa-003", scope="*", check="criteria-met", status="PASS", by="reviewer"),
]  # fmt: skip


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    made = Scene(tmp_path, [milestone(1, "a.py")])
    write_review(review_path(made.state_dir, "plan-code"), Review("plan-code", 2, ITEMS))
    made.place(workflow="planner", step=8, stage="gathering", depth="full")
    return made


def items(scene: Scene) -> dict[str, Item]:
    return {i.id: i for i in read_review(review_path(scene.state_dir, "plan-code")).items}


def told(scene: Scene) -> list[tuple[str, str, str]]:
    state = scene.state()
    rows = state.database.audit_rows(state.run)
    return [(row["who"], row["action"], row["detail"]) for row in rows]


def test_an_accepted_finding_is_stored_by_its_check_and_scope(scene: Scene) -> None:
    accept_finding(scene.state(), "plan-code", "qs-001", "*", "a name of the field")
    state = scene.state()
    assert state.database.accepted(state.run, "plan-code") == {
        ("plan-code", "names-say-what", "M-001"): "a name of the field"
    }
    assert told(scene) == [(UNPROVEN, "qr accept", "names-say-what M-001: a name of the field")]
    found = items(scene)
    assert found["qs-001"].accepted == "a name of the field"
    assert found["qa-002"].accepted is None
    assert read_review(review_path(scene.state_dir, "plan-code")).iteration == 2


def test_what_is_no_failing_item_and_no_check_to_accept_is_refused(scene: Scene) -> None:
    for name in ("qa-003", "qa-009", "fits"):
        [problem] = refusal(accept_finding, scene.state(), "plan-code", name, "*", "why")
        assert (problem.kind, problem.at) == ("not_found", name)
        assert problem.allowed.split(", ")[:2] == ["qs-001", "qa-002"]
    assert told(scene) == []


def test_the_author_declines_a_could_while_its_phase_is_fixed(scene: Scene) -> None:
    scene.place(step=6)
    decline_finding(scene.state(), "plan-code", "qa-002", "as the project does")
    found = items(scene)
    assert found["qa-002"].declined == "as the project does"
    assert not found["qs-001"].declined
    assert told(scene) == [("host", "qr decline", "plan-code qa-002: as the project does")]


@pytest.mark.parametrize(
    ("name", "kind", "said"),
    [
        ("qs-001", "refused", "a SHOULD is fixed, not declined"),
        ("qa-003", "not_found", "this is no failing item"),
        ("qa-009", "not_found", "this is no failing item"),
    ],
)
def test_what_is_no_failing_could_is_not_declined(
    name: str, kind: str, said: str, scene: Scene
) -> None:
    scene.place(step=6)
    [problem] = refusal(decline_finding, scene.state(), "plan-code", name, "why")
    assert (problem.kind, problem.at, problem.problem) == (kind, name, said)
    assert problem.allowed == "qa-002"


def test_nothing_is_declined_before_its_phase_is_fixed(scene: Scene) -> None:
    [problem] = refusal(decline_finding, scene.state(), "plan-code", "qa-002", "why")
    assert problem.problem == "plan-code is not being fixed: the run is at step 8"
