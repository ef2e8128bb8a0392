"""Worlds in which git, a repository or a journal is not as it was left: named, with a way on."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from shared.git.apply import undo
from shared.git.change import FileChange, patch_bytes
from shared.git.few_paths import alike, rebuild
from shared.git.filters import confined
from shared.git.intended import intend
from shared.git.large import BLOB
from shared.git.merge import commit_of
from shared.git.repository import find_repository, head, repository_at
from shared.git.worktree import open_worktree
from state.errors import Problem, Refused
from tests.shared.git.conftest import Project, look

if TYPE_CHECKING:
    from collections.abc import Callable

PLAN: dict[str, bytes | None] = {"src/app.py": b"a = 1\nb = 3\n", "src/new.py": b"c = 1\n"}


def refused(call: Callable[[], object]) -> Problem:
    """Return the only problem with which a call is refused; it says what is allowed."""
    with pytest.raises(Refused) as caught:
        call()
    (problem,) = caught.value.problems
    assert problem.allowed or problem.retry
    return problem


@pytest.fixture
def applied(project: Project) -> Project:
    """Return a project to which the plan is applied."""
    project.apply(project.plan(PLAN))
    return project


def journal_of(project: Project) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Path(project.journal, "journal.json").read_text())
    return found


def write_journal(project: Project, value: object) -> None:
    Path(project.journal, "journal.json").write_text(json.dumps(value))


@pytest.mark.requirement("PL-31")
@pytest.mark.parametrize("damage", ["{", "[]", '{"version": 1}'])
def test_a_damaged_journal_is_named_and_restored_it_serves_again(
    applied: Project, damage: str
) -> None:
    path = Path(applied.journal, "journal.json")
    kept, before = path.read_bytes(), look(applied.root)
    path.write_text(damage)
    problem = refused(lambda: undo(applied.repo, applied.journal))
    assert (problem.kind, problem.at) == ("invalid", str(path))
    assert "old and new content lies in the same folder" in problem.problem
    path.write_bytes(kept)
    undo(applied.repo, applied.journal)
    assert look(applied.root) != before


@pytest.mark.requirement("PL-31")
def test_a_journal_of_a_newer_planner_is_left_to_that(applied: Project) -> None:
    write_journal(applied, {**journal_of(applied), "version": 99})
    problem = refused(lambda: undo(applied.repo, applied.journal))
    assert "version 99" in problem.problem
    assert "use the planner that wrote" in problem.allowed


@pytest.mark.requirement("PL-31")
def test_an_apply_that_lost_a_copy_is_not_finished_with_other_bytes(project: Project) -> None:
    changes = project.plan(PLAN)
    before = look(project.root)
    project.apply(changes)
    undo(project.repo, project.journal)
    assert look(project.root) == before
    found = journal_of(project)
    copies = [row["after"][-1] for row in found["moves"] if row["after"]]
    kept = {copy: Path(project.journal, copy).read_bytes() for copy in copies}
    write_journal(project, {**found, "state": "applying"})
    for copy in copies:
        Path(project.journal, copy).write_bytes(b"damaged")
    problem = refused(lambda: project.apply(changes))
    assert "missing or damaged" in problem.problem
    for copy, data in kept.items():
        Path(project.journal, copy).write_bytes(data)
    assert project.apply(changes).how == "finished"


@pytest.mark.requirement("PL-31")
def test_without_an_apply_there_is_nothing_to_undo(project: Project) -> None:
    problem = refused(lambda: undo(project.repo, project.journal))
    assert (problem.kind, problem.retry) == ("not_found", "planner status")


@pytest.mark.requirement("PL-26")
def test_an_apply_that_is_repeated_names_what_was_changed_since(project: Project) -> None:
    changes = project.plan(PLAN)
    project.apply(changes)
    project.write({"src/app.py": b"edited after\n"})
    with pytest.raises(Refused) as caught:
        project.apply(changes)
    assert [problem.at for problem in caught.value.problems] == ["src/app.py"]
    project.write({"src/app.py": PLAN["src/app.py"]})
    assert project.apply(changes).how == "already"


@pytest.mark.requirement("PL-31")
def test_an_apply_that_was_cut_off_is_not_finished_over_an_edit_made_since(
    project: Project,
) -> None:
    changes = project.plan(PLAN)
    project.apply(changes)
    write_journal(project, {**journal_of(project), "state": "applying"})
    project.write({"src/app.py": b"edited after\n"})
    problem = refused(lambda: project.apply(changes))
    assert (problem.kind, problem.at) == ("refused", "src/app.py")
    assert (project.root / "src/app.py").read_bytes() == b"edited after\n"
    project.write({"src/app.py": PLAN["src/app.py"]})
    assert project.apply(changes).how == "finished"


@pytest.mark.requirement("PL-29")
def test_what_head_holds_already_is_not_committed_again(project: Project) -> None:
    def intended(text: bytes) -> str:
        beside = {"README.md": text}
        return intend(
            project.repo, project.vault, head(project.repo), [], "Say hello\n", beside
        ).tree

    problem = refused(lambda: intended(b"Hello\n"))
    assert (problem.kind, problem.at) == ("refused", "HEAD")
    assert "git show HEAD" in problem.allowed
    assert intended(b"Hello all\n") != project.git("rev-parse", "HEAD^{tree}")


def test_content_that_a_plan_keeps_apart_and_that_is_not_here_is_fetched_first(
    project: Project,
) -> None:
    project.begin()
    blob = project.git("hash-object", "--stdin", stdin=b"large\n")
    change = FileChange("data.bin", None, None, "100644", None, blob, None, BLOB)
    tree = head(project.repo).tree
    problem = refused(lambda: rebuild(project.vault, tree, [change]))
    assert (problem.kind, problem.at) == ("not_found", "data.bin")
    assert "git fetch" in problem.allowed
    project.git("hash-object", "-w", "--stdin", stdin=b"large\n")
    assert rebuild(project.vault, tree, [change]) != tree


def test_a_change_without_its_patch_is_captured_again() -> None:
    change = FileChange("a.py", None, None, "100644", None, "0" * 40, None, None)
    problem = refused(lambda: patch_bytes(change))
    assert (problem.at, problem.retry) == ("a.py", "planner plan capture")


def test_a_repository_whose_path_has_a_line_break_is_refused(tmp_path: Path) -> None:
    project = Project(tmp_path / "re\npo")
    assert "line break" in refused(lambda: find_repository(str(project.root))).problem


@pytest.mark.requirement("PL-32")
def test_a_repository_whose_tree_is_now_elsewhere_is_named(
    project: Project, tmp_path: Path
) -> None:
    project.git("config", "core.worktree", str(tmp_path))
    problem = refused(lambda: repository_at(str(project.root)))
    assert "no longer the root of a git repository" in problem.problem
    project.git("config", "--unset", "core.worktree")
    assert repository_at(str(project.root)).root == str(project.root)


def test_a_folder_that_is_gone_and_a_git_that_is_not_there_are_told_apart(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = str(project.root)
    assert refused(lambda: find_repository(f"{root}/gone")).at == f"{root}/gone"
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    assert "git is not on PATH" in refused(lambda: find_repository(root)).problem
    broken = tmp_path / "empty" / "git"
    broken.parent.mkdir()
    broken.write_bytes(b"\x00not a program")
    broken.chmod(0o755)
    assert "git could not be run" in refused(lambda: find_repository(root)).problem


@pytest.mark.requirement("VR-4")
def test_a_filter_that_no_option_of_git_can_replace_is_refused(project: Project) -> None:
    project.git("config", "filter.a=b.clean", "cat")
    problem = refused(lambda: project.repo.git)
    assert (problem.at, problem.kind) == ("git config filter.a=b.clean", "refused")
    project.git("config", "--rename-section", "filter.a=b", "filter.ab")
    git, root = project.repo.git, str(project.root)
    assert len(confined(git, root, root)) == 1


@pytest.mark.requirement("PL-32")
def test_a_worktree_that_was_never_complete_or_is_none_is_made_again(project: Project) -> None:
    worktree = str(project.begin())
    tree = open_worktree(project.repo, worktree)
    for name in os.listdir(tree.admin):
        if "planner" in name:
            os.unlink(os.path.join(tree.admin, name))
    os.unlink(f"{worktree}.made-at")
    problem = refused(lambda: commit_of(project.repo, worktree))
    assert "never complete" in problem.problem
    shutil.rmtree(tree.admin)
    shutil.rmtree(worktree)
    problem = refused(lambda: open_worktree(project.repo, f"{worktree}-none"))
    assert (problem.kind, problem.retry) == ("not_found", "planner start")
    assert open_worktree(project.repo, str(project.begin())).made_at


@pytest.mark.requirement("PL-10")
def test_a_folder_of_the_base_that_the_repository_has_lost_is_named(project: Project) -> None:
    tree = project.git("rev-parse", "HEAD:src").strip()
    lost = project.root / ".git" / "objects" / tree[:2] / tree[2:]
    kept = lost.read_bytes()
    lost.unlink()
    problem = refused(lambda: alike(project.repo.git, "HEAD", ["src/app.py"]))
    assert (problem.kind, problem.at) == ("not_found", "git")
    assert f"is gone: {tree}" in problem.problem
    assert "fetch the plan's base commit" in problem.allowed
    lost.write_bytes(kept)
    assert alike(project.repo.git, "HEAD", ["src/app.py"]) == {"src", "src/app.py"}


def test_whatever_git_refuses_says_what_is_allowed(project: Project) -> None:
    project.commit({"a.txt": b"a\n"})
    problem = refused(lambda: project.repo.git.run("ls-tree", "nothing"))
    assert "run the same command again" in problem.allowed
