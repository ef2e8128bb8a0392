"""Where the file tools of an assistant may write while it plans (PM-3)."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from shared.guard import tools
from shared.guard.denial import Denied
from shared.guard.places import MOST_PATH, check_ours, check_planning, patched_by_shell, written
from shared.guard.tools import Tool
from shared.mode.sessions import Session
from shared.resources import get_context_path, plan_path
from tests.shared.execution.scene import Scene, milestone

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.requirement("PM-3")

OURS = "this is one of the planner's own files, which only planner commands may write"


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    made = Scene(tmp_path, [milestone(1, "a.py")])
    for folder in ("worktree", "answers"):
        (tmp_path / ".planner" / "runs" / "20260102-abcdef" / folder).mkdir()
    return made


def session_of(scene: Scene, folder: Path) -> Session:
    values: dict[str, object] = {
        "agent": "a session", "session": "s", "run_id": "20260102-abcdef",
        "database": f"{folder}/.planner/planner.db", "repository": str(folder),
        "state_dir": scene.state_dir,
    }  # fmt: skip
    return Session("a file", values)


def denied(path: str, scene: Scene, folder: Path, **row: object) -> tuple[str, str]:
    """Return why writing a file is denied and what to do instead; ("", "") if it is allowed."""
    run = scene.place(workflow="planner", step=6, **row).run
    try:
        check_planning(path, str(folder), session_of(scene, folder), run)
    except Denied as answer:
        return answer.reason, answer.instead
    return "", ""


@pytest.mark.parametrize(
    "name", ["answers/design.json", "answers/deep/er.md", "worktree/a.py", "worktree/new/b.py",
             "worktree/.github/x.yml", "worktree/gitignore"],
)  # fmt: skip
def test_answers_and_the_worktree_are_written(name: str, scene: Scene, tmp_path: Path) -> None:
    assert denied(f"{scene.state_dir}/{name}", scene, tmp_path) == ("", "")
    relative = os.path.relpath(f"{scene.state_dir}/{name}", tmp_path)
    assert denied(relative, scene, tmp_path) == ("", "")


@pytest.mark.parametrize(
    "name", [".git", ".git/config", "sub/.git/hooks/x", ".GIT/config", "git~1/config", "a/.Git"]
)
def test_gits_own_files_in_the_worktree_are_not(name: str, scene: Scene, tmp_path: Path) -> None:
    reason, instead = denied(f"{scene.state_dir}/worktree/{name}", scene, tmp_path)
    assert reason == "git's own files in the worktree are not part of the plan"
    assert instead == "run the command that the planner printed last"


@pytest.mark.parametrize("name", ["plan.json", "config.json", "lock", "worktree2/a", "answers2"])
def test_the_planners_own_files_are_written_by_its_commands(
    name: str, scene: Scene, tmp_path: Path
) -> None:
    path = f"{scene.state_dir}/{name}"
    assert denied(path, scene, tmp_path) == (OURS, "run the command that the planner printed last")
    with pytest.raises(Denied, match="planner's own files"):
        check_ours(path, str(tmp_path), session_of(scene, tmp_path))


def test_files_of_the_project_are_written_once_the_plan_is_approved(
    scene: Scene, tmp_path: Path
) -> None:
    home = scene.state_dir
    assert denied("src/a.py", scene, tmp_path) == (
        "src/a.py must not be written before the plan is approved",
        f"write answers under {home}/answers/; change files of the project under {home}/worktree/",
    )
    session = session_of(scene, tmp_path)
    with pytest.raises(Denied) as without_a_run:
        check_planning("src/a.py", str(tmp_path), session, None)
    assert without_a_run.value.instead == f"write answers under {home}/answers/"
    check_ours("src/a.py", str(tmp_path), session)


def test_the_context_is_written_only_while_it_is_gathered(scene: Scene, tmp_path: Path) -> None:
    path = get_context_path(scene.state_dir)
    for step in (1, 2):
        run = scene.place(workflow="planner", step=step).run
        check_planning(path, str(tmp_path), session_of(scene, tmp_path), run)
    assert denied(path, scene, tmp_path)[0] == OURS


def test_a_link_out_of_the_answers_leads_to_what_it_is_a_link_to(
    scene: Scene, tmp_path: Path
) -> None:
    os.symlink(plan_path(scene.state_dir), f"{scene.state_dir}/answers/x.json")
    assert denied(f"{scene.state_dir}/answers/x.json", scene, tmp_path)[0] == OURS
    os.symlink(tmp_path, f"{scene.state_dir}/answers/out")
    assert denied(f"{scene.state_dir}/answers/out/a.py", scene, tmp_path)[0].endswith("approved")


def test_a_path_that_is_longer_than_any_is_denied_unread(scene: Scene, tmp_path: Path) -> None:
    path = "a/" * (MOST_PATH // 2)
    assert denied(path, scene, tmp_path) == (
        "the path is longer than any file's", "name the file by a shorter path"
    )  # fmt: skip
    with pytest.raises(Denied, match="longer than any"):
        check_ours(path, str(tmp_path), session_of(scene, tmp_path))


def test_a_tool_writes_the_file_of_its_field_or_those_of_its_patch() -> None:
    assert written(Tool(tools.WRITE, "path"), {"path": "a.py"}) == ["a.py"]
    assert written(Tool(tools.READ, "path"), {"path": "a.py"}) == []
    assert written(Tool(tools.PATCH, "patch"), {"patch": "a.py"}) == []
    assert written(Tool(tools.PATCH, "patch", patched=str.split), {"patch": "a b"}) == ["a", "b"]
    with pytest.raises(Denied) as unread:
        written(Tool(tools.PATCH, "patch", patched=lambda _: None), {"patch": "?"})
    assert unread.value.reason == "the files that this patch changes cannot be read from it"
    assert "*** Begin Patch" in unread.value.instead


def test_a_patch_in_a_shell_command_names_absolute_paths() -> None:
    assert patched_by_shell(Tool(tools.SHELL, "command"), "ls") is None
    assert patched_by_shell(Tool(tools.SHELL, "command", patched=lambda _: None), "ls") is None
    shell = Tool(tools.SHELL, "command", patched=str.split)
    assert patched_by_shell(shell, "/a /b") == ["/a", "/b"]
    with pytest.raises(Denied) as relative:
        patched_by_shell(shell, "/a b")
    assert relative.value.reason == "the patch names a file by a relative path"
    assert relative.value.instead == "name it by its absolute path"
