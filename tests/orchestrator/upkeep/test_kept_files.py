"""A damaged file of a run is refused with `repair`, which sets it aside; the run goes on."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from shared.guard.denial import Denied
from shared.guard.settings import load_settings
from tests.forms import part
from tests.journey import FILES, POINTS, SHOWN, Journey, way_out, words_of
from tests.light_plans import Lightly
from tests.requirement_rounds import Rounds

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

pytestmark = pytest.mark.requirement("PC-10")
DAMAGES = (b"", b"7", b'{"runs": [{"x": 1}], "candidates": 1')
GONE = None
# The file, where the run is, and the command that reads the file.
PLANNING = {
    "candidates.json": ("code", "step planner"),
    "verify-commands.json": ("code", "step planner"),
    "tree-runs.json": ("code", "plan done --phase plan-code"),
    "config.json": ("code", "step planner"),
    "context.json": ("design", "context add-quote more"),
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
    journey.last = journey.planner("step", "executor" if point == "applied" else "planner")
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
    path.unlink()
    assert "requirements.json: gone" in rounds.call("doctor").data("findings")
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


@pytest.mark.parametrize("point", ["design review", "code review", "gate"])
def test_a_review_that_is_gone_while_it_is_due_is_named_and_asked_anew(
    make_repo: Callable[..., Repository], point: str
) -> None:
    journey = Journey(make_repo("project", FILES))
    journey.review = "full"
    journey.to(point)
    phase = "plan-design" if point == "design review" else "plan-code"
    Path(journey.state_dir, f"qr-{phase}.json").unlink()
    for words in (
        ("step", "planner"), ("plan", "done", "--phase", phase), ("qr", "list", "--phase", phase),
        ("qr", "gate", "--phase", phase, "--verdict", "pass"),
        ("qr", "set", "qa-001", "--phase", phase, "--status", "PASS", "--evidence", "M-001"),
    ):  # fmt: skip
        refused = journey.planner(*words)
        assert refused.code == 1, refused.text
        assert f"qr-{phase}.json" in refused.text
        assert "this file of the planner is gone" in refused.text
        assert words_of(way_out(refused.problems[0][1]))[0] == "repair", refused.text
    assert f"qr-{phase}.json: gone" in journey.call("doctor").data("findings")
    repaired = journey.call("repair").data("set aside")
    assert f"the answers of the review of {phase}" in repaired
    assert journey.call("repair").block.get("damaged") == "0"
    journey.last = journey.planner("step", "planner")
    assert journey.point == POINTS["design" if phase == "plan-design" else "code"]
    journey.to("committed")


def test_a_context_that_is_gone_is_written_again_from_the_plan(
    make_repo: Callable[..., Repository],
) -> None:
    journey = Journey(make_repo("project", FILES)).to("context")
    early = journey.planner("context", "add-quote", "more")
    assert "the task is not written down yet" in early.text
    journey.to("design")
    path = Path(journey.state_dir, "context.json")
    before = path.read_bytes()
    path.unlink()
    refused = journey.planner("context", "add-quote", "more")
    assert words_of(way_out(refused.problems[0][1]))[0] == "repair", refused.text
    assert "context.json: gone" in journey.call("doctor").data("findings")
    journey.call("repair")
    assert json.loads(path.read_bytes()) == json.loads(before)


def test_settings_that_are_gone_are_not_read_as_none(make_repo: Callable[..., Repository]) -> None:
    demand = {"planner.toml": '[approval]\nrequire = "proven"\n[guard]\ndeny = ["make x"]\n'}
    journey = Journey(make_repo("project", {**FILES, **demand})).to("submitted")
    path = Path(journey.state_dir, "config.json")
    before = path.read_bytes()
    path.unlink()
    for words in (journey.last.person(), f"{SHOWN} step executor"):
        refused = journey.call(*words_of(words))
        assert "this file of the planner is gone" in refused.text, refused.text
        assert words_of(way_out(refused.problems[0][1]))[0] == "repair", refused.text
    with pytest.raises(Denied, match=r"config\.json, the settings .* is gone"):
        load_settings(journey.state_dir)
    assert "config.json: gone" in journey.call("doctor").data("findings")
    assert journey.call("repair").block.get("damaged") == "1"
    assert path.read_bytes() == before
    assert ("make", "x") in load_settings(journey.state_dir).deny


@pytest.mark.parametrize("data", [GONE, b"{"])
def test_a_light_plan_keeps_the_settings_that_it_began_with(
    make_repo: Callable[..., Repository], data: bytes | None
) -> None:
    demand = {"planner.toml": '[approval]\nrequire = "proven"\n'}
    lightly = Lightly(make_repo("project", {**FILES, **demand}))
    approve = ("approve", lightly.to("submitted").status()["digest"])
    path = Path(lightly.repository.path, ".planner", "config.json")
    before = path.read_bytes()
    path.unlink()
    if data is not None:
        path.write_bytes(data)
    refused = lightly.run(*approve)
    assert refused.code == 1, refused.text
    assert words_of(way_out(refused.problems[0][1]))[0] == "repair", refused.text
    assert "config.json" in lightly.run("doctor").data("findings")
    assert lightly.run("repair").block.get("damaged") == "1"
    assert path.read_bytes() == before
    assert lightly.run("repair").block.get("damaged") == "0"


def test_settings_of_a_requirements_lane_are_read_again_from_head(
    make_repo: Callable[..., Repository],
) -> None:
    rounds = Rounds(make_repo("project", FILES))
    rounds.to_review()
    path = Path(rounds.state_dir, "config.json")
    before = path.read_bytes()
    path.unlink()
    assert rounds.call("repair").block.get("damaged") == "1"
    assert path.read_bytes() == before


def test_a_plan_that_is_taken_up_has_the_settings_of_its_base(
    make_repo: Callable[..., Repository],
) -> None:
    demand = {"planner.toml": '[approval]\nrequire = "proven"\n'}
    journey = Journey(make_repo("project", {**FILES, **demand})).to("submitted")
    copy = Path(journey.repository.path, ".planner", "runs", "copy")
    copy.mkdir()
    (copy / "plan.json").write_bytes(Path(journey.state_dir, "plan.json").read_bytes())
    approve = words_of(journey.last.person())
    refused = journey.call(*approve, "--state-dir", str(copy))
    assert refused.code == 1, refused.text
    assert "proven" in refused.text
