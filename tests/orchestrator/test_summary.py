"""The few lines that a person reads before approving, from a run made by hand (PL-27)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.summary import summary
from shared.resources import plan_path, superseded_plan_path
from state.files import write_json
from tests.shared.execution.scene import Scene
from tests.state.plans import TREE, plain, sample_plan

if TYPE_CHECKING:
    from pathlib import Path

DIGEST = "d" * 64


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    made = Scene(tmp_path, [])
    write(made)
    made.place(workflow="executor", step=1, stage="submitted", depth="full", digest=DIGEST,
               revision=1)  # fmt: skip
    return made


def write(scene: Scene, **values: Any) -> None:  # noqa: ANN401 – fields of any type
    """Write the sample plan, with some of its fields replaced."""
    write_json(plan_path(scene.state_dir), plain(sample_plan()) | values)


def lines(scene: Scene) -> list[str]:
    return summary(scene.state()).splitlines()


def result(**values: Any) -> dict[str, Any]:  # noqa: ANN401 – fields of any type
    return {"command": "make", "baseline": "pass", "outcome": "pass", "tree": TREE, **values}


def test_a_plan_is_summed_up_a_line_for_each_subject(scene: Scene) -> None:
    found = lines(scene)
    assert found[0] == f"T (revision 1, digest {DIGEST[:12]})"
    for line in (
        "DL-001: D", "risk: R", "files: a.py", "RM-001: say why",
        "verify: true: pass (in the worktree · from planner.toml)",
        "reviewed by nobody: a program alone has checked this plan", "open: qa-001 COULD f",
        "passed against the figures, plan-code: ",
    ):  # fmt: skip
        assert line.strip() in [one.strip() for one in found], line
    assert not [one for one in found if one.startswith(("approved", "changed since", "note"))]


@pytest.mark.parametrize(
    ("verify", "said"),
    [
        ([], "NOT VERIFIED"),
        ([result(outcome="known-failure", baseline="fail")],
         ("make: fails on the base as well, so it tells NOTHING of the change"
         " (in the worktree · from planner.toml)")),
        ([result(exercised=True), result(command="lint")],
         ("make: pass (in the worktree · from planner.toml); "
         "lint: pass (in the worktree · from planner.toml); "
         "it fails with the changed code broken, so it runs some of it")),
        ([result(exercised=False)],
         ("make: pass (in the worktree · from planner.toml); "
         "it passes with the changed code broken, so it runs none of it")),
    ],
    ids=["none", "known failure", "exercised", "not exercised"],
)  # fmt: skip
def test_the_results_of_verifying_say_whether_they_tell_anything(
    scene: Scene, verify: list[dict[str, Any]], said: str
) -> None:
    write(scene, verify=verify)
    assert f"verify: {said}" in lines(scene)


def test_at_depth_intent_the_intents_are_approved_and_no_result_is_named(scene: Scene) -> None:
    scene.place(depth="intent")
    found = lines(scene)
    assert (
        "approved are the intents; their code is written then and comes back for approval" in found
    )
    assert not [one for one in found if one.startswith("verify:")]
    assert [one for one in found if "a.py" in one and "B" in one]
    assert "files: a.py, b.py" in found


def test_a_revision_names_what_has_changed_since_the_last(scene: Scene) -> None:
    seals = {"overview": "1", "M-001": "1", "DL-001": "1", "base": "1"}
    write_json(superseded_plan_path(scene.state_dir, 1), plain(sample_plan()) | {"seals": seals})
    write(scene, revision=2, seals={**seals, "M-001": "2", "base": "2", "CI-001": "1",
                                    "RM-002": "1"})  # fmt: skip
    assert "changed since revision 1: a.py, M-001" in lines(scene)
    write(scene, revision=2, seals=seals)
    assert "changed since revision 1: nothing" in lines(scene)


def test_who_approved_is_named_and_where_only_a_proof_counts_that(scene: Scene) -> None:
    state = scene.state()
    config = {"config": {"require": "proven"}, "hash": "", "text": "", "submodules": []}
    write_json(f"{scene.state_dir}/config.json", config)
    assert [one for one in lines(scene) if one.startswith("only a proven approval counts")]
    with state.database as database:
        database.approve(state.run, DIGEST, "user", "terminal")
    found = lines(scene)
    assert [one for one in found if one.startswith("approved: ")]
    assert not [one for one in found if one.startswith("only a proven")]
