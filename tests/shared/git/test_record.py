"""After a power cut git's files of a worktree or of the vault may be empty, zeros or half (R6)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from shared.git.vault import open_vault
from shared.git.worktree import open_worktree
from tests.forms import part

if TYPE_CHECKING:
    from pathlib import Path

    from tests.shared.git.conftest import Project

DAMAGES = {
    "empty": lambda _: b"",
    "zeros": lambda data: bytes(len(data)),
    "half": lambda data: data[: len(data) // 2],
    "gone": None,
}
RECORD = ("HEAD", "commondir", "gitdir", "index", "planner-made-at", "config.worktree")


def damage(path: Path, how: str) -> None:
    spoil = DAMAGES[how]
    if spoil is None:
        path.unlink()
    else:
        path.write_bytes(spoil(path.read_bytes()))


@pytest.mark.requirement("PL-32", "PC-10")
@pytest.mark.parametrize("how", part([*DAMAGES], 2))
def test_a_damaged_file_of_gits_record_is_written_anew_and_the_work_stays(
    project: Project, how: str
) -> None:
    project.begin()
    project.write({"new.txt": b"n\n", "README.md": b"mine\n"}, project.worktree)
    admin = project.root / ".git/worktrees/worktree"
    for name in RECORD:
        if name == "config.worktree":
            project.git("config", "extensions.worktreeConfig", "true")
            (admin / name).write_text("[core]\n\tsparseCheckout = false\n[user]\n")
        damage(admin / name, how)
        tree = open_worktree(project.repo, str(project.worktree))
        assert tree.made_at == tree.head == project.git("rev-parse", "HEAD"), name
        status = project.git("status", "--porcelain", cwd=project.worktree)
        assert status == " M README.md\n?? new.txt", name
    assert [change.file for change in project.capture().changes] == ["README.md", "new.txt"]


@pytest.mark.requirement("PL-32", "PC-10")
@pytest.mark.parametrize("how", part(["zeros", "empty", "half"], 1))
def test_all_files_of_a_record_may_be_damaged_at_once(project: Project, how: str) -> None:
    project.begin()
    project.write({"README.md": b"mine\n"}, project.worktree)
    for name in RECORD[:-1]:
        damage(project.root / ".git/worktrees/worktree" / name, how)
    assert [change.file for change in project.capture().changes] == ["README.md"]


@pytest.mark.requirement("PL-32", "PC-10")
def test_a_damaged_file_of_the_vault_is_written_anew_and_its_objects_stay(
    project: Project,
) -> None:
    project.begin()
    held = project.vault.git.text("hash-object", "-w", "--stdin", stdin=b"only here\n")
    for name in ("HEAD", "config"):
        for how in DAMAGES:
            damage(project.state / "vault.git" / name, how)
            vault = open_vault(project.repo, str(project.state / "vault.git"))
            assert vault.git.run("cat-file", "blob", held) == b"only here\n", (name, how)
