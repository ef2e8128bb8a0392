"""What a worktree holds beside the plan is removed in it alone when it moves to another base."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

import pytest

from shared.git.carry import clean
from shared.git.worktree import open_worktree
from state.errors import Refused
from tests.flips import flipping
from tests.shared.git.conftest import NAMES, SECRET, look

if TYPE_CHECKING:
    from pathlib import Path

    from tests.shared.git.conftest import Project


@pytest.mark.requirement("PP-9")
def test_nothing_is_removed_through_a_folder_that_becomes_a_link(
    project: Project, outside: Path
) -> None:
    worktree, before = project.begin(), look(outside)
    git = open_worktree(project.repo, str(worktree)).git
    real, done = os.open(worktree / "src", os.O_RDONLY), [0]
    with flipping(worktree / "src", outside, lambda: all(done)) as numbers:
        for _ in numbers:
            with contextlib.suppress(Refused):
                for name in NAMES:
                    os.close(os.open(name, os.O_WRONLY | os.O_CREAT, 0o600, dir_fd=real))
                clean(str(project.root), git)
                done[0] += NAMES[0] not in os.listdir(real)
            assert look(outside) == before
    os.close(real)
    assert SECRET in {data for _, _, data in before.values()}
