"""Git's record of a milestone's worktree, or its folder, is lost: its agent goes on (R1)."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.forms import part
from tests.journey import words_of
from tests.orchestrator.execute.waves import NEW, hand_in, status_of, writing

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository
    from tests.journey import Journey

    Repositories = Callable[..., Repository]

pytestmark = pytest.mark.requirement("PL-27", "PL-32")
FILES: dict[str, str | bytes] = {"src/m1_1.py": NEW}


def tree_of(journey: Journey) -> Path:
    return Path(journey.state_dir, "milestones", "M-001")


def remove_record(journey: Journey) -> None:
    shutil.rmtree(journey.repository.path / ".git" / "worktrees")


def move_prune_and_move_back(journey: Journey) -> None:
    tree = tree_of(journey)
    tree.rename(tree.with_name("away"))
    journey.repository.git("worktree", "prune")
    tree.with_name("away").rename(tree)


def remove_by_git(journey: Journey) -> None:
    journey.repository.git("worktree", "remove", "--force", str(tree_of(journey)))


def remove_folder(journey: Journey) -> None:
    shutil.rmtree(tree_of(journey))


@pytest.mark.parametrize("way", part([remove_record, move_prune_and_move_back], 2))
def test_a_lost_record_is_repaired_and_the_work_is_handed_in(
    make_repo: Repositories, way: Callable[[Journey], None]
) -> None:
    journey = writing(make_repo)
    journey.edit_worktree(FILES, "milestones/M-001")
    way(journey)
    assert journey.call("step", "exec-implement", "--milestone", "M-001").code == 0
    done = hand_in(journey, "M-001", {})
    assert done.code == 0, done.text
    assert status_of(journey)["M-001"] == "COMPLETED"
    assert (Path(journey.state_dir) / "worktree/src/m1_1.py").read_text() == NEW


@pytest.mark.parametrize("way", [remove_by_git, remove_folder])
def test_a_removed_worktree_that_an_agent_writes_into_is_made_whole_and_said_once(
    make_repo: Repositories, way: Callable[[Journey], None]
) -> None:
    journey = writing(make_repo)
    way(journey)
    (tree_of(journey) / "src").mkdir(parents=True)
    refused = hand_in(journey, "M-001", {"src/m1_1.py": NEW})
    assert refused.code == 1
    assert "the worktree was removed, with what was not captured of it" in refused.text
    assert (tree_of(journey) / "README.md").exists()
    assert (tree_of(journey) / "src/m1_1.py").read_text() == NEW
    done = hand_in(journey, "M-001", {})
    assert done.code == 0, done.text
    assert status_of(journey)["M-001"] == "COMPLETED"


def test_exec_next_makes_it_whole_too_and_other_commands_name_it(make_repo: Repositories) -> None:
    journey = writing(make_repo)
    remove_by_git(journey)
    (tree_of(journey) / "src").mkdir(parents=True)
    journey.edit_worktree(FILES, "milestones/M-001")
    refused = journey.planner("tree", "restore", "src/m1_1.py", "--milestone", "M-001")
    assert refused.code == 1
    kind, text = refused.problems[0]
    assert kind == "not_found"
    assert journey.call(*words_of(text.rsplit("retry: ", 1)[1])).code == 0
    assert (tree_of(journey) / "README.md").exists()
    assert hand_in(journey, "M-001", {}).code == 0
