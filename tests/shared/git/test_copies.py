"""Git reads copies of a worktree's files and writes beside it, so no swapped folder misleads it."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

import pytest

from shared.git.copies import lay
from shared.git.repository import head
from shared.git.stage import stage_all
from shared.git.worktree import open_worktree
from state.errors import Refused
from tests.flips import flipping
from tests.shared.git.conftest import NAMES, SECRET

if TYPE_CHECKING:
    from pathlib import Path

    from tests.shared.git.conftest import Project

pytestmark = pytest.mark.requirement("PP-9")

def test_a_capture_reads_nothing_through_a_folder_that_becomes_a_link(
    project: Project, outside: Path
) -> None:
    worktree, base, done = project.begin(), head(project.repo).tree, 0
    tree = open_worktree(project.repo, str(worktree))
    project.write({f"src/{name}": b"new\n" for name in NAMES}, worktree)
    secret = project.git("hash-object", "--stdin", stdin=SECRET)
    real = os.open(worktree / "src", os.O_RDONLY)
    with flipping(worktree / "src", outside) as numbers:
        for number in numbers:
            for name in NAMES:
                with open(os.open(name, os.O_WRONLY, dir_fd=real), "w") as file:
                    file.write(f"{number}\n")
            with contextlib.suppress(Refused):
                stage_all(tree.git, tree.index_file, base, project.repo.zero, ())
                done += 1
            assert not project.repo.git.ok("cat-file", "-e", secret)
    os.close(real)
    assert done


def test_what_git_writes_lands_in_the_worktree_or_nowhere(project: Project, outside: Path) -> None:
    files = {f"src/{name}": f"{name}\n".encode() for name in NAMES}
    project.commit({**files})
    worktree = project.begin()
    git, done = open_worktree(project.repo, str(worktree)).git, 0
    real = os.open(worktree / "src", os.O_RDONLY)
    with flipping(worktree / "src", outside) as numbers:
        for _ in numbers:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(NAMES[0], dir_fd=real)
            with contextlib.suppress(Refused):
                lay(git, [*files])
            # The first file may be there before the folder is a link again.
            done += NAMES[0] in os.listdir(real)
            assert {path.read_bytes() for path in outside.iterdir()} == {SECRET}
    os.close(real)
    assert done
