"""Git's record of the scratch worktree, or its folder, is removed: the run goes on (PL-32)."""

from __future__ import annotations

import shutil
import subprocess
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from shared.run import open_state
from shared.workspace import open_workspace
from tests.forms import part, some
from tests.journey import FILES, Journey, words_of
from tests.kills import Kept, killed_at, moments_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

CHANGED = "def f(x):\n    return x + 2\n"


def tree_of(journey: Journey) -> Path:
    return Path(journey.state_dir, "worktree")


def remove_all_records(journey: Journey) -> None:
    shutil.rmtree(journey.repository.path / ".git" / "worktrees")


def prune_while_it_is_away(journey: Journey) -> None:
    tree = tree_of(journey)
    tree.rename(tree.with_name("away"))
    journey.repository.git("worktree", "prune")
    tree.with_name("away").rename(tree)


def remove_by_git(journey: Journey) -> None:
    journey.repository.git("worktree", "remove", "--force", str(tree_of(journey)))


def remove_folder(journey: Journey) -> None:
    shutil.rmtree(tree_of(journey))


def remove_and_write_one_file(journey: Journey) -> None:
    remove_by_git(journey)
    file = tree_of(journey) / "src" / "a.py"
    file.parent.mkdir(parents=True)
    file.write_text(CHANGED)


def go_on(journey: Journey) -> list[str]:
    """Go on to the proven commit; each refusal is met by the same command, three times at most."""
    refusals: list[str] = []
    while journey.point != "result" and len(refusals) < 3:
        block = journey.last
        try:
            journey.advance()
        except FileNotFoundError:  # the developer's tools find no folder to write in
            journey.follow(block.next())
        if journey.last.code:
            refusals.append(journey.last.text)
            journey.last = block
    return refusals


def assert_committed(journey: Journey) -> None:
    git = journey.repository.git
    assert journey.last.block.get("commit") == git("rev-parse", "HEAD"), journey.last.text
    names = git("diff-tree", "-r", "--name-only", "HEAD^", "HEAD").split("\n")
    assert {n for n in names if not n.startswith("planning/")} == {"src/a.py", "tests/test_a.py"}
    assert git("status", "--porcelain") == ""


@pytest.mark.requirement("PL-32")
@pytest.mark.parametrize(
    ("way", "point"),
    part(
        [*product([remove_all_records, prune_while_it_is_away],
                  ["design", "code", "submitted", "applied"])], 3,
    ),
)  # fmt: skip
def test_a_lost_record_is_repaired_and_no_work_is_lost(
    make_repo: Callable[..., Repository], way: Callable[[Journey], None], point: str
) -> None:
    journey = Journey(make_repo("project", FILES)).to(point)
    if point == "code":
        journey.edit_worktree(journey.edits)
        journey.edits = {}  # what is there already has to be found
    open_workspace(open_state(journey.state_dir, "/"))  # one that was put away
    way(journey)
    assert go_on(journey) == []
    assert_committed(journey)


@pytest.mark.requirement("PL-32")
@pytest.mark.parametrize(
    ("way", "point"),
    part(
        [*product([remove_by_git, remove_folder, remove_and_write_one_file],
                  ["design", "code", "docs"])], 4,
    ),
)  # fmt: skip
def test_a_removed_worktree_is_made_again_and_said_once(
    make_repo: Callable[..., Repository], way: Callable[[Journey], None], point: str
) -> None:
    journey = Journey(make_repo("project", FILES))
    journey.promises_document = point == "docs"
    journey.to(point)
    way(journey)
    (refusal,) = go_on(journey)
    assert "what was not captured of it" in refusal
    assert journey.last.block.get("commit"), journey.last.text


@pytest.mark.requirement("PL-32")
def test_a_worktree_that_is_missed_by_a_rebase_is_made_again_and_the_rebase_works(
    make_repo: Callable[..., Repository],
) -> None:
    journey = Journey(make_repo("project", FILES)).to("code")
    journey.repository.commit({"src/a.py": f"# mine\n{FILES['src/a.py']!s}"}, "Mine")
    remove_folder(journey)
    said = journey.planner("mode", "rebase")
    assert (said.block.tag, said.block.get("partial")) == ("result", "true")
    assert "the worktree, made again: " in said.data("kept")
    assert journey.planner("mode", "rebase").code == 0
    journey.to("committed")
    assert_committed(journey)


