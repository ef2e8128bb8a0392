"""Formatters and hooks of a capture run where the project's own environment is (VR-5)."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from developer.verify import at_home
from developer.verify.at_home import AtHome
from shared.config import Config
from shared.git.repository import head
from shared.place.enter import CannotEnter
from state.errors import Refused
from tests.place import need_place
from tests.shared.git.conftest import Project, add_hook

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.requirement("VR-5")
FORMATTER = "#!/bin/sh\nfor f; do sed -i 's/  */ /g' \"$f\"; done\n"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A project whose ignored `tools/` has a formatter, with a change in its worktree."""
    need_place()
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setattr(Project, "at_home", True)
    made = Project(tmp_path / "it's: a project")
    made.commit({".gitignore": b"tools/\n*.log\n", "a.txt": b"a\n", "old.txt": b"old\n"})
    made.write({"tools/fmt": FORMATTER.encode()})
    (made.root / "tools/fmt").chmod(0o755)
    made.write({"a.txt": b"a   b\n", "new.txt": b"n   m\n"}, made.begin())
    return made


def changed(project: Project) -> dict[str, str]:
    """Return the content of each captured file, "gone" for one that is deleted."""
    found = {}
    for change in project.capture().changes:
        path = project.worktree / change.file
        found[change.file] = path.read_text() if path.exists() else "gone"
    return found


def test_a_hook_finds_tools_that_git_ignores_and_what_it_makes_of_the_files_is_captured(
    project: Project,
) -> None:
    add_hook(project, "pre-commit", 'tools/fmt a.txt new.txt\necho seen >> "$TMPDIR/x" > x.log\n')
    assert changed(project) == {"a.txt": "a b\n", "new.txt": "n m\n"}
    assert (project.root / "a.txt").read_text() == "a\n", "the user's file was written"
    assert not [*project.root.rglob("x.log")]
    assert not [*project.state.rglob("scratch-*")]


def test_what_a_hook_adds_removes_and_makes_executable_comes_back(project: Project) -> None:
    deeds = "rm old.txt; mkdir -p sub; ln -s ../a.txt sub/link; echo x > sub/run; chmod +x sub/run"
    add_hook(project, "pre-commit", f"{deeds}; rm new.txt; mkdir new.txt; echo in > new.txt/in\n")
    found = changed(project)
    assert found["old.txt"] == "gone"
    assert found["new.txt/in"] == "in\n"
    assert (project.worktree / "sub/run").stat().st_mode & 0o100
    assert os.readlink(project.worktree / "sub/link") == "../a.txt"
    (project.worktree / "sub/link").unlink()


def test_a_hook_that_stages_what_it_has_changed_as_lint_staged_does_is_followed(
    project: Project,
) -> None:
    body = "git diff --cached --name-only --diff-filter=ACM -z | xargs -0 tools/fmt && git add -u\n"
    add_hook(project, "pre-commit", body)
    assert changed(project) == {"a.txt": "a b\n", "new.txt": "n m\n"}
    assert project.git("diff", "--cached", "--name-only") == ""


def test_a_hook_in_an_ignored_folder_runs_as_husky_puts_it_there(project: Project) -> None:
    project.write({"tools/hooks/pre-commit": b"#!/bin/sh\ntools/fmt new.txt\n"})
    (project.root / "tools/hooks/pre-commit").chmod(0o755)
    project.git("config", "core.hooksPath", "tools/hooks")
    assert changed(project)["new.txt"] == "n m\n"


def test_a_hook_that_the_change_adds_or_removes_is_taken_from_the_change(project: Project) -> None:
    project.git("config", "core.hooksPath", "hooks")
    project.write({"hooks/pre-commit": b"#!/bin/sh\nexit 7\n"}, project.worktree)
    (project.worktree / "hooks/pre-commit").chmod(0o755)
    with pytest.raises(Refused, match="exit code 7"):
        project.capture()
    (project.worktree / "hooks/pre-commit").unlink()
    assert list(changed(project)) == ["a.txt", "new.txt"]


def test_in_a_linked_worktree_a_hook_finds_its_files_and_its_git_too(
    project: Project, tmp_path: Path
) -> None:
    project.git("worktree", "add", "-q", "-b", "other", str(tmp_path / "linked"))
    linked = Project(tmp_path / "linked")
    linked.write({"tools/fmt": FORMATTER.encode(), "a.txt": b"mine\n"})
    (linked.root / "tools/fmt").chmod(0o755)
    add_hook(
        project, "pre-commit", "git diff --cached --name-only | xargs tools/fmt; git add a.txt"
    )
    linked.write({"a.txt": b"a   b\n"}, linked.begin())
    assert changed(linked) == {"a.txt": "a b\n"}
    assert (linked.root / "a.txt").read_text() == "mine\n"


def test_a_hook_that_fails_leaves_the_worktree_and_says_what_limits_it(project: Project) -> None:
    add_hook(project, "pre-commit", "echo wrong >&2; exit 3\n")
    with pytest.raises(Refused) as caught:
        project.capture()
    (problem,) = caught.value.problems
    assert problem.output == "wrong"
    assert "at the repository's own path, without network" in problem.allowed
    assert (project.worktree / "a.txt").read_text() == "a   b\n"


def test_a_hook_that_takes_every_change_away_is_refused_and_the_work_stays(
    project: Project,
) -> None:
    add_hook(project, "pre-commit", "git stash --include-untracked --quiet; echo stashed\n")
    with pytest.raises(Refused) as refused:
        project.capture()
    assert "leave nothing of what was changed" in refused.value.problems[0].problem
    assert "stashed" in refused.value.problems[0].output
    assert (project.worktree / "a.txt").read_text() == "a   b\n"
    assert (project.worktree / "new.txt").read_text() == "n   m\n"
    add_hook(project, "pre-commit", "exit 0\n")
    assert set(changed(project)) == {"a.txt", "new.txt"}


def test_a_formatter_that_nobody_confirmed_does_not_run_where_there_is_no_place(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise CannotEnter("a test wants no place")

    monkeypatch.setattr(at_home, "run", refuse)
    home = project.home(head(project.repo).tree)
    home = AtHome(replace(home.job, config=Config(format=("tools/fmt",))))
    with pytest.raises(Refused, match="no person has confirmed"):
        project.capture(formatters=["tools/fmt"], home=home)


@pytest.mark.skipif(not shutil.which("git-lfs"), reason="git-lfs is not installed")
def test_a_file_of_git_lfs_that_a_hook_changes_is_captured_with_its_content(
    project: Project,
) -> None:
    """In the place what git-lfs stores is lost, so the hook then runs in the worktree."""
    project.git("lfs", "install", "--local")
    attributes = b"*.bin filter=lfs diff=lfs merge=lfs -text\n"
    project.write({".gitattributes": attributes, "x.bin": b"x   y\n"}, project.worktree)
    add_hook(project, "pre-commit", "sed -i 's/  */ /g' x.bin\n")
    assert changed(project)["x.bin"] == "x y\n"
    stored = [path for path in (project.root / ".git/lfs/objects").rglob("*") if path.is_file()]
    assert b"x y\n" in [path.read_bytes() for path in stored]
