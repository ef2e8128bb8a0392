"""While a plan waits for its approval no copy of the user's files lies below their tree (0188)."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from shared import resources
from shared.run import open_state
from shared.workspace import open_workspace
from tests.journey import FILES, Journey
from tests.place import need_place

if TYPE_CHECKING:
    from tests.conftest import Repositories, Repository

pytestmark = pytest.mark.requirement("VR-2")


def copies(repository: Repository) -> list[str]:
    """Return the files below `.planner` that a runner of tests could take for the user's own."""
    top = repository.path / ".planner"
    return [str(p) for p in top.rglob("*.py")]


def names(path: str | Path) -> set[str]:
    """Return the names of a folder's files."""
    return {p.name for p in Path(path).rglob("*") if p.is_file() and ".git" not in p.parts}


def revise(journey: Journey) -> None:
    """Open the next revision by a remark of the user."""
    journey.write_answer("remarks.md", "Name it g.")
    revised = journey.planner("plan", "revise", "--file", "answers/remarks.md")
    assert revised.code == 0, revised.text


@pytest.fixture
def waiting(make_repo: Repositories) -> Journey:
    """Return a run whose plan is submitted."""
    return Journey(make_repo(files=FILES)).to("submitted")


def test_a_runner_of_tests_finds_the_users_tests_alone(waiting: Journey) -> None:
    """Here pytest in a project whose norecursedirs leave our folder in."""
    repository = waiting.repository
    assert copies(repository) == []
    repository.write("pytest.ini", "[pytest]\nnorecursedirs = build\npythonpath = src\n")
    words = [sys.executable, "-m", "pytest", "-q", "--collect-only", "-p", "no:cacheprovider"]
    ran = subprocess.run(words, cwd=repository.path, capture_output=True, text=True, check=False)
    assert ".planner" not in ran.stdout + ran.stderr, ran.stdout
    assert not resources.worktrees(waiting.state_dir)[1:]
    assert ".planner" not in repository.git("worktree", "list")


def test_a_revision_makes_the_worktree_again_on_the_same_base(waiting: Journey) -> None:
    revise(waiting)
    worktree = Path(resources.worktree_path(waiting.state_dir))
    assert names(worktree) >= {"a.py", "test_a.py", "README.md"}
    assert "x + 2" in (worktree / "src/a.py").read_text(encoding="utf-8")
    assert "The base moved" not in waiting.planner("plan", "show", "--json").text


def test_what_a_person_commits_meanwhile_does_not_move_the_plan(waiting: Journey) -> None:
    waiting.repository.commit({"other.txt": "theirs\n"})
    assert waiting.planner("mode", "rebase").code == 0
    revise(waiting)
    assert "The base moved" not in waiting.planner("plan", "show", "--json").text
    assert not Path(resources.worktree_path(waiting.state_dir), "other.txt").exists()


def test_a_linked_folder_is_linked_again(make_repo: Repositories) -> None:
    files = {**FILES, ".gitignore": "env/\n", "planner.toml": '[worktree]\nlink = ["env"]\n'}
    repository = make_repo(files=files)
    (repository.path / "env").mkdir()
    journey = Journey(repository).to("submitted")
    revise(journey)
    assert os.path.islink(os.path.join(resources.worktree_path(journey.state_dir), "env"))


def test_a_command_on_the_tree_sees_the_submitted_files_without_a_worktree(
    waiting: Journey,
) -> None:
    need_place()
    ran = waiting.planner("tree", "run", "cat src/a.py")
    assert "x + 2" in ran.data("output"), ran.text
    assert copies(waiting.repository) == []


@pytest.mark.parametrize("hook", ["", "pre-commit"])
def test_the_plan_is_approved_and_committed_all_the_same(
    make_repo: Repositories, hook: str
) -> None:
    repository = make_repo(files=FILES)
    if hook:
        path = repository.write(f".git/hooks/{hook}", "#!/bin/sh\ntest -f src/a.py\n")
        path.chmod(0o755)
    journey = Journey(repository).to("submitted")
    assert copies(repository) == []
    assert "Proved" in journey.to("committed").last.text


def test_an_editor_is_refused_before_it_opens(waiting: Journey) -> None:
    refused = waiting.planner("edit")
    assert refused.code == 1
    assert "plan revise" in refused.text


def test_a_worktree_that_holds_more_than_the_plan_stays(waiting: Journey) -> None:
    state = open_state(waiting.state_dir, "/")
    open_workspace(state)
    worktree = Path(resources.worktree_path(waiting.state_dir))
    (worktree / "more.txt").write_text("work\n", encoding="utf-8")
    assert waiting.planner("plan", "freeze").code == 0
    assert (worktree / "more.txt").exists()
    (worktree / "more.txt").unlink()
    assert waiting.planner("plan", "freeze").code == 0
    assert not worktree.exists()


def test_intents_wait_without_a_worktree_too(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files=FILES))
    journey.start("--depth", "intent")
    journey.to("submitted")
    assert copies(journey.repository) == []
    assert "Proved" in journey.to("committed").last.text
