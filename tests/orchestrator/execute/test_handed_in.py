"""What an agent hands in for a milestone is checked then, while the agent can still fix it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.orchestrator.execute.waves import NEW, hand_in, status_of, writing

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

    Repositories = Callable[..., Repository]

pytestmark = pytest.mark.requirement("RV-4")

LEFT = "def f(x):\n    breakpoint()\n    # previously it added one\n    return x + 2\n"
WORDED = "def f(x):\n    # previously it added one\n    return x + 2\n"


def test_a_milestone_that_fails_a_check_is_refused_with_all_that_is_found(
    make_repo: Repositories,
) -> None:
    journey = writing(make_repo)
    refused = hand_in(journey, "M-001", {"src/m1_1.py": LEFT})
    assert refused.code == 1
    must, should = (text for _, text in refused.problems)
    assert "breakpoint" in must
    assert should.startswith("SHOULD, reviewed unless fixed with these: ")
    assert "exec done --milestone M-001" in should
    assert status_of(journey)["M-001"] == "IN_PROGRESS"
    with open(f"{journey.state_dir}/worktree/src/m1_1.py", encoding="utf-8") as file:
        assert file.read() != LEFT  # nothing of it is merged
    assert hand_in(journey, "M-001", {"src/m1_1.py": NEW}).code == 0
    assert status_of(journey)["M-001"] == "COMPLETED"


def test_an_intent_without_a_change_is_refused_when_its_milestone_is_handed_in(
    make_repo: Repositories,
) -> None:
    journey = writing(make_repo)
    refused = hand_in(journey, "M-002", {})
    assert refused.code == 1
    assert "src/m2_1.py, which has no change" in refused.text
    assert "src/m1_1.py" not in refused.text  # another milestone's, still being written


def test_what_is_found_and_not_required_comes_back_with_the_answer(
    make_repo: Repositories,
) -> None:
    journey = writing(make_repo)
    handed = hand_in(journey, "M-001", {"src/m1_1.py": WORDED})
    assert handed.code == 0
    assert handed.data("found, for the review").startswith("code-comments-timeless src/m1_1.py: ")


@pytest.mark.requirement("SD-7")
@pytest.mark.parametrize("file", ["README.md", "src/m2_1.py"])
def test_a_file_that_a_milestone_does_not_own_is_changed_back_by_the_named_command(
    make_repo: Repositories, file: str
) -> None:
    """The refused hand-in has staged the change, so that git's own commands do nothing."""
    journey = writing(make_repo)
    files = {"src/m1_1.py": NEW, file: "changed\n"}
    refused = hand_in(journey, "M-001", files)
    assert "`tree restore --milestone M-001`" in refused.problems[0][1]
    assert journey.planner("tree", "restore", file, "--milestone", "M-001").code == 0
    assert hand_in(journey, "M-001", {"src/m1_1.py": NEW}).code == 0


@pytest.mark.requirement("SD-7")
def test_a_file_of_an_earlier_wave_is_changed_back_to_what_that_wave_made(
    make_repo: Repositories,
) -> None:
    journey = writing(make_repo, ((), (1,)))
    assert hand_in(journey, "M-001", {"src/m1_1.py": NEW}).code == 0
    assert journey.planner("exec", "next").code == 0
    refused = hand_in(journey, "M-002", {"src/m2_1.py": NEW, "src/m1_1.py": "changed\n"})
    assert "belongs to M-001" in refused.problems[0][1]
    assert journey.planner("tree", "restore", "src/m1_1.py", "--milestone", "M-002").code == 0
    with open(f"{journey.state_dir}/milestones/M-002/src/m1_1.py", encoding="utf-8") as file:
        assert file.read() == NEW
    assert hand_in(journey, "M-002", {"src/m2_1.py": NEW}).code == 0
