"""No git call of ours may look for its repository: it would find the user's around the run."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import pytest

from benchmarks.imports import own_modules
from shared.git.command import project_environment, user_environment
from shared.git.hooks import LOCAL
from shared.git.repository import find_repository, repository_at
from shared.git.worktree import open_worktree
from state.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.shared.git.conftest import Project

# Who may make a Git: these know the git folder. And the one function that has git look for it.
MAKERS = {f"shared/git/{name}.py" for name in ("command", "private", "repository", "vault")}
FINDERS = {"shared/git/repository.py"}


def calls(name: str) -> Iterator[str]:
    """Yield each module that calls the function, once a call."""
    for module in own_modules().values():
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == name:
                yield module.path


def test_git_is_made_only_where_its_folder_is_known() -> None:
    assert set(calls("Git")) == MAKERS
    assert set(calls("discover")) == FINDERS


def test_no_other_module_starts_git() -> None:
    found = {
        module.path
        for module in own_modules().values()
        for node in ast.walk(module.tree)
        if isinstance(node, ast.List) and node.elts
        if isinstance(node.elts[0], ast.Constant) and node.elts[0].value == "git"
    }
    # A trial of the commit, and what puts HEAD on a branch for a hook, run in the place: what git
    # finds there does not last.
    scripts = {"developer/verify/trial_commit.py", "shared/git/commit_steps.py"}
    assert found == {"shared/git/command.py", *scripts}


def test_a_root_that_lost_its_git_folder_is_not_taken_for_the_repository_around(
    project: Project,
) -> None:
    inner = project.root / "inner"
    inner.mkdir()
    with pytest.raises(Refused, match="not inside a git repository"):
        repository_at(str(inner))
    assert find_repository(str(inner)).root == str(project.root)


def test_a_worktree_is_named_by_its_record_and_its_file_put_right(project: Project) -> None:
    worktree = project.begin()
    (worktree / ".git").unlink()
    tree = open_worktree(project.repo, str(worktree))
    assert tree.git.text("rev-parse", "--git-dir") == tree.admin
    assert project.git("rev-parse", "--show-toplevel", cwd=worktree) == str(worktree)


def test_a_link_to_the_users_tree_is_not_opened_as_the_worktree(project: Project) -> None:
    worktree = project.begin()
    worktree.rename(worktree.with_name("before"))
    worktree.symlink_to(project.root)
    with pytest.raises(Refused, match="is a symbolic link"):
        open_worktree(project.repo, str(worktree))


@pytest.mark.parametrize("with_settings", [True, False])
def test_a_command_gets_no_variable_that_redirects_git(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, with_settings: bool
) -> None:
    for name in (*LOCAL, "GIT_INDEX_FILE", "GIT_CONFIG_KEY_0", "GIT_CONFIG_VALUE_0"):
        monkeypatch.setenv(name, "x")
    monkeypatch.setenv("GIT_AUTHOR_NAME", "Somebody")
    found = project_environment(str(tmp_path / "worktree"), with_settings=with_settings)
    assert not {*LOCAL, "GIT_INDEX_FILE", "GIT_CONFIG_KEY_0"} & {*found}
    assert found["GIT_CEILING_DIRECTORIES"] == str(tmp_path)
    assert ("GIT_AUTHOR_NAME" in found) == with_settings


@pytest.mark.requirement("HO-4")
def test_the_users_settings_that_gemini_hides_from_git_are_found_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    hidden = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", "GIT_ASKPASS": "",
              "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.hooksPath",
              "GIT_CONFIG_VALUE_0": ""}  # fmt: skip
    for name, value in hidden.items():
        monkeypatch.setenv(name, value)
    assert user_environment().items() >= hidden.items()
    monkeypatch.setenv("GEMINI_CLI", "1")
    assert not user_environment().keys() & hidden.keys()
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "mine"))
    assert user_environment()["GIT_CONFIG_COUNT"] == "1"
