"""The folder of a run is gone, its plan is kept by a ref: it is undone all the same (R7)."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from tests.journey import FILES, Journey, way_out, words_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository


@pytest.mark.requirement("PC-10", "PL-31")
def test_an_applied_run_whose_folder_is_gone_is_repaired_and_undone(
    make_repo: Callable[..., Repository],
) -> None:
    journey = Journey(make_repo("project", FILES)).to("applied")
    path = journey.repository.path / "src" / "a.py"
    shutil.rmtree(journey.state_dir)
    refused = journey.planner("undo")
    assert refused.code == 1
    repaired = journey.call(*words_of(way_out(refused.problems[0][1])))
    assert repaired.code == 0, repaired.text
    assert "planner undo" in repaired.data("set aside")
    done = journey.planner("undo")
    assert done.code == 0, done.text
    assert path.read_text() == FILES["src/a.py"]
    assert journey.repository.git("status", "--porcelain") == ""
    assert "applied nothing" in journey.planner("undo").text
