"""Damaged files are set aside with a message; nothing is deleted, nothing else touched (PC-10)."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from shared.resources import database_path, plan_path
from state.migrations import MIGRATIONS
from tests.journey import call, way_out, words_of
from tests.shared.execution.scene import Scene, milestone

if TYPE_CHECKING:
    from tests.conftest import Repository
    from tests.journey import Answer

pytestmark = pytest.mark.requirement("PC-10")


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    """Return a run of one milestone."""
    made = Scene(tmp_path, [milestone(1, "a.py")])
    made.do("begin")
    return made


def repair(scene: Scene) -> Answer:
    answer = call(os.sep, "repair", "--state-dir", scene.state_dir)
    assert answer.code == 0, answer.text
    return answer


@pytest.mark.parametrize("data", [b"", b"{", b"\xff\xfe", b"[1]", b'{"schema_version": 2}'])
def test_a_damaged_plan_is_set_aside_and_its_run_ended(scene: Scene, data: bytes) -> None:
    path = Path(plan_path(scene.state_dir))
    path.write_bytes(data)
    refused = call(os.sep, "status", "--state-dir", scene.state_dir)
    assert (refused.code, refused.stderr) == (1, "")
    said = repair(scene).data("set aside")
    assert f"{path}.damaged-1" in said
    assert "20260102-abcdef, which is cancelled" in said
    assert Path(f"{path}.damaged-1").read_bytes() == data
    assert scene.state().run.status == "CANCELLED"
    assert repair(scene).block.get("damaged") == "0"


def test_a_repair_that_was_killed_is_finished(scene: Scene) -> None:
    path = plan_path(scene.state_dir)
    os.replace(path, f"{path}.damaged-1")
    assert "which is cancelled" in repair(scene).data("set aside")


@pytest.mark.parametrize("damage", ["text", "cut", "emptied pages"])
def test_a_damaged_database_is_set_aside(scene: Scene, damage: str) -> None:
    path = Path(database_path(scene.state_dir))
    whole = path.read_bytes()
    broken = {
        "text": b"not a database at all" * 100,
        "cut": whole[: len(whole) // 2],
        "emptied pages": whole[:4096] + bytes(len(whole) - 4096),
    }[damage]
    path.write_bytes(broken)
    found = repair(scene)
    assert Path(f"{path}.damaged-1").read_bytes() == broken
    assert "approvals, audit and events" in found.data("set aside")
    assert not path.exists()


def test_what_a_newer_planner_wrote_is_not_damage(scene: Scene) -> None:
    path = database_path(scene.state_dir)
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA user_version={len(MIGRATIONS) + 1}")
    connection.close()
    answer = call(os.sep, "repair", "--state-dir", scene.state_dir)
    assert answer.code == 1
    assert "newer planner" in answer.problems[0][1]
    assert os.path.exists(path)


def test_what_is_whole_stays(scene: Scene) -> None:
    assert repair(scene).block.get("damaged") == "0"
    assert scene.statuses() == {"M-001": "PENDING"}


DAMAGED = {
    "nothing": "", "the half of it": '{"query": "x", ', "a list": "[]",
    "no request": '{"mode": "code"}',
    "another mode": '{"query": "x", "mode": "quick"}',
    "a plan that is none": '{"query": "x", "mode": "code", "plans": [1]}',
    "gathered without a source": '{"query": "x", "mode": "code", "gathered": [{}]}',
    "gone": None,
}  # fmt: skip


@pytest.mark.requirement("ST-1", "PC-10")
@pytest.mark.parametrize("case", DAMAGED)
def test_a_damaged_strategy_is_set_aside_and_the_choice_begins_again(
    repo: Repository, case: str
) -> None:
    begun = call(repo.path, "start", "Make f add two")
    path = Path(begun.state_dir, "strategy.json")
    path.unlink()
    if (text := DAMAGED[case]) is not None:
        path.write_text(text)
    refused = call(repo.path, "step", "strategy")
    assert refused.code == 1
    assert "damaged or gone" in refused.problems[0][1]
    assert "strategy.json: what the choice" in call(repo.path, "doctor").data("findings")
    repaired = call(repo.path, *words_of(way_out(refused.problems[0][1])))
    again = call(repo.path, "start", "Make f add two")
    assert (again.name, again.state_dir) == ("strategy", begun.state_dir)
    assert again.text == begun.text
    assert str(path) in repaired.text
    assert call(repo.path, "repair").block.get("damaged") == "0"
