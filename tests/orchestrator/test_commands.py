"""A run and a step are driven by what is printed, from whatever folder the host is in."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.journey import FILES, Answer, Journey
from tests.orchestrator.conftest import THEIRS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.conftest import Repository

    Repositories = Callable[..., Repository]


@pytest.mark.slow
@pytest.mark.requirement("PL-1")
def test_a_whole_run_is_driven_from_a_foreign_folder(
    make_repo: Repositories, foreign: Path
) -> None:
    raising = dict.fromkeys(THEIRS, "raise SystemExit('imported')\n")
    repository = make_repo("a repo's own", files={**FILES, **raising})
    journey = Journey(repository, shell_from=foreign)
    journey.to("committed")
    assert repository.git("log", "-1", "--format=%s") == "Add two"


def test_a_step_runs_by_hand_as_a_module_too(make_repo: Repositories) -> None:
    import subprocess
    import sys

    from shared.resources import ROOT

    journey = Journey(make_repo(files=FILES)).to("design")
    by_hand = subprocess.run(
        [sys.executable, "-m", "orchestrator.planner", "--step", "3", "--state-dir",
         journey.state_dir],
        cwd=ROOT, capture_output=True, check=True,
    )  # fmt: skip
    assert by_hand.stdout.decode() == journey.last.text
    assert Answer(0, by_hand.stdout.decode()).block.get("number") == "3"
