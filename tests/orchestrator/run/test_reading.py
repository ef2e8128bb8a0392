"""Commands that only read: they write nothing, also when a time limit has passed."""

from __future__ import annotations

import json
import os
from itertools import product
from typing import TYPE_CHECKING

import pytest

from shared.resources import sessions_path
from shared.run import open_state
from tests.forms import part
from tests.journey import FILES, Journey
from tests.light_plans import Lightly

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

    Repositories = Callable[..., Repository]

READING = (
    "status", "status --json", "plan show", "plan list milestones", "plan diff", "config show",
    "qr list --phase plan-code", "step planner", "step executor", "mode status",
    "mode status --json", "audit", "doctor",
)  # fmt: skip
CANCELS = '[mode]\non_timeout = "cancel"\n'
DAY_S = 86_400


def files_of(journey: Journey) -> dict[str, tuple[bytes, int]]:
    """Return content and time of every file that a command might write."""
    found = {}
    for top in (str(journey.repository.path), sessions_path()):
        for folder, _, names in os.walk(top):
            for path in (os.path.join(folder, name) for name in names):
                with open(path, "rb") as file:
                    found[path] = (file.read(), os.stat(path).st_mtime_ns)
    return found


@pytest.mark.requirement("PM-8")
@pytest.mark.parametrize(
    ("config", "point", "passed_s"),
    part([*product(["", CANCELS], ["design", "submitted"], [0, DAY_S])], 3),
)
def test_opening_a_run_and_reading_it_leave_every_file_as_it_was(
    make_repo: Repositories,
    users_settings: Callable[[str], object],
    point: str,
    config: str,
    passed_s: int,
) -> None:
    users_settings(config)
    journey = Journey(make_repo(files=FILES)).to(point)
    Lightly(journey.repository).set_back(passed_s)
    before = files_of(journey)
    assert f"{journey.state_dir}/plan.json" in before
    open_state(journey.state_dir, os.sep)
    for words in READING:
        answer = journey.planner(*words.split())
        assert answer.code in (0, 1), answer.text
        changed = {path for path, _ in files_of(journey).items() ^ before.items()}
        assert not changed, f"{words} wrote {changed}"


@pytest.mark.requirement("PM-8")
@pytest.mark.parametrize("config", ["", CANCELS], ids=["pauses", "cancels"])
def test_what_a_reading_command_shows_of_a_passed_limit_is_what_is_stored_later(
    make_repo: Repositories, users_settings: Callable[[str], object], config: str
) -> None:
    users_settings(config)
    journey = Journey(make_repo(files=FILES)).to("submitted")
    Lightly(journey.repository).set_back(DAY_S)
    shown = [journey.planner(*words.split()).text for words in ("status", "step executor")]
    assert "nobody has answered for 30 minutes" in shown[0]
    state = open_state(journey.state_dir, os.sep)
    assert state.run.status == ("CANCELLED" if config else "PAUSED")
    assert [run.status for run in state.database.runs()] == ["ACTIVE"]
    assert journey.planner("exec", "apply").code == 1
    assert [run.status for run in state.database.runs()] == [state.run.status]
    again = [journey.planner(*words.split()).text for words in ("status", "step executor")]
    assert again == shown


@pytest.mark.requirement("PM-8")
def test_the_status_of_an_overdue_light_plan_says_so_and_stores_nothing(repo: Repository) -> None:
    lightly = Lightly(repo).to("submitted")
    lightly.set_back(DAY_S)
    for _ in range(2):
        shown = json.loads(lightly.run("mode", "status", "--json").text)
        assert (shown["stage"], shown["paused"]) == ("submitted", True)
        assert "nobody has answered for 30 minutes" in shown["said"]
    assert lightly.row.paused_at is None
    assert lightly.run("approve", shown["digest"]).code == 1
    assert lightly.row.paused_at is not None
