"""What is swapped with a link while we find out where it leads is refused in words (PP-9)."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from shared.git.command import project_environment
from shared.git.filters import confined
from shared.git.git_file import read_git_file, repair_git_file
from shared.git.private import is_in_no_repository
from shared.git.repository import private_around, repository_at
from shared.resources import ROOT
from state.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.shared.git.conftest import Project

pytestmark = pytest.mark.requirement("PP-9")


@pytest.fixture
def swapped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return a worktree that is a link when it is looked at, and a folder when that is read."""
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / ".git").write_text("gitdir: elsewhere\n")
    link = tmp_path / "swapped"
    link.symlink_to("tree")
    read = os.readlink

    def readlink(path: str) -> str:
        if path == str(link):
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL), path)
        return read(path)

    monkeypatch.setattr(os, "readlink", readlink)
    return str(link)


LOOKS: list[Callable[[str], object]] = [
    read_git_file, lambda path: repair_git_file(path, "/x"), project_environment,
    is_in_no_repository, private_around, repository_at,
]  # fmt: skip


@pytest.mark.parametrize("look", LOOKS)
def test_a_folder_that_is_swapped_is_refused(look: Callable[[str], object], swapped: str) -> None:
    with pytest.raises(Refused, match="something else a moment before"):
        look(swapped)


def test_a_worktree_that_is_swapped_while_filters_are_looked_for_is_refused(
    project: Project, swapped: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = Path(swapped).parent / "programs"
    programs.mkdir()
    (programs / "git-lfs").write_text("#!/bin/sh\n")
    (programs / "git-lfs").chmod(0o755)
    monkeypatch.setenv("PATH", str(programs), prepend=os.pathsep)
    project.git("config", "filter.lfs.clean", "git-lfs clean -- %f")
    with pytest.raises(Refused, match="something else a moment before"):
        confined(project.repo.git, swapped, "/nowhere")


def test_no_look_of_git_follows_a_path_that_may_be_swapped_by_itself() -> None:
    files = Path(ROOT, "shared", "git").glob("*.py")
    assert [one.name for one in files if "realpath" in one.read_text(encoding="utf-8")] == []
