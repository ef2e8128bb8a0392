"""Which planning mode a command means: of which agent, of which run."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import pytest

from orchestrator.mode.lookup import find, find_light, find_or_inactive, own_mode
from shared.mode.where import Target
from shared.run import open_state
from state.errors import Refused
from tests.journey import FILES, Journey, call
from tests.light_plans import Lightly

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

    Repositories = Callable[..., Repository]


@pytest.fixture
def journey(make_repo: Repositories) -> Journey:
    return Journey(make_repo(files=FILES))


@pytest.mark.requirement("PM-1", "PM-7")
class TestTheModeThatACommandMeans:
    def test_is_the_only_plan_here_for_a_terminal_without_a_session(self, repo: Repository) -> None:
        agent = Lightly(repo, "s-1").to("submitted")
        terminal = Lightly(repo)
        assert terminal.status()["agent"] == "s-1"
        assert terminal.run("approve", agent.row.digest or "").block.get("agent") == "s-1"
        assert agent.row.phase == "executing"

    def test_has_to_be_named_where_there_are_several(self, repo: Repository) -> None:
        first, second = Lightly(repo, "s-1").to("submitted"), Lightly(repo, "s-2").to("submitted")
        for words in (("mode", "reject"), ("cancel",), ("pause",), ("mode", "status")):
            answer = call(repo.path, *words)
            assert (answer.code, answer.problems[0][0]) == (1, "not_found")
            named = "“Move to ISO dates”: --agent s-1; “Move to ISO dates”: --agent s-2"
            assert named in answer.problems[0][1]
        same = call(repo.path, "approve", first.row.digest or "")
        assert (same.code, same.problems[0][0]) == (1, "conflict")
        assert first.run("approve", first.row.digest or "").code == 0
        assert (first.row.phase, second.row.phase) == ("executing", "submitted")

    def test_is_the_light_plan_that_a_digest_names_beside_a_run(self, journey: Journey) -> None:
        journey.to("submitted")
        light = Lightly(journey.repository, "s-2").to("submitted")
        assert call(journey.repository.path, "approve", light.row.digest or "").code == 0
        assert light.row.phase == "executing"
        assert open_state(journey.state_dir, os.sep).run.stage == "submitted"
        digest = str(open_state(journey.state_dir, os.sep).run.digest)
        assert call(journey.repository.path, "approve", digest).code == 0
        assert open_state(journey.state_dir, os.sep).run.stage == "executing"

    def test_that_plans_a_run_submits_no_light_plan(self, journey: Journey) -> None:
        journey.to("design")
        answer = Lightly(journey.repository).submit()
        assert (answer.code, answer.problems[0][0]) == (1, "conflict")
        assert open_state(journey.state_dir, os.sep).run.stage == "gathering"

    def test_of_another_repository_is_another(self, make_repo: Repositories) -> None:
        one, other = Lightly(make_repo("one"), "s-1"), Lightly(make_repo("other"), "s-1")
        one.to("gathering")
        assert other.status()["stage"] == "inactive"


def test_a_mode_that_nobody_started_is_shown_as_inactive_and_makes_no_file(
    repo: Repository,
) -> None:
    target = Target(str(repo.path), "s-1")
    found = find_or_inactive(target, time.time())
    assert (found.agent, found.stage, found.row, found.state) == ("s-1", "inactive", None, None)
    with pytest.raises(Refused, match="no plan is under way here"):
        find(target, time.time())
    assert not (repo.path / ".planner").exists()


def test_the_planners_own_folder_names_a_light_plan_and_no_run(repo: Repository) -> None:
    lightly = Lightly(repo).to("submitted")
    target = Target("/", None, str(repo.path / ".planner"))
    assert (target.folder, target.state_dir) == (str(repo.path.resolve()), None)
    assert find(target, time.time()).digest == lightly.row.digest
    assert find_light(target, "", time.time()) is not None


def test_a_run_that_is_named_is_not_a_light_plan(journey: Journey) -> None:
    journey.to("submitted")
    target = Target("/", None, journey.state_dir)
    assert find_light(target, "", time.time()) is None
    found = find(target, time.time())
    assert found.state is not None
    assert (found.stage, found.plan) == ("submitted", None)


def test_looking_a_mode_up_stores_no_passed_limit_and_settling_does(repo: Repository) -> None:
    lightly = Lightly(repo).to("submitted")
    lightly.set_back(86_400)
    found = own_mode(Target(str(repo.path)), time.time())
    assert (found.stage, found.status) == ("submitted", "PAUSED")
    assert "nobody has answered for 30 minutes" in found.halted
    assert lightly.row.paused_at is None
    assert (found.settle().status, lightly.row.paused_at is None) == ("PAUSED", False)
    assert "nobody has answered for 30 minutes" in found.limit_note
