"""Files and words of a shape that nobody expects are refused, and nothing is left behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.journey import LAUNCHER

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Repository


def planner(cwd: Path, *words: str | bytes) -> subprocess.CompletedProcess[str]:
    """Run a command as a host does."""
    env = {**os.environ, "PLANNER_PYTHON": sys.executable}
    command = [LAUNCHER, *words]
    return subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, check=False)


@pytest.fixture
def started(repo: Repository) -> Path:
    """Return a repository with a run in it."""
    repo.commit({"a.py": "x = 1\n"}, "first")
    assert planner(repo.path, "start", "change x", "--depth", "full").returncode == 0
    return repo.path


def test_more_fields_must_be_an_object(started: Path, tmp_path: Path) -> None:
    """`--json` with a list names the form it wants."""
    (tmp_path / "fields.json").write_text("[1]")
    answer = planner(started, "plan", "add", "risk", "--json", str(tmp_path / "fields.json"))
    assert (answer.returncode, answer.stderr) == (1, "")
    assert "this is a list, not an object" in answer.stdout


@pytest.mark.parametrize(
    "milestones", ["text", [1], [{"id": [], "depends_on": {}}], [{"id": {}, "depends_on": [[]]}]]
)
def test_an_import_of_a_malformed_plan_is_refused(
    started: Path, tmp_path: Path, milestones: object
) -> None:
    """Whatever stands where milestones belong, the answer is a refusal."""
    plan = {"schema_version": 2, "milestones": milestones}
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    answer = planner(started, "plan", "import", str(tmp_path / "plan.json"))
    assert (answer.returncode, answer.stderr) == (1, "")
    assert answer.stdout.startswith("<error>")


@pytest.mark.parametrize("kind", ["overview", "knowledge"])
def test_overview_and_knowledge_are_listed_by_name(started: Path, kind: str) -> None:
    """They have no id; an edit names them."""
    answer = planner(started, "plan", "list", kind)
    assert answer.returncode == 0
    assert f"{kind}\tv1" in answer.stdout


def test_a_request_that_is_not_text_leaves_nothing_behind(repo: Repository) -> None:
    """Bytes that are not UTF-8 are refused before a folder is made."""
    repo.commit({"a.py": "x = 1\n"}, "first")
    answer = planner(repo.path, "start", b"change \xff")
    assert (answer.returncode, answer.stderr) == (1, "")
    assert not (repo.path / ".planner").exists()


def test_without_git_full_depth_is_refused_at_the_start(tmp_path: Path) -> None:
    """A plan of bytes needs a repository, and the first command says so."""
    answer = planner(tmp_path, "start", "change x", "--depth", "full")
    assert answer.returncode == 1
    assert "git" in answer.stdout
    assert not list(tmp_path.iterdir())
