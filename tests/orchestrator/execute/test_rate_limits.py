"""Agents that a rate limit ends are started again, later and later (PC-13)."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from state.backoff import CAP_S, TRIES, delay_s
from tests.journey import call
from tests.orchestrator.execute.waves import at_once, opened, status_of, writing
from tests.shared.execution.scene import Scene, milestone

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.conftest import Repository

    Repositories = Callable[..., Repository]

pytestmark = pytest.mark.requirement("PC-13")


def test_the_longest_wait_doubles_from_2_s_to_60_s_and_the_shortest_is_none() -> None:
    assert [delay_s(n, 1) for n in range(1, 8)] == [2, 4, 8, 16, 32, 60, 60]
    assert {delay_s(n, 0) for n in range(1, 8)} == {0}
    assert (TRIES, CAP_S) == (5, 60)


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    """Return a run whose first milestone is in progress, and nothing else can start."""
    made = Scene(tmp_path, [milestone(1, "a.py"), milestone(2, "b.py", "1")])
    made.do("begin")
    made.do("start", "M-001")
    return made


def test_a_limited_milestone_waits_and_says_until_when(scene: Scene) -> None:
    before = time.time()
    scene.do("hold_off", "M-001", 1)
    view = scene.view()
    assert (scene.statuses()["M-001"], view.runnable()) == ("PENDING", [])
    assert view.held_off() == view.progress["M-001"].not_before > view.now
    assert view.reasons()["M-001"].startswith("rate limit 1 of 5; starts again at 2")
    at = time.strptime(view.held_off(), "%Y-%m-%dT%H:%M:%SZ")
    assert before + 2 <= time.mktime(at) - time.timezone <= before + 60
    scene.limits_pass()
    assert scene.view().runnable() == ["M-001"]


def test_said_twice_it_counts_once_and_after_five_in_a_row_it_is_blocked(scene: Scene) -> None:
    for number in range(1, TRIES):
        scene.do("hold_off", "M-001", 1)
        scene.do("hold_off", "M-001", 1)
        assert scene.view().progress["M-001"].limited == number
        scene.limits_pass()
        scene.do("start", "M-001")
    scene.do("hold_off", "M-001", 1)
    row = scene.view().progress["M-001"]
    assert (row.status, row.attempts) == ("BLOCKED", TRIES)
    assert row.note == "rate limit 5 of 5; retry it when the limit has passed"
    scene.do("retry", "M-001")
    assert scene.view().runnable() == ["M-001"]
    assert scene.view().progress["M-001"].limited == 0


def test_a_success_ends_the_row_of_rate_limits_and_a_retry_the_waiting(scene: Scene) -> None:
    scene.do("hold_off", "M-001", 1)
    scene.do("retry", "M-001")
    scene.do("start", "M-001")
    scene.do("hold_off", "M-001", 0)
    scene.limits_pass()
    scene.do("start", "M-001")
    scene.do("succeed", "M-001")
    assert scene.view().progress["M-001"].limited == 0


def test_a_milestone_that_nobody_writes_is_not_limited(scene: Scene) -> None:
    address = ("--state-dir", scene.state_dir)
    answer = call("/", "exec", "limited", "M-002", *address)
    assert answer.problems[0][0] == "conflict"
    assert scene.statuses()["M-002"] == "PENDING"


def test_the_host_says_it_others_go_on_and_then_the_next_wave_waits_for_it(
    make_repo: Repositories,
) -> None:
    journey = writing(make_repo, ((), (1,)))
    at_once(journey, 1)
    unknown = journey.planner("exec", "limited", "M-009")
    assert unknown.problems[0][0] == "not_found"
    said = journey.planner("exec", "limited", "M-001")
    assert "M-001 PENDING: rate limit 1 of 5" in said.data("milestone")
    assert status_of(journey)["M-001"] == "PENDING"
    journey.follow(said.next("done"))
    state = opened(journey)
    row = state.database.progress(state.run)["M-001"]
    assert (row.status, row.attempts, row.not_before) == ("IN_PROGRESS", 2, "")
    assert len(journey.last.runs()) == 1
    events = [r["payload"] for r in state.database.event_rows(state.run)
              if r["kind"] == "PlanStepUpdate"]  # fmt: skip
    assert [e["subagent_id"] for e in events] == ["M-001-1", "M-001-1", "M-001-2"]
