"""Status: where a run is and what is next."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tests.journey import FILES, Journey, call, words_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

    Repositories = Callable[..., Repository]


def test_status_says_where_a_run_is_and_what_is_next(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files=FILES)).to("applied")
    status = json.loads(journey.planner("status", "--json").text)
    assert (status["status"], status["stage"], status["workflow"], status["step"]) == (
        "ACTIVE", "executing", "executor", 9,
    )  # fmt: skip
    assert status["request"] == journey.request
    assert status["apply"] == "applied"
    assert [m["changes"] for m in status["milestones"]] == [2]
    assert call(journey.repository.path, *words_of(status["next"])).text == journey.last.text


def test_a_run_that_has_ended_names_no_next_command(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files=FILES)).to("design")
    journey.planner("cancel")
    assert journey.planner("status").block.find("next") is None
    assert json.loads(journey.planner("status", "--json").text)["next"] is None
