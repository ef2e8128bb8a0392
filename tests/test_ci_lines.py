"""The lines of docs/ci.md: each is taken from there and run in a clone, as a CI server would."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tests import ci_programs
from tests.journey import parsed
from tests.own_repository import make_own_repository
from tests.planned import Planned

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

    Repositories = Callable[..., Repository]

ROOT = Path(__file__).resolve().parent.parent
ADDRESS = "ADDRESS-OF-THIS-REPOSITORY"

pytestmark = pytest.mark.requirement("HO-7")


def block(title: str) -> str:
    """Return the first code block under a title of docs/ci.md."""
    text = (ROOT / "docs" / "ci.md").read_text()
    section = text.partition(f"## {title}\n")[2].partition("\n## ")[0]
    found = re.search(r"```\w+\n(.*?)```", section, re.DOTALL)
    assert found, title
    return found[1]


def accepted(schema: str, text: str, file: Path) -> Any:  # noqa: ANN401 – any YAML
    """Return what YAML says that a schema of check-jsonschema accepts."""
    file.write_text(text)
    words = ("-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}", str(file))
    done = ci_programs.run(*words, cwd=file.parent)
    assert done.returncode == 0, done.stdout + done.stderr
    return yaml.safe_load(text)


class Server:
    """A CI server: the project's bare remote, our own repository, and a new clone per job."""

    def __init__(self, make_repo: Repositories, folder: Path) -> None:
        self.folder = folder
        self.planned = Planned(make_repo)
        self.ours = make_own_repository(folder / "ours")
        self.remote = folder / "remote.git"
        subprocess.run(["git", "init", "-q", "--bare", str(self.remote)], check=True)
        self.push()

    def push(self) -> None:
        refs = ("main", "work", "refs/planner/*:refs/planner/*")
        self.planned.git("push", "-q", "--force", str(self.remote), *refs)

    def run(self, lines: str, name: str) -> tuple[subprocess.CompletedProcess[str], Path]:
        """Run the lines in a new clone of the branch; return what they printed, and the clone."""
        clone = self.folder / name / "project"
        words = ["git", "clone", "-q", "--branch", "work", str(self.remote), str(clone)]
        subprocess.run(words, check=True)
        env = {
            **os.environ, "PLANNER_PYTHON": sys.executable,
            "CI_MERGE_REQUEST_DIFF_BASE_SHA": self.planned.base,
            "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main",
        }  # fmt: skip
        lines = lines.replace(ADDRESS, str(self.ours))
        done = subprocess.run(
            ["sh", "-ec", lines], cwd=clone, env=env, capture_output=True, text=True, check=False,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
        return done, clone


@pytest.mark.slow
def test_the_lines_for_a_shell_and_for_gitlab_judge_a_branch(
    make_repo: Repositories, tmp_path: Path
) -> None:
    server = Server(make_repo, tmp_path)
    shell = block("Any shell")
    script = accepted("gitlab-ci", block("GitLab"), tmp_path / ".gitlab-ci.yml")["planner"][
        "script"
    ]
    assert (len(shell.splitlines()), len(script)) == (3, 3)
    sound, _ = server.run(shell, "shell")
    assert sound.returncode == 0, sound.stdout + sound.stderr
    assert "1 exact" in sound.stdout
    as_tests, clone = server.run("\n".join(script), "gitlab")
    assert as_tests.returncode == 0, as_tests.stderr
    assert parsed((clone / "planner.xml").read_text()).attrib["failures"] == "0"

    server.planned.repository.commit({"b.txt": "b\n"}, "Nobody planned this")
    server.push()
    assert all("--target" in lines for lines in (shell, script[-1]))
    found, _ = server.run(shell, "shell again")
    assert found.returncode == 1
    assert "1 no plan" in found.stdout
    as_tests, clone = server.run("\n".join(script), "gitlab again")
    assert as_tests.returncode == 1
    assert parsed((clone / "planner.xml").read_text()).attrib["failures"] == "1"


def test_the_workflow_uses_the_action_as_it_is(tmp_path: Path) -> None:
    """What the action itself does is shown by tests/test_action.py."""
    workflow = accepted("github-workflows", block("GitHub"), tmp_path / "planner.yml")
    [job] = workflow["jobs"].values()
    checkout, ours = job["steps"]
    assert checkout["with"]["fetch-depth"] == 0
    assert re.fullmatch(r"OWNER/planner@\w+", ours["uses"])
    assert workflow["permissions"]["pull-requests"] == "write"
    inputs = yaml.safe_load((ROOT / "action.yml").read_text())["inputs"]
    named = re.search(r"Its inputs are (.*?)\. ", (ROOT / "docs" / "ci.md").read_text(), re.DOTALL)
    assert named
    assert set(inputs) <= {*re.findall(r"`(\w+)`", named[1])}


@pytest.mark.slow
def test_pre_commit_refuses_a_plan_that_was_edited(repo: Repository, tmp_path: Path) -> None:
    """It clones our repository itself, and runs the hook from there."""
    ours, plan = make_own_repository(tmp_path / "ours"), "planning/plans/a-run.json"
    repo.write(".pre-commit-config.yaml", block("Plan files").replace(ADDRESS, str(ours)))
    repo.write(plan, (ROOT / "examples" / "small.json").read_bytes())
    repo.write("elsewhere.json", "{}")
    repo.git("add", "--all")

    def run() -> subprocess.CompletedProcess[str]:
        return ci_programs.run(
            "-m", "pre_commit", "run", "--all-files", "--color=never", cwd=repo.path,
            PRE_COMMIT_HOME=str(tmp_path / "store"), PLANNER_PYTHON=sys.executable,
        )  # fmt: skip

    sound = run()
    assert sound.returncode == 0, sound.stdout + sound.stderr
    assert "Passed" in sound.stdout
    edited = json.loads((repo.path / plan).read_bytes())
    edited["overview"]["title"] = "Something else"
    repo.write(plan, json.dumps(edited))
    repo.git("add", "--all")
    refused = run()
    assert refused.returncode == 1
    assert plan in refused.stdout
    assert "overview differs" in refused.stdout


def test_the_hooks_have_the_form_that_pre_commit_takes(tmp_path: Path) -> None:
    words = ("-m", "pre_commit", "validate-manifest", str(ROOT / ".pre-commit-hooks.yaml"))
    done = ci_programs.run(*words, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
