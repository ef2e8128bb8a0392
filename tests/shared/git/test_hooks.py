"""The user's hooks are told of our index alone, at the capture and at the commit."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from shared.git.commit import commit
from shared.git.hooks import LOCAL, plain_hooks, ran_hooks, wrapped_hooks
from tests.shared.git.conftest import add_hook

if TYPE_CHECKING:
    from pathlib import Path

    from tests.shared.git.conftest import Project

# As git advises, a hook that works in another repository first unsets what is left.
ELSEWHERE = (
    '(unset GIT_INDEX_FILE; cd "$(mktemp -d)" && git init -q && echo x >x && git add x && '
    "git commit -qm x && test -d .git) || exit 9\n"
)
# The rest of a value with line breaks in it has no `=` behind a name like these.
NAMES = "env | sed -n -e 's/^\\(GIT_[A-Z0-9_]*\\)=.*/\\1/p' -e 's/^\\(PLAN[A-Z_]*\\)=.*/\\1/p'\n"
HOOKS = ["pre-commit", "prepare-commit-msg", "commit-msg", "post-commit", "reference-transaction"]


def test_every_variable_that_redirects_git_is_known() -> None:
    done = subprocess.run(
        ["git", "rev-parse", "--local-env-vars"], capture_output=True, text=True, check=True
    )
    assert set(done.stdout.split()) <= {*LOCAL, "GIT_INDEX_FILE"}


@pytest.fixture
def _callers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Give the caller every variable that must not reach a hook."""
    for name in (*LOCAL, "GIT_INDEX_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "nowhere"))
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "a.setting")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "found")
    monkeypatch.setenv("PLANNER_FOLDER", str(tmp_path))
    monkeypatch.setenv("PLAN_AGENT_ROLE", "developer")


def assert_only_the_index(names: set[str]) -> None:
    assert "GIT_INDEX_FILE" in names
    assert not {n for n in names if n.startswith(("PLAN", "GIT_CONFIG_KEY", "GIT_CONFIG_VALUE"))}
    assert not names & {*LOCAL}


@pytest.mark.requirement("PL-33")
def test_at_the_capture_a_hook_gets_the_index_alone(
    project: Project, request: pytest.FixtureRequest
) -> None:
    add_hook(project, "pre-commit", NAMES + ELSEWHERE)
    project.write({"new.py": b"x\n"}, project.begin())
    project.vault  # noqa: B018 – made as the user has it
    request.getfixturevalue("_callers")
    # Which folder below the root git was called in: the root, as it tells the hooks of a commit.
    assert_only_the_index({*project.capture().hook_output.split()} - {"GIT_PREFIX"})


@pytest.mark.requirement("PL-29", "PL-33")
def test_at_the_commit_every_hook_gets_the_index_alone(
    project: Project, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    changes = project.plan({"new.py": b"x\n"})
    for name in HOOKS:
        add_hook(project, name, f"exec >> '{tmp_path}/{name}'\necho ran\n{NAMES}{ELSEWHERE}")
    request.getfixturevalue("_callers")
    done = commit(project.repo, project.vault, changes, "New\n", {})
    assert project.repo.git.text("rev-parse", "main") == done.commit
    for name in HOOKS:
        names = set((tmp_path / name).read_text().split())
        assert "ran" in names
        assert_only_the_index(names | {"GIT_INDEX_FILE"})


@pytest.mark.requirement("PL-33")
def test_a_hook_is_started_with_its_words_inside_the_working_tree_and_its_end_is_kept(
    tmp_path: Path,
) -> None:
    hooks, lent, root = (tmp_path / name for name in ("my hooks", "lent", "up/root"))
    for folder in (hooks, lent, root):
        folder.mkdir(parents=True)
    text = '#!/bin/sh\necho "$GIT_CEILING_DIRECTORIES $GIT_DIR $@"\nexit 3\n'
    (hooks / "update").write_text(text)
    (hooks / "update").chmod(0o755)
    option = wrapped_hooks(str(lent), str(hooks), ["update"], str(root))
    assert option == ("-c", f"core.hooksPath={lent}")
    done = subprocess.run(
        [lent / "update", "a b", "c"], env={**os.environ, "GIT_DIR": "elsewhere"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (3, f"{root.parent}  a b c\n")
    assert ran_hooks(str(lent)) == (("update",), "the hook update")


@pytest.mark.parametrize("chosen", [None, "my hooks", "absolute"])
def test_hooks_are_found_as_git_finds_them(
    project: Project, tmp_path: Path, chosen: str | None
) -> None:
    add_hook(project, "pre-commit", "exit 0\n")
    source = project.root / ".git/hooks"
    if chosen:
        folder = tmp_path / "absolute" if chosen == "absolute" else project.root / chosen
        source.rename(folder)
        source = folder
        project.git("config", "core.hooksPath", str(folder) if chosen == "absolute" else chosen)
    (source / "commit-msg").write_text("#!/bin/sh\nexit 1\n")
    (source / "post-commit.sample").write_text("")
    (source / "post-commit.sample").chmod(0o755)
    lent = tmp_path / "lent"
    lent.mkdir()
    plain_hooks(project.repo.git, str(lent))
    assert os.listdir(lent) == ["pre-commit"]
    assert f"{source}/pre-commit" in (lent / "pre-commit").read_text()
