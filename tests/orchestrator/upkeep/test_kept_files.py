"""A damaged file of a run is refused with `repair`, which sets it aside; the run goes on."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.forms import part
from tests.journey import FILES, POINTS, Journey, way_out, words_of
from tests.requirement_rounds import Rounds

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

pytestmark = pytest.mark.requirement("PC-10")
DAMAGES = (b"", b"7", b'{"runs": [{"x": 1}], "candidates": 1')
# The file, where the run is, and the command that reads the file.
PLANNING = {
    "candidates.json": ("code", "step planner"),
    "verify-commands.json": ("code", "step planner"),
    "tree-runs.json": ("code", "plan done --phase plan-code"),
    "config.json": ("code", "step planner"),
    "context.json": ("code", "context add-quote more"),
    "approval.json": ("applied", "exec commit"),
    "apply/tree.json": ("applied", "exec commit"),
}


def is_damaged(path: Path, data: bytes) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)


@pytest.mark.parametrize(("name", "data"), part([*product(PLANNING, DAMAGES)], 5))
def test_a_damaged_file_of_a_run_is_set_aside_and_the_run_goes_on(
    make_repo: Callable[..., Repository], name: str, data: bytes
) -> None:
    point, command = PLANNING[name]
    journey = Journey(make_repo("project", FILES)).to(point)
    is_damaged(path := Path(journey.state_dir, name), data)
    refused = journey.planner(*command.split())
    assert refused.code == 1, refused.text
    assert words_of(way_out(refused.problems[0][1]))[0] == "repair", refused.text
    assert f"{name}: damaged" in journey.call("doctor").data("findings")
    repaired = journey.call(*words_of(way_out(refused.problems[0][1])))
    assert f"{path}.damaged-1" in repaired.data("set aside")
    assert Path(f"{path}.damaged-1").read_bytes() == data
    assert journey.call("repair").block.get("damaged") == "0"
    journey.last = journey.planner("step", "planner" if point == "code" else "executor")
    journey.to("committed")


def test_a_damaged_memory_of_the_requirements_lane_ends_it_and_it_begins_again(
    make_repo: Callable[..., Repository],
) -> None:
    rounds = Rounds(make_repo("project", FILES))
    rounds.start()
    path = Path(rounds.state_dir, "lifecycle.json")
    path.write_bytes(b'{"codepath": ')
    refused = rounds.planner("step", "requirements")
    assert words_of(way_out(refused.problems[0][1]))[0] == "repair", refused.text
    assert "lifecycle.json: damaged" in rounds.call("doctor").data("findings")
    repaired = rounds.planner("repair").data("set aside")
    assert "your requirements stay in planning/; begin again: " in repaired
    assert rounds.start().code == 0, rounds.last.text
    assert rounds.last.block.tag == "step"


def test_what_a_run_implements_is_written_again_from_its_lane(
    make_repo: Callable[..., Repository],
) -> None:
    rounds = Rounds(make_repo("project", FILES))
    rounds.to_plan()
    assert rounds.plan is not None
    path = Path(rounds.plan.state_dir, "requirements.json")
    before = path.read_bytes()
    path.write_bytes(b"")
    assert rounds.call("repair").block.get("damaged") == "1"
    assert path.read_bytes() == before


def test_a_damaged_review_is_asked_anew_and_passes_no_gate(
    make_repo: Callable[..., Repository],
) -> None:
    journey = Journey(make_repo("project", FILES))
    journey.review = "full"
    journey.to("code review")
    path = Path(journey.state_dir, "qr-plan-code.json")
    path.write_bytes(b"{")
    refused = journey.planner("step", "planner")
    repaired = journey.call(*words_of(way_out(refused.problems[0][1])))
    assert "the answers of the review of plan-code" in repaired.data("set aside")
    journey.last = journey.planner("step", "planner")
    assert journey.point == POINTS["code"]
    journey.to("code review").to("committed")
