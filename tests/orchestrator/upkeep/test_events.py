"""Events that are followed while a run goes on (PC-12)."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from orchestrator.upkeep.events import follow
from shared.run import open_state
from tests.journey import call
from tests.shared.execution.scene import Scene, milestone

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.conftest import Repository

pytestmark = pytest.mark.requirement("PC-12")


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    """Return a run of one milestone that has just begun, with one event."""
    made = Scene(tmp_path, [milestone(1, "a.py")])
    made.do("begin")
    return made


def test_each_new_event_comes_once_and_the_last_one_is_the_end_of_the_run(scene: Scene) -> None:
    deeds: list[Callable[[], object]] = [
        lambda: scene.do("start", "M-001"), lambda: None, lambda: scene.do("succeed", "M-001"),
        lambda: scene.move("cancel"),
    ]  # fmt: skip

    def wait() -> bool:
        deeds.pop(0)()
        return True

    state = scene.state()
    found = list(follow(state.database, state.run, 0, wait))
    assert [(e["event"], e.get("new_status")) for e in found] == [
        ("PlanStarted", None), ("PlanStepUpdate", "IN_PROGRESS"), ("PlanStepUpdate", "COMPLETED"),
        ("PlanCompleted", None),
    ]  # fmt: skip
    assert [e["seq"] for e in found] == sorted({e["seq"] for e in found})
    assert not deeds, "it was asked until the run had ended"


def test_following_begins_after_a_number_and_ends_when_nobody_waits(scene: Scene) -> None:
    scene.do("start", "M-001")
    state = scene.state()
    (found,) = follow(state.database, state.run, 1, lambda: False)
    assert found["event"] == "PlanStepUpdate"


def test_events_are_printed_and_each_one_comes_where_they_are_followed_for_a_time(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cli.events.EVERY_S", 0)
    words = ("events", "--state-dir", scene.state_dir)
    (line,) = call(os.sep, *words).data("events").splitlines()
    assert "started: Parse dates" in line
    row = json.loads(call(os.sep, *words, "--follow", "--seconds", "0", "--json").text)
    assert (row["event"], row["at"]) == ("PlanStarted", line.split()[0])
    assert call(os.sep, *words, "--after", str(row["seq"])).data("events") == "none"


def test_following_without_an_end_needs_a_terminal(scene: Scene) -> None:
    words = ("events", "--follow", "--json", "--after", "3", "--state-dir", scene.state_dir)
    answer = call(os.sep, *words)
    assert answer.code == 2
    retry = "planner events --follow --seconds 60 --json --after 3"
    assert retry in answer.problems[0][1]


def test_an_export_shows_no_control_character_of_what_anybody_wrote(repo: Repository) -> None:
    hostile = "x\x9b2J\u202ey"
    assert call(repo.path, "mode", "enter", "Look", "--reason", hostile).code == 0
    assert call(repo.path, "start", "Make it so", "--depth", "full", "--agent", "s-2").code == 0
    state = open_state(None, str(repo.path))
    with state.database as database:
        database.audit(state.run, "host", "deny", detail=hostile)
        database.event(state.run, "Note", {"text": hostile})
    for words in (("export",), ("export", "--format", "markdown"), ("audit", "--json"),
                  ("events", "--json"), ("mode", "status", "--json")):  # fmt: skip
        answer = call(repo.path, *words)
        assert answer.code == 0, words
        assert not {"\x9b", "\u202e"} & {*answer.text}, words
    assert "\\u009b2J\\u202ey" in call(repo.path, "export").text
