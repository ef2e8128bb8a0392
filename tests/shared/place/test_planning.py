"""What a command sees of a repository that is planned for, as paths alone (15)."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from shared.place.planning import (
    capture_place,
    environment,
    leave_worktrees_out,
    planning_place,
    verifying_place,
)

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def root(tmp_path: Path) -> str:
    """Return a project's folder, which is no repository, with one run that has worktrees."""
    for name in ("worktree", "answers", "milestones/M-001/worktree"):
        (tmp_path / ".planner" / "runs" / "x" / name).mkdir(parents=True)
    return os.path.realpath(tmp_path)


def test_of_a_run_answers_and_worktrees_are_kept_and_the_rest_is_protected(root: str) -> None:
    run = f"{root}/.planner/runs/x"
    place = planning_place(root, root, run)
    assert {f"{run}/answers", f"{run}/worktree"} <= {*place.kept}
    assert {f"{root}/.planner", run, f"{run}/worktree/.git"} <= {*place.protected}
    assert planning_place(root, root).kept == ()
    assert planning_place(root, root).protected == (f"{root}/.planner",)


def test_a_folder_of_answers_that_leads_elsewhere_is_not_kept(root: str) -> None:
    os.rmdir(f"{root}/.planner/runs/x/answers")
    os.symlink(root, f"{root}/.planner/runs/x/answers")
    kept = planning_place(root, root, f"{root}/.planner/runs/x").kept
    assert f"{root}/.planner/runs/x/answers" not in kept
    assert root not in kept


def test_worktrees_are_left_out_of_what_walks_the_repository(root: str) -> None:
    run = f"{root}/.planner/runs/x"
    place = planning_place(root, root, run)
    leave_worktrees_out(place, "grep -r x .")
    assert f"{run}/worktree" in place.hidden
    assert not [path for path in place.kept if path.startswith(f"{run}/worktree")]
    assert not [path for path in place.protected if path.startswith(f"{run}/worktree")]
    assert f"{run}/answers" in place.kept
    assert run in place.protected


@pytest.mark.parametrize(
    ("folder", "text"), [("", "ls .planner/runs"), (".planner/runs/x/worktree", "ls")]
)
def test_a_command_that_names_them_or_starts_there_sees_them(
    folder: str, text: str, root: str
) -> None:
    place = planning_place(os.path.join(root, folder), root, f"{root}/.planner/runs/x")
    leave_worktrees_out(place, text)
    assert place.hidden == ()
    assert f"{root}/.planner/runs/x/worktree" in place.kept


def test_a_hook_writes_below_what_it_is_given_each_folder_once(root: str) -> None:
    tree = f"{root}/.planner/runs/x/worktree"
    place = capture_place(tree, root, {"HOME": root}, [tree, f"{tree}/../worktree", root])
    assert place.kept == (tree, root)
    assert (place.folder, place.repository) == (tree, root)


def test_verifying_sees_other_files_and_nothing_of_the_planner(root: str) -> None:
    place = verifying_place(root, {"HOME": root}, {}, ["/cache"])
    assert place.hidden == (f"{root}/.planner", "/cache")
    assert (place.protected, place.kept, place.covered) == ((), (), {})


def test_a_command_gets_no_variable_that_smells_of_a_secret() -> None:
    given = {"PATH": "/bin", "TMUX": "x", "DISPLAY": ":0", "API_TOKEN": "t", "LANG": "C"}
    assert environment(given) == {"PATH": "/bin", "LANG": "C"}
