"""A plan moves to another base: its changes come along, and what they meet is named."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from shared.git import carry
from shared.git.carry import carry_over
from shared.git.links import link
from shared.git.merged import MERGES_TREES
from shared.git.snapshot import snapshot
from shared.git.worktree import remove_worktree
from tests.shared.git.conftest import Project, add_hook

if TYPE_CHECKING:
    from shared.git.change import FileChange

PLAN: dict[str, bytes | None] = {
    "src/app.py": b"a = 1\nb = 3\n",
    "src/new.py": b"c = 1\n",
    "run.sh": None,
}


def _carry(project: Project, old: str, changes: list[FileChange], new: str) -> list[str]:
    where = str(project.worktree)
    return carry_over(project.repo, where, project.vault, old, changes, new)


def _commit(project: Project, files: dict[str, bytes | None]) -> str:
    project.write(files)
    project.git("add", "-A")
    project.git("commit", "-qm", "meanwhile")
    return project.git("rev-parse", "HEAD")


@pytest.mark.requirement("PL-28")
@pytest.mark.parametrize("gone", [False, True])
def test_changes_that_meet_nothing_are_the_same_on_the_new_base(
    project: Project, gone: bool
) -> None:
    changes = project.plan(PLAN)
    old = project.git("rev-parse", "HEAD")
    new = _commit(project, {"README.md": b"later\n", "other.txt": b"o\n"})
    project.write({"stray.txt": b"never captured\n"}, project.worktree)
    if gone:
        remove_worktree(project.repo, str(project.worktree))
    for _ in range(2):  # the second time as after a crash
        assert _carry(project, old, changes, new) == []
        assert project.capture(hook=False).changes == changes
        assert (project.worktree / "README.md").read_bytes() == b"later\n"


@pytest.mark.requirement("PL-28")
@pytest.mark.parametrize("git", [(2, 37), (2, 38)])
def test_a_file_that_both_changed_holds_conflict_markers_and_is_named(
    project: Project, git: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    if git < MERGES_TREES:
        monkeypatch.setattr(carry, "version", lambda: git)
    changes = project.plan(PLAN)
    old = project.git("rev-parse", "HEAD")
    new = _commit(project, {"src/app.py": b"a = 1\nb = 4\n"})
    assert _carry(project, old, changes, new) == ["src/app.py"]
    text = (project.worktree / "src/app.py").read_text()
    assert "<<<<<<<" in text
    assert "the plan" in text.partition(">>>>>>> ")[2]
    captured = [change.file for change in project.capture(hook=False).changes]
    assert captured == ["run.sh", "src/app.py", "src/new.py"]


@pytest.mark.requirement("PL-28", "PP-1")
def test_no_merge_driver_of_the_worktree_runs_and_files_are_merged_as_text(
    project: Project,
) -> None:
    lines = b"".join(b"line %d\n" % number for number in range(20))
    project.commit({".gitattributes": b"*.py merge=ours\n", ".gitignore": b"driver\n"})
    project.commit({"src/app.py": lines})
    project.git("config", "merge.ours.driver", f"sh driver '{project.root}/ran' %A")
    changes = project.plan({"src/app.py": b"planned\n" + lines})
    old = project.git("rev-parse", "HEAD")
    project.write({"driver": b'touch "$1"; echo evil >"$2"\n'}, project.worktree)
    new = _commit(project, {"src/app.py": lines + b"later\n"})
    assert _carry(project, old, changes, new) == []
    assert (project.worktree / "src/app.py").read_bytes() == b"planned\n" + lines + b"later\n"
    assert not (project.root / "ran").exists()


@pytest.mark.requirement("PL-28", "PL-32")
def test_uncommitted_work_is_a_base_too_and_nothing_of_the_users_is_touched(
    project: Project,
) -> None:
    for name in ("pre-commit", "post-checkout", "prepare-commit-msg", "reference-transaction"):
        add_hook(project, name, f"touch '{project.root}/ran'\n")
    changes = project.plan(PLAN)
    old = project.git("rev-parse", "HEAD")
    project.write({"src/app.py": b"a = 0\nb = 2\nmine = 1\n", "mine.txt": b"m\n"})
    refs, index = project.git("for-each-ref"), (project.root / ".git/index").read_bytes()
    made = snapshot(project.repo)
    assert _carry(project, old, changes, made) == ["src/app.py"]
    assert (project.root / ".git/index").read_bytes() == index
    assert project.git("for-each-ref") == refs
    assert not (project.root / "ran").exists()


@pytest.mark.requirement("PL-33")
def test_linked_folders_stay(project: Project) -> None:
    changes = project.plan(PLAN)
    old = project.git("rev-parse", "HEAD")
    new = _commit(project, {"README.md": b"later\n"})
    project.write({"node_modules/x": b"x"})
    link(project.repo, str(project.worktree), ["node_modules"])
    _carry(project, old, changes, new)
    assert (project.worktree / "node_modules").is_symlink()
    assert (project.root / "node_modules/x").exists()
