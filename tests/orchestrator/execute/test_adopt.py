"""A frozen plan that came without its run becomes a run when a person approves it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from shared.run import open_state
from tests.journey import FILES, Journey, call, words_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.conftest import Repository

    Repositories = Callable[..., Repository]


@pytest.mark.requirement("PL-19")
def test_a_frozen_plan_alone_beside_a_clone_of_the_base_is_executed(
    make_repo: Repositories, tmp_path: Path
) -> None:
    journey = Journey(make_repo(files=FILES)).to("submitted")
    journey.repository.git(
        "clone", "--quiet", str(journey.repository.path), str(tmp_path / "clone")
    )
    clone = type(journey.repository)(tmp_path / "clone")
    alone = tmp_path / "alone"
    alone.mkdir()
    with open(f"{journey.state_dir}/plan.json", "rb") as file:
        (alone / "plan.json").write_bytes(file.read())
    digest = str(open_state(journey.state_dir, "/").run.digest)
    answer = call(clone.path, "approve", digest, "--state-dir", str(alone))
    assert answer.code == 0, answer.text
    while answer.block.find("next") is not None:
        answer = call("/", *words_of(answer.next()))
        assert answer.code == 0, answer.text
    assert "Plan-Digest: " + digest in clone.git("log", "-1", "--format=%B")
