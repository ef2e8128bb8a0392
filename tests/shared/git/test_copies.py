"""Git reads copies of a worktree's files and writes beside it, so no swapped folder misleads it."""

from __future__ import annotations

import contextlib
import os
import shutil
from typing import TYPE_CHECKING

import pytest

from shared.git.copies import lay, reset, restore
from shared.git.repository import head
from shared.git.stage import stage_all
from shared.git.worktree import open_worktree
from state.errors import Refused
from tests.flips import flipping
from tests.shared.git.conftest import NAMES, SECRET, look

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
    with flipping(worktree / "src", outside, lambda: done) as numbers:
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
    with flipping(worktree / "src", outside, lambda: done) as numbers:
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


def test_a_whole_tree_is_given_to_the_worktree_or_nothing_is_written(
    project: Project, outside: Path
) -> None:
    trees = []
    for new, old in (("one", {}), ("two", {"src/one": None})):
        project.commit({**{f"src/{name}": new.encode() for name in (*NAMES[:5], new)}, **old})
        trees.append(head(project.repo).tree)
    worktree = project.begin()
    git, before = open_worktree(project.repo, str(worktree)).git, look(outside)
    seen: set[bytes] = set()
    real = os.open(worktree / "src", os.O_RDONLY)
    with flipping(worktree / "src", outside, lambda: len(seen) == 2) as numbers:
        for number in numbers:
            with contextlib.suppress(Refused):
                reset(git, trees[number % 2])
                restore(git)
            with (
                contextlib.suppress(FileNotFoundError),
                open(os.open(NAMES[0], os.O_RDONLY, dir_fd=real), "rb") as file,
            ):
                seen.add(file.read())
            assert look(outside) == before
    os.close(real)
    assert seen == {b"one", b"two"}


@pytest.mark.requirement("PL-32")
def test_the_worktree_is_given_another_tree_as_git_would(project: Project, tmp_path: Path) -> None:
    one = project.commit({"a": b"1\n", "dir/x": b"x\n", "w.txt": b"1\n", "kept": b"k\n"})
    shutil.rmtree(project.root / "dir")
    project.write({"a": None, ".gitattributes": b"*.txt eol=crlf\n", "w.txt": b"2\n"})
    project.write({"a/b": b"2\n", "dir": b"a file\n"})
    (project.root / "link").symlink_to("kept")
    (project.root / "run.sh").chmod(0o755)
    two = project.commit()
    fresh = {}
    for commit in (one, two):
        project.git("worktree", "add", "-q", "--detach", str(tmp_path / commit), commit)
        fresh[commit] = look(tmp_path / commit)
    worktree = project.begin(one)
    git = open_worktree(project.repo, str(worktree)).git
    project.write({"kept": None, "w.txt": b"edited\n"}, worktree)
    (worktree / "dir" / "x").unlink()
    (worktree / "dir" / "x" / "empty").mkdir(parents=True)
    for commit in (one, two, one):
        reset(git, commit)
        restore(git)
        assert look(worktree) == fresh[commit]
        assert git.names("diff-files", "-z", "--name-only") == []
