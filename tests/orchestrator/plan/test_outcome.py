"""How a phase that passes or fails is stored, from a hand-made review (PL-20, PL-21)."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.plan.outcome import Decision, record_fail
from shared.qr.schema import Review, read_review, write_review
from shared.qr.types import Item
from shared.resources import review_path
from state.errors import Refused
from tests.shared.execution.scene import Scene, milestone

if TYPE_CHECKING:
    from pathlib import Path

    from state.phases import Phase

GATES: list[tuple[str, str, int, int]] = [
    ("planner", "plan-design", 5, 3), ("planner", "plan-code", 8, 6),
    ("planner", "plan-docs", 11, 9), ("executor", "impl-code", 5, 3),
    ("executor", "impl-docs", 8, 6),
]  # fmt: skip
ITEMS = [
    Item(id="qa-001", scope="*", check="a", status="FAIL", severity="MUST", finding="x"),
    Item(id="qa-002", scope="*", check="b", status="PASS", severity="MUST"),
    Item(id="qa-003", scope="*", check="c", status="FAIL", severity="COULD", finding="y"),
]


def fail(scene: Scene, phase: Phase, gate: int, workflow: str) -> Decision:
    """Fail the gate of a phase once more, as its review file has it now."""
    state = scene.place(workflow=workflow, step=gate)
    path = review_path(scene.state_dir, phase)
    iteration = state.database.phase(state.run, phase)[1]
    if not os.path.exists(path):
        write_review(path, Review(phase, iteration, ITEMS))
    decision = Decision(read_review(path).items, iteration)
    record_fail(state, phase, decision)
    return decision


@pytest.mark.requirement("PL-20", "PL-21")
@pytest.mark.parametrize(("workflow", "phase", "gate", "back"), GATES)
def test_each_failed_gate_begins_the_next_round_at_the_work_step(
    workflow: str, phase: Phase, gate: int, back: int, tmp_path: Path
) -> None:
    scene = Scene(tmp_path, [milestone(1, "a.py")])
    for number in (1, 2, 3):
        assert fail(scene, phase, gate, workflow).iteration == number
        state = scene.state()
        assert state.database.phase(state.run, phase) == ("RETRY", number + 1)
        assert (state.run.workflow, state.run.step) == (workflow, back)
        assert read_review(review_path(scene.state_dir, phase)).iteration == number + 1
    rows = scene.state().database.outcomes(scene.state().run, phase)
    assert [(r["iteration"], r["verdict"], r["computed"]) for r in rows] == [
        (1, "fail", "fail"), (2, "fail", "fail"), (3, "fail", "fail")
    ]  # fmt: skip
    sent = [[item["id"] for item in row["items"]] for row in rows]
    assert sent == [["qa-001", "qa-003"], ["qa-001", "qa-003"], ["qa-001"]]


def test_a_round_that_a_killed_command_has_counted_is_not_counted_again(tmp_path: Path) -> None:
    scene = Scene(tmp_path, [milestone(1, "a.py")])
    path = review_path(scene.state_dir, "plan-code")
    write_review(path, Review("plan-code", 2, ITEMS))
    state = scene.place(workflow="planner", step=8)
    record_fail(state, "plan-code", Decision(ITEMS, 1))
    assert read_review(path).iteration == 2
    assert state.database.phase(state.run, "plan-code") == ("RETRY", 2)


def test_a_failure_against_the_figures_is_in_the_audit_with_its_reason(tmp_path: Path) -> None:
    scene = Scene(tmp_path, [milestone(1, "a.py")])
    passed: list[Any] = [ITEMS[1]]
    write_review(review_path(scene.state_dir, "plan-code"), Review("plan-code", 1, passed))
    state = scene.place(workflow="planner", step=8)
    record_fail(state, "plan-code", Decision(passed, 1, "host", "the intent is missed"))
    [row] = [r for r in state.database.audit_rows(state.run) if r["action"] == "override"]
    assert row["who"] == "host"
    assert row["detail"] == "plan-code fail, by the figures pass: the intent is missed"


def test_a_phase_that_has_passed_does_not_fail(tmp_path: Path) -> None:
    scene = Scene(tmp_path, [milestone(1, "a.py")])
    state = scene.place(workflow="planner", step=8)
    write_review(review_path(scene.state_dir, "plan-code"), Review("plan-code", 1, ITEMS))
    with state.database as database:
        database.set_phase(state.run, "plan-code", "COMPLETE", 1)
    with pytest.raises(Refused, match="already passed"):
        record_fail(state, "plan-code", Decision(ITEMS, 1))
