"""The `.git` file of a worktree: read, followed and repaired without git (PC-2)."""

from __future__ import annotations

import os
import shlex
import subprocess
from typing import TYPE_CHECKING

import pytest

from shared.git.git_file import common_dir, read_git_file, repair_git_file
from state.errors import Refused

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    folder = tmp_path / "run" / "worktree"
    folder.mkdir(parents=True)
    return folder


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (b"gitdir: /a/.git/worktrees/w\n", "/a/.git/worktrees/w"),
        (b"gitdir: /a/b\r\n", "/a/b"),
        (b"gitdir: /a/b", "/a/b"),
        (b"gitdir: /a b\xff\n", os.fsdecode(b"/a b\xff")),
        (b"gitdir:/a\n", None),
        (b"/a\n", None),
        (b"gitdir: /a\0b\n", None),
        (b"", None),
    ],
)
def test_the_folder_that_the_file_names_is_read(
    tree: Path, content: bytes, found: str | None
) -> None:
    (tree / ".git").write_bytes(content)
    assert read_git_file(str(tree)) == found


def test_a_name_is_followed_from_the_worktree(tree: Path) -> None:
    (tree / ".git").write_bytes(b"gitdir: ../admin\n")
    assert read_git_file(str(tree)) == f"{tree.parent}/admin"


def test_what_is_no_file_of_its_own_is_not_read(tree: Path) -> None:
    assert read_git_file(str(tree)) is None
    elsewhere = tree.parent / "elsewhere"
    elsewhere.write_bytes(b"gitdir: /a\n")
    (tree / ".git").symlink_to(elsewhere)
    assert read_git_file(str(tree)) is None
    (tree / ".git").unlink()
    os.mkfifo(tree / ".git")
    assert read_git_file(str(tree)) is None
    (tree / ".git").unlink()
    (tree / ".git").mkdir()
    assert read_git_file(str(tree)) is None


def test_the_folder_that_worktrees_share_is_found(tmp_path: Path) -> None:
    assert common_dir(str(tmp_path)) == str(tmp_path)
    admin = tmp_path / ".git" / "worktrees" / "w"
    admin.mkdir(parents=True)
    (admin / "commondir").write_bytes(b"../..\n")
    assert common_dir(str(admin)) == str(tmp_path / ".git")


@pytest.mark.parametrize("before", ["nothing", "another", "an empty folder", "a link"])
def test_the_file_names_gits_folder_again_whatever_stood_there(tree: Path, before: str) -> None:
    path, admin = tree / ".git", str(tree.parent / "admin")
    if before == "another":
        path.write_bytes(b"gitdir: /somewhere\n")
    elif before == "an empty folder":
        path.mkdir()
    elif before == "a link":
        (tree.parent / "theirs").mkdir()
        (tree.parent / "theirs" / "HEAD").touch()
        path.symlink_to(tree.parent / "theirs")
    repair_git_file(str(tree), admin)
    assert path.read_bytes() == f"gitdir: {admin}\n".encode()
    assert not path.is_symlink()
    assert [p.name for p in tree.iterdir()] == [".git"]
    assert not [p for p in tree.parent.iterdir() if p.name not in ("worktree", "theirs")]


def test_the_right_file_is_left_alone(tree: Path) -> None:
    (tree / ".git").write_bytes(b"gitdir: ../admin\r\n")
    repair_git_file(str(tree), str(tree.parent / "admin"))
    assert (tree / ".git").read_bytes() == b"gitdir: ../admin\r\n"


def test_a_repository_there_is_refused_with_a_command_that_moves_it_away(tree: Path) -> None:
    (tree / ".git").mkdir()
    (tree / ".git" / "HEAD").write_text("theirs")
    (tree.parent / "worktree-git").mkdir()
    with pytest.raises(Refused) as refused:
        repair_git_file(str(tree), "/admin")
    [problem] = refused.value.problems
    assert (problem.kind, problem.at) == ("conflict", str(tree / ".git"))
    assert problem.problem == "a git repository stands where the worktree's .git file belongs"
    assert shlex.split(problem.retry)[-1] == f"{tree}-git-"
    subprocess.run(problem.retry, shell=True, check=True)  # noqa: S602 – as a person does
    assert (tree.parent / "worktree-git-" / "HEAD").read_text() == "theirs"
    repair_git_file(str(tree), "/admin")
