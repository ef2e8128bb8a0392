"""What the end-to-end tests share: a project, and what a finished run must have left."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.conftest import Repository
    from tests.journey import Answer

APP = "def answer():\n    return 1\n"
NEW_APP = "def answer():\n    return 2\n"


@pytest.fixture
def project(make_repo: Callable[..., Repository]) -> Repository:
    """Return a repository with one small program in it."""
    return make_repo("project", {"src/app.py": APP, "notes.txt": "a note\n"})


def answer_two(worktree: Path) -> None:
    """Do the developer's work on the sample program."""
    (worktree / "src" / "app.py").write_text(NEW_APP)


def set_hook(repository: Repository, name: str, body: str) -> None:
    """Give the repository a hook."""
    place = repository.path / ".git" / "hooks" / name
    place.parent.mkdir(exist_ok=True)
    place.write_text("#!/bin/sh\n" + body)
    place.chmod(0o755)


def committed(repository: Repository, path: str) -> bytes:
    """Return the bytes that HEAD holds at `path`."""
    return subprocess.run(
        ["git", "cat-file", "blob", f"HEAD:{path}"],
        cwd=repository.path,
        check=True,
        capture_output=True,
    ).stdout


def changed_paths(repository: Repository) -> set[str]:
    """Return what HEAD changed against its parent."""
    names = repository.git("diff-tree", "-r", "-z", "--name-only", "--no-renames", "HEAD^", "HEAD")
    return {*filter(None, names.split("\0"))}


def assert_proved(repository: Repository, block: Answer, *paths: str) -> None:
    """Check that the run ended in a proven commit of exactly `paths`, and a clean tree."""
    assert block.code == 0, block.text
    assert block.block.get("commit") == repository.git("rev-parse", "HEAD"), block.text
    assert changed_paths(repository) == set(paths)
    assert repository.git("status", "--porcelain") == ""
