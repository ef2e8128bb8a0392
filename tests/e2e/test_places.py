"""Where the user is when the run starts: a linked worktree, a folder of a larger repository."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.conftest import Repository
from tests.e2e.conftest import APP, answer_two, assert_proved, committed
from tests.e2e.drive import Host

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
    block = Host(linked.path, answer_two, ["src/app.py"], processes=True).to("the end")
    assert_proved(linked, block, "src/app.py")
    assert linked.git("rev-parse", "topic") == block.root.get("commit")
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
    approval = host.to("init")
    assert host.state_dir.is_relative_to(project.path / ".planner")
    assert host.planner("status", cwd=project.path / "libs").code == 0
    assert_proved(project, host.to("the end", approval), *files)
    assert committed(project, "libs/core/core.txt") == b"2\n"


def test_a_repository_inside_another_one_has_runs_of_its_own(project: Repository) -> None:
    outer = Host(project.path, answer_two, ["src/app.py"])
    outer.to("plan-code-execute")
    inner = Repository(project.path / "inner")
    inner.path.mkdir()
    inner.git("init", "--quiet")
    inner.commit({"src/app.py": APP})
    assert_proved(inner, Host(inner.path, answer_two, ["src/app.py"]).to("the end"), "src/app.py")
    status = Host(inner.path).planner("status")
    assert f"{inner.path}/.planner" in status.text


def test_two_runs_in_one_repository_do_not_affect_each_other(project: Repository) -> None:
    first = Host(project.path, answer_two, ["src/app.py"])
    second = Host(
        project.path, lambda tree: (tree / "notes.txt").write_text("two\n"), ["notes.txt"]
    )
    waiting = first.to("init", first.start(request="The first"))
    other = second.to("init", second.start(request="The second"))
    assert first.state_dir != second.state_dir
    ambiguous = Host(project.path).planner("status")
    assert ambiguous.code == 1
    assert str(first.state_dir) in ambiguous.text
    assert str(second.state_dir) in ambiguous.text
    assert_proved(project, second.to("the end", other), "notes.txt")
    assert_proved(project, first.to("the end", waiting), "src/app.py")
    assert committed(project, "notes.txt") == b"two\n"
