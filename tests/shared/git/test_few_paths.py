"""A few paths of a large tree are read and replaced as git does it with the whole tree."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

import pytest

from shared.builders import problem_text
from shared.git.change import Entry, index_lines
from shared.git.few_paths import alike, index_at, replace_at, tree_at
from shared.git.repository import find_repository
from state.errors import Refused

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Repository

FILES: dict[str, str | bytes] = {
    "a/b/c.txt": "c\n", "a/b/d.txt": "d\n", "a/only/one.txt": "1\n", "g*": "g\n", "gx": "x\n",
    "plain": "p\n", "plain.txt": "t\n", "z/:(top)x": "odd\n", "über/ä\nö": "lines\n",
    "two\nlines/in/one.txt": "1\n",
}  # fmt: skip
# Changed, new in new folders, removed with its folder, a file that becomes a folder, and back.
CASES = {
    "changed": ["a/b/c.txt", "über/ä\nö", "g*", "z/:(top)x"],
    "new": ["new/deep/er/file", "a/b/new"],
    "gone": ["-a/only/one.txt", "-plain"],
    "folder for a file": ["-plain", "plain/inside"],
    "below a folder of two lines": ["two\nlines/in/one.txt", "two\nlines/new/file"],
    "file for a folder": ["-a/only/one.txt", "a/only"],
}


@pytest.mark.requirement("PL-10")
@pytest.mark.parametrize("case", CASES)
def test_a_tree_with_a_few_entries_replaced_is_the_tree_that_a_whole_index_gives(
    repo: Repository, tmp_path: Path, case: str
) -> None:
    repo.commit(FILES)
    git = find_repository(str(repo.path)).git
    blob = git.text("hash-object", "-w", "--stdin", stdin=b"other\n")
    entries = {
        name.removeprefix("-"): None if name.startswith("-") else Entry("100755", blob)
        for name in CASES[case]
    }
    whole = git.on_index(str(tmp_path / "index"))
    whole.run("read-tree", "HEAD")
    lines = index_lines(entries, "0" * 40)
    whole.run("update-index", "--add", "--replace", "-z", "--index-info", stdin=lines)
    assert replace_at(git, "HEAD", entries) == whole.text("write-tree")


@pytest.mark.requirement("PL-26")
def test_what_is_at_below_and_in_place_of_the_folders_of_a_path_is_found(
    repo: Repository,
) -> None:
    repo.commit(FILES)
    git = find_repository(str(repo.path)).git
    asked = ["a/b/c.txt", "a/only", "plain/inside/deep", "g*", "nowhere/x", "z/:(top)x"]
    found = {"a/b/c.txt", "a/only/one.txt", "plain", "g*", "z/:(top)x"}
    assert {*tree_at(git, "HEAD", asked)} == found
    assert {*index_at(git, asked)} == found
    many = [f"none/{number:06}" for number in range(20_000)]
    assert tree_at(git, "HEAD", [*asked, *many]) == tree_at(git, "HEAD", asked)
    assert index_at(git, [*asked, *many]) == index_at(git, asked)


def test_paths_of_a_tree_are_found_in_any_letter_case_and_no_others(repo: Repository) -> None:
    repo.commit(
        {"Src/Über/A.py": "a\n", "src/über/b.py": "b\n", "lib/a.py": "c\n", "SRC.md": "d\n"}
    )
    git = find_repository(str(repo.path)).git
    found = alike(git, "HEAD^{tree}", ["src/ÜBER/a.PY", "src/new.py", "docs/x.md"])
    assert found == {"Src", "Src/Über", "Src/Über/A.py", "src", "src/über"}


def test_a_git_that_could_not_name_the_trees_it_stored_is_refused(
    repo: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.commit(FILES)
    git = find_repository(str(repo.path)).git
    silent = tmp_path / "bin" / "git"
    silent.parent.mkdir()
    system = shutil.which("git")
    asked = f'case " $* " in *" mktree "*) cat >/dev/null ;; *) exec {system} "$@" ;; esac'
    silent.write_text(f"#!/bin/sh\n{asked}\n")
    silent.chmod(0o755)
    monkeypatch.setenv("PATH", f"{silent.parent}:{os.environ['PATH']}")
    with pytest.raises(Refused) as refused:
        replace_at(git, "HEAD", {"new": Entry("100644", git.text("rev-parse", "HEAD:plain"))})
    assert "run the same command again" in problem_text(refused.value.problems[0])
