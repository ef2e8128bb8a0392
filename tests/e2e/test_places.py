"""Where the user is when the run starts: a linked worktree, a folder of a larger repository."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.conftest import Repository
from tests.e2e.conftest import APP, answer_two, assert_proved, committed
from tests.e2e.drive import Host
from tests.journey import call

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.mark.requirement("PL-32")
def test_a_linked_worktree_of_the_user_gets_the_commit_and_the_main_one_is_not_touched(
    project: Repository, tmp_path: Path
) -> None:
    main = project.git("rev-parse", "main")
    project.git("worktree", "add", "-q", "-b", "topic", str(tmp_path / "linked"))
    linked = Repository(tmp_path / "linked")
    block = Host(linked.path, answer_two, ["src/app.py"], processes=True).to("committed").last
    assert_proved(linked, block, "src/app.py")
    assert linked.git("rev-parse", "topic") == block.block.get("commit")
    assert project.git("rev-parse", "main") == main
    assert project.git("status", "--porcelain") == ""
    assert len(project.git("worktree", "list").splitlines()) == 2


def test_a_run_started_in_a_subfolder_plans_for_the_whole_repository(
    make_repo: Callable[..., Repository],
) -> None:
    files: dict[str, str | bytes] = {"apps/web/page.txt": "1\n", "libs/core/core.txt": "1\n"}
    project = make_repo("mono", files)

    def edit(tree: Path) -> None:
        for name in files:
            (tree / name).write_text("2\n")

    host = Host(project.path / "apps" / "web", edit, list(files), processes=True)
    host.to("submitted")
    assert host.state_dir.startswith(f"{project.path}/.planner/")
    assert call(project.path / "libs", "status", "--state-dir", host.state_dir).code == 0
    assert_proved(project, host.to("committed").last, *files)
    assert committed(project, "libs/core/core.txt") == b"2\n"


def test_a_repository_inside_another_one_has_runs_of_its_own(project: Repository) -> None:
    outer = Host(project.path, answer_two, ["src/app.py"])
    outer.to("code")
    inner = Repository(project.path / "inner")
    inner.path.mkdir()
    inner.git("init", "--quiet")
    inner.commit({"src/app.py": APP})
    done = Host(inner.path, answer_two, ["src/app.py"]).to("committed").last
    assert_proved(inner, done, "src/app.py")
    status = call(inner.path, "status")
    assert f"{inner.path}/.planner" in status.text


def test_two_runs_in_one_repository_do_not_affect_each_other(project: Repository) -> None:
    first = Host(project.path, answer_two, ["src/app.py"])
    second = Host(
        project.path, lambda tree: (tree / "notes.txt").write_text("two\n"), ["notes.txt"]
    )
    first.request, second.request = "The first", "The second"
    first.to("submitted")
    second.to("submitted")
    assert first.state_dir != second.state_dir
    shown = call(project.path, "status")
    assert shown.state_dir == second.state_dir, "the session plans this one"
    assert "“The first”" in shown.data("also under way")
    assert first.state_dir in shown.data("also under way")
    assert_proved(project, second.to("committed").last, "notes.txt")
    assert_proved(project, first.to("committed").last, "src/app.py")
    assert committed(project, "notes.txt") == b"two\n"
