"""The blocks that say what came of verifying, and patches that do not fit into one (HO-5, VR-4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from cli.results import render_patches, render_rebased
from shared.resources import plan_path
from state.files import write_json
from tests.journey import Answer, words_of
from tests.shared.execution.scene import Scene, milestone
from tests.state.plans import CHANGE, empty_plan, plain

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.requirement("HO-5")

LARGE = "x" * 200_000


def patches(folder: Path, *names: str, **files: str) -> Answer:
    """Return the block with the patches of a plan that has a milestone for each file."""
    scene = Scene(folder, [])
    milestones: list[dict[str, Any]] = [
        milestone(n, f"{file}.py", code_changes=[
            {**CHANGE, "id": f"CC-{n:03}", "file": f"{file}.py", "patch": patch}
        ])
        for n, (file, patch) in enumerate(files.items(), 1)
    ]  # fmt: skip
    write_json(plan_path(scene.state_dir), plain(empty_plan(milestones=milestones)))
    return Answer(0, render_patches(scene.state(), names), "")


def test_patches_that_fit_stand_in_a_block_each_by_its_file(tmp_path: Path) -> None:
    found = patches(tmp_path, a="one", b="two")
    assert (found.data("a.py"), found.data("b.py")) == ("one", "two")
    assert found.block.find("task") is None


def test_of_patches_that_do_not_fit_a_milestone_can_be_seen_alone(tmp_path: Path) -> None:
    found = patches(tmp_path, a=LARGE, b="two")
    assert "Name fewer milestones or files at once." in (found.block.findtext("task") or "")
    words = words_of(found.next("M-001 alone"))
    assert words[:5] == ["plan", "diff", "--format", "xml", "M-001"]


def test_a_file_that_does_not_fit_is_read_itself(tmp_path: Path) -> None:
    found = patches(tmp_path, "a.py", a=LARGE, b="two")
    assert (found.block.findtext("task") or "").endswith("/plan.json")
    assert not [*found.block.iter("next")]


def test_where_nothing_changed_that_is_said(tmp_path: Path) -> None:
    state = Scene(tmp_path, []).state()
    assert "Nothing changed since planning started." in render_rebased(state, None)
