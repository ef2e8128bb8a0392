"""What a run needs of a repository before it starts."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from shared.git.readiness import check_startable
from shared.git.repository import (
    exclude_planner,
    find_repository,
    head,
    repository_at,
    submodules,
    uncommitted,
)
from state.errors import Refused
from tests.shared.git.conftest import Project

if TYPE_CHECKING:
    from pathlib import Path

    from shared.git.repository import Repository


def _said(path: Path) -> str:
    return "\n".join(f"{p.problem} · {p.allowed} · {p.retry}" for p in check_startable(str(path)))


def test_a_folder_inside_the_repository_will_do(project: Project) -> None:
    repo = find_repository(str(project.root / "src"))
    assert repo.root == str(project.root)
    assert repo.git_dir == repo.common_dir == str(project.root / ".git")
    assert repo.objects == str(project.root / ".git/objects")
    assert check_startable(str(project.root / "src")) == []


def test_a_linked_worktree_of_the_user_will_do(project: Project, tmp_path: Path) -> None:
    project.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    repo = find_repository(str(tmp_path / "side"))
    assert repo.root == str(tmp_path / "side")
    assert repo.common_dir == str(project.root / ".git")
    assert head(repo).branch == "side"
    assert check_startable(repo.root) == []


def test_what_is_no_repository_is_refused(tmp_path: Path) -> None:
    assert "not inside a git repository" in _said(tmp_path)
    assert "this folder does not exist" in _said(tmp_path / "nowhere")
    with pytest.raises(Refused):
        find_repository(str(tmp_path))


@pytest.mark.parametrize("setting", ["core.bare=true", "core.worktree=/nowhere"])
def test_a_setting_that_hides_the_files_is_named_with_the_command_that_sets_it_right(
    project: Project, setting: str
) -> None:
    name, _, value = setting.partition("=")
    project.git("config", name, value)
    with pytest.raises(Refused, match=name) as refused:
        find_repository(str(project.root / "src"))
    [problem] = refused.value.problems
    subprocess.run(problem.retry.split(), cwd=project.root, check=True)
    assert check_startable(str(project.root / "src")) == []


def test_what_git_says_of_an_owner_is_told_whole_with_its_command(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git = tmp_path / "bin" / "git"
    git.parent.mkdir()
    command = "git config --global --add safe.directory '/a folder'"
    text = "fatal: detected dubious ownership in repository at '/a folder'\\n"
    text += "To add an exception for this directory, call:\\n\\n\\t" + command
    git.write_text(f'#!/bin/sh\nprintf "{text}\\n" >&2\nexit 128\n')
    git.chmod(0o755)
    monkeypatch.setenv("PATH", str(git.parent), prepend=os.pathsep)
    with pytest.raises(Refused) as refused:
        find_repository(str(project.root))
    [problem] = refused.value.problems
    assert problem.problem.endswith(f"call: {command}")
    assert problem.retry == command


def test_a_bare_repository_is_refused(project: Project, tmp_path: Path) -> None:
    project.git("clone", "-q", "--bare", str(project.root), str(tmp_path / "bare"))
    assert "bare" in _said(tmp_path / "bare")
    assert "`.git` folder" in _said(project.root / ".git")


@pytest.mark.requirement("PL-32")
def test_a_path_at_whose_colon_git_would_split_its_ceiling_is_refused(tmp_path: Path) -> None:
    project = Project(tmp_path / "re:po")
    project.commit({"a": b"1\n"})
    assert "could leave the worktree" in _said(project.root)


def test_all_problems_are_said_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    empty = Project(tmp_path / "empty")
    empty.git("config", "user.useConfigOnly", "true")
    (empty.root / ".git/MERGE_HEAD").touch()
    said = _said(empty.root)
    for words in ("no commit yet", "a merge is in progress", "git config user.name"):
        assert words in said


def test_a_detached_head_is_refused(project: Project) -> None:
    project.git("checkout", "-q", "--detach")
    assert "HEAD is detached" in _said(project.root)
    assert head(project.repo).branch is None


def test_a_planner_folder_that_the_repository_brings_is_refused(project: Project) -> None:
    """Its database could hold runs, and approvals, that nobody here has made."""
    project.write({".planner/planner.db": b"x", ".planner/runs/r/plan.json": b"{}"})
    project.git("add", "-f", ".planner")
    project.git("commit", "-q", "-m", "runs")
    (problem,) = check_startable(str(project.root))
    assert (problem.at, problem.kind) == (".planner", "refused")
    assert "(2)" in problem.problem
    subprocess.run(problem.retry.split(), cwd=project.root / "src", check=True)
    project.git("commit", "-q", "-m", "no runs")
    assert check_startable(str(project.root)) == []
    assert not (project.root / ".planner/planner.db").exists()


@pytest.mark.parametrize("what", ["merge", "rebase", "cherry-pick", "revert", "bisect"])
def test_an_operation_in_progress_is_refused(project: Project, what: str) -> None:
    project.git("checkout", "-q", "-b", "other")
    project.commit({"README.md": b"theirs\n"})
    project.git("checkout", "-q", "main")
    ours = project.commit({"README.md": b"ours\n"})
    project.commit({"README.md": b"later\n"})
    words = {
        "merge": ["merge", "other"], "rebase": ["rebase", "other"],
        "cherry-pick": ["cherry-pick", "other"], "revert": ["revert", ours],
        "bisect": ["bisect", "start"],
    }[what]  # fmt: skip
    if what == "bisect":
        project.git(*words)
    else:
        with pytest.raises(AssertionError):
            project.git(*words)
    assert f"{what.removesuffix('bisect')}" in _said(project.root)
    assert "in progress" in _said(project.root)


def test_uncommitted_work_is_listed_whatever_the_settings(project: Project, tmp_path: Path) -> None:
    Project(tmp_path / "library").commit({"l": b"l"})
    project.git("submodule", "add", "-q", str(tmp_path / "library"), "lib")
    project.commit({".gitignore": b"*.log\n"})
    assert submodules(project.repo, "HEAD") == ["lib"]
    project.git("config", "status.showUntrackedFiles", "no")
    project.write(
        {"README.md": b"x", "new dir/ü\n": b"x", "a.log": b"x", ".planner/x": b"x", "lib/l": b"y"}
    )
    project.git("mv", "run.sh", "moved.sh")
    assert uncommitted(project.repo) == ["README.md", "moved.sh", "new dir/", "run.sh"]


def test_the_planners_folder_is_excluded_once(project: Project) -> None:
    path = project.root / ".git/info/exclude"
    path.write_bytes(b"mine")
    for _ in range(2):
        exclude_planner(project.repo)
    assert path.read_bytes() == b"mine\n/.planner/\n"
    path.unlink()
    path.parent.rmdir()
    exclude_planner(project.repo)
    assert path.read_bytes() == b"/.planner/\n"


def test_a_lock_that_a_killed_git_left_is_named_with_the_way_past_it(project: Project) -> None:
    lock = project.root / ".git" / "index.lock"
    lock.touch()
    with pytest.raises(Refused) as caught:
        project.repo.git.run("update-index", "--add", "--cacheinfo", f"100644,{'0' * 39}1,x")
    problem = caught.value.problems[0]
    assert (problem.kind, problem.at) == ("locked", str(lock))
    assert "remove this lock file" in problem.allowed


@pytest.mark.requirement("PL-32")
def test_an_opened_repository_is_opened_again_only_where_another_is_in_its_place(
    project: Project, tmp_path: Path
) -> None:
    opened: dict[str, Repository] = {}
    root = str(project.root)
    first = repository_at(root, opened)
    project.git("commit", "-q", "--allow-empty", "-m", "Another")
    assert repository_at(root, opened) is first
    project.git("config", "core.autocrlf", "input")
    assert repository_at(root, opened) is not first
    git, away = project.root / ".git", tmp_path / "away"
    git.rename(away)
    with pytest.raises(Refused, match="not inside a git repository"):
        repository_at(root, opened)
    project.git("init", "-q", "--object-format=sha256")
    assert repository_at(root, opened).object_format == "sha256"
    shutil.rmtree(git)
    git.symlink_to(away)
    assert repository_at(root, opened).git_dir == str(away)


@pytest.mark.requirement("PL-32")
def test_settings_are_read_again_when_a_file_that_they_come_from_is_another(
    project: Project, tmp_path: Path
) -> None:
    git = find_repository(str(project.root)).git
    project.git("config", "include.path", str(tmp_path / "more"))
    (tmp_path / "more").write_text("[Some]\n\tKey = old\n\tlone\n")
    assert git.settings()["some.key"] == "old"
    assert git.settings()["some.lone"] == ""
    (tmp_path / "new").write_text("[Some]\n\tKey = new\n")
    (tmp_path / "new").rename(tmp_path / "more")
    assert git.on_index("/x").settings()["some.key"] == "new"
    project.git("config", "some.key", "last")
    assert git.settings()["some.key"] == "last"
    assert not git.is_on("core.bare", default=True)
    project.git("config", "core.bare", "no")
    assert not git.is_on("core.bare", default=True)
    assert git.is_on("core.none", default=True)