@pytest.mark.requirement("PL-32")
def test_a_worktree_removed_after_a_rebase_names_what_was_captured_on_the_former_base(
    make_repo: Callable[..., Repository],
) -> None:
    journey = Journey(make_repo("project", FILES)).to("code")
    journey.do_the_work()
    assert journey.planner("plan", "capture").code == 0
    journey.repository.commit({"tests/test_a.py": "# mine\n"}, "Mine")
    assert journey.planner("mode", "rebase").code == 0
    remove_folder(journey)
    [said] = go_on(journey)
    assert "(changed: src/a.py)" in said
    assert "their changes are missing: tests/test_a.py" in said
    assert_committed(journey)


@pytest.mark.requirement("PL-32")
def test_a_file_in_place_of_the_worktree_is_named_and_moving_it_away_leads_on(
    make_repo: Callable[..., Repository],
) -> None:
    journey = Journey(make_repo("project", FILES)).to("code")
    remove_folder(journey)
    tree_of(journey).write_text("mine\n")
    block = journey.last
    refused = journey.follow(block.next())
    assert "this is not a folder" in refused.text
    assert "move it away" in refused.text
    assert tree_of(journey).read_text() == "mine\n"
    tree_of(journey).rename(tree_of(journey).with_name("mine"))
    journey.last = block
    (refusal,) = go_on(journey)
    assert "what was not captured of it" in refusal
    assert_committed(journey)


@pytest.mark.requirement("PL-32")
@pytest.mark.parametrize("point", ["submitted", "approved", "applied"])
def test_a_worktree_removed_after_the_freeze_is_not_missed(
    make_repo: Callable[..., Repository], point: str
) -> None:
    """It was put away (0188); nor is one that is made again meanwhile."""
    journey = Journey(make_repo("project", FILES)).to(point)
    assert not tree_of(journey).exists()
    open_workspace(open_state(journey.state_dir, "/"))
    remove_by_git(journey)
    journey.to("committed")
    assert_committed(journey)


@pytest.mark.requirement("PL-32")
def test_a_lost_snapshot_is_named_with_a_way_out(make_repo: Callable[..., Repository]) -> None:
    journey = Journey(make_repo("project", FILES))
    journey.repository.write("README.md", "# Mine\n")
    journey.start("--base", "snapshot")
    journey.to("code")
    journey.edit_worktree(journey.edits)
    remove_all_records(journey)
    subprocess.run(["git", "gc", "--quiet", "--prune=now"], cwd=journey.repository.path, check=True)
    journey.advance()
    assert journey.last.code == 1
    assert "copy your work out of this folder" in journey.last.text
    assert (tree_of(journey) / "src" / "a.py").read_text() == CHANGED


@pytest.mark.requirement("PL-32")
def test_a_worktree_whose_making_again_was_killed_is_made_whole(
    make_repo: Callable[..., Repository],
) -> None:
    journey = Journey(make_repo("project", FILES)).to("code")
    remove_folder(journey)
    command = words_of(journey.last.next())
    kept = Kept(journey.repository)
    moments = moments_of(journey.repository.path, *command, codes=(0, 1))
    for moment in some(moments, 3):
        kept.restore()
        if not killed_at(moment, journey.repository.path, *command, codes=(0, 1)):
            break
        journey.planner(*command[:4])  # makes it again if that is not done
        assert (tree_of(journey) / "README.md").exists()
        assert "was changed" not in journey.planner(*command[:4]).text


@pytest.mark.requirement("PL-32")
@pytest.mark.parametrize("words", [("plan", "check", "--phase", "plan-docs"), ("plan", "capture")])
def test_a_worktree_of_a_run_that_has_ended_is_not_made_again(
    make_repo: Callable[..., Repository], words: tuple[str, ...]
) -> None:
    journey = Journey(make_repo("project", FILES)).to("submitted")
    assert journey.planner("cancel").code == 0
    for _ in range(2):
        refused = journey.planner(*words)
        assert (refused.code, refused.block.tag) == (1, "error")
        assert "the run is cancelled" in refused.text
    assert not tree_of(journey).exists()
