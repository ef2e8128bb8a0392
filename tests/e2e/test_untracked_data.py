"""Data that git does not track lies beside the code: no command of a run reads it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from shared.git.fingerprint import MOST_READ_BYTES
from tests.journey import FILES, POINTS, Journey
from tests.opened import opened_in

if TYPE_CHECKING:
    from tests.conftest import Repositories


@pytest.mark.requirement("PM-13")
def test_a_whole_run_opens_no_untracked_data(make_repo: Repositories) -> None:
    repository = make_repo(files=FILES)
    data = repository.write("data/large.bin", b"\0" * (MOST_READ_BYTES + 1)).parent
    for number in range(3):
        repository.write(f"data/{number}.bin", b"\0" * (MOST_READ_BYTES + 1))
    journey = Journey(repository)
    with opened_in(data) as opened:
        # Not by `start` and `to`, which copy what they have prepared.
        words = ("start", journey.request, "--base", "head", "--depth", "full", "--review", "none")
        journey.last = journey.run(*words)
        journey.state_dir = journey.last.state_dir
        while journey.point != POINTS["committed"]:
            journey.advance()
    assert "Proved" in journey.last.text
    assert opened == []
    with opened_in(data) as opened:
        (data / "large.bin").read_bytes()
    assert opened == ["large.bin"], "else the list tells nothing"
