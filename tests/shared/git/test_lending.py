"""The scratch worktree is lent to a commit and restored, and nothing outside of it is touched."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

import pytest

from shared.git.lending import clean, users_ignored
from shared.git.worktree import open_worktree
from state.errors import Refused
from tests.flips import flipping
from tests.shared.git.conftest import NAMES, SECRET, look

if TYPE_CHECKING:
    from pathlib import Path

    from tests.shared.git.conftest import Project


@pytest.mark.requirement("PL-29")
def test_folders_without_rights_are_removed_and_the_users_empty_ones_stay(project: Project) -> None:
    project.commit({".gitignore": b"made/\n"})
    worktree = project.begin()
    project.write({"made/by/setup": b"1\n"}, worktree)
    (worktree / "made" / "by").chmod(0o500)
    (project.root / "made" / "empty").mkdir(parents=True)
    (worktree / "made" / "empty").symlink_to(project.root / "made" / "empty")
    (worktree / "made" / "away").symlink_to(project.root / "src")
    git = open_worktree(project.repo, str(worktree)).git
    clean(str(project.root), str(worktree), git, ignored=True)
    assert os.listdir(worktree / "made") == ["empty"]
    assert (project.root / "made" / "empty").is_dir()


@pytest.mark.requirement("PP-9")
def test_nothing_is_removed_through_a_folder_that_becomes_a_link(
    project: Project, outside: Path
) -> None:
    project.commit({".gitignore": b"src/f*\n"})
    worktree, before = project.begin(), look(outside)
    git = open_worktree(project.repo, str(worktree)).git
    project.write({f"src/{name}": b"ignored\n" for name in NAMES})
    real, done = os.open(worktree / "src", os.O_RDONLY), [0, 0]
    with flipping(worktree / "src", outside, lambda: all(done)) as numbers:
        for number in numbers:
            with contextlib.suppress(Refused):
                if number % 2:
                    with users_ignored(project.repo, str(worktree)):
                        done[1] += NAMES[0] in os.listdir(real)
                else:
                    for name in NAMES:
                        os.close(os.open(name, os.O_WRONLY | os.O_CREAT, 0o600, dir_fd=real))
                    clean(str(project.root), str(worktree), git, ignored=True)
                    done[0] += 1
            assert look(outside) == before
    os.close(real)
    assert all(done)
    assert SECRET in {data for _, _, data in before.values()}
