"""action.yml on a pull request: a bare remote, a new clone, and a `gh` that keeps comments."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tests import ci_programs
from tests.planned import Planned

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

    Repositories = Callable[..., Repository]

ROOT = Path(__file__).resolve().parent.parent
ACTION = ROOT / "action.yml"
BOT = "github-actions[bot]"

pytestmark = pytest.mark.requirement("HO-7")

# Keeps comments as the server does, and applies --jq with the real jq.
GH = """\
#!{python}
import json, os, subprocess, sys
home = os.environ["GH_HOME"]
words = sys.argv[1:]
with open(home + "/calls", "a") as calls:
    calls.write(json.dumps(words) + "\\n")
if os.environ.get("GH_FAILS"):
    sys.exit("HTTP 403: Resource not accessible by integration")
with open(home + "/comments.json") as file:
    comments = json.load(file)
assert words.pop(0) == "api"
named = {{"--method": "GET", "--jq": "", "--field": ""}}
paths = []
while words:
    word = words.pop(0)
    if word in named:
        named[word] = words.pop(0)
    elif word not in ("--paginate", "--silent"):
        paths.append(word)
[path] = paths
if named["--field"]:
    name, _, file = named["--field"].partition("=@")
    with open(file) as text:
        body = text.read()
if named["--method"] == "GET":
    assert path == "repos/ann/sample/issues/7/comments"
    jq = subprocess.run(["jq", "-r", named["--jq"]], input=json.dumps(comments), text=True,
                        capture_output=True, check=True)
    print(jq.stdout, end="")
elif named["--method"] == "POST":
    assert path == "repos/ann/sample/issues/7/comments"
    user = {{"login": os.environ["AUTHOR"]}}
    comments.append({{"id": len(comments) + 1, "user": user, "body": body}})
else:
    number = int(path.removeprefix("repos/ann/sample/issues/comments/"))
    [found] = [one for one in comments if one["id"] == number]
    found["body"] = body
with open(home + "/comments.json", "w") as file:
    json.dump(comments, file)
"""


class PullRequest:
    """A branch with a planned commit on a bare remote, and the clone that CI makes of it."""

    def __init__(self, make_repo: Repositories, folder: Path) -> None:
        if shutil.which("jq") is None:
            pytest.skip("jq is not installed, and gh's own --jq is played with it")
        self.folder = folder
        self.planned = Planned(make_repo)
        self.remote = self.bare("remote.git")
        self.push("main", "work", "refs/planner/*:refs/planner/*")
        self.comments: list[dict[str, Any]] = []
        (folder / "bin").mkdir()
        (folder / "bin" / "gh").write_text(GH.format(python=sys.executable))
        (folder / "bin" / "gh").chmod(0o755)
        self.keep([])

    def bare(self, name: str) -> Path:
        subprocess.run(["git", "init", "-q", "--bare", self.folder / name], check=True)
        return self.folder / name

    def push(self, *refs: str, to: Path | None = None) -> None:
        self.planned.git("push", "-q", "--force", str(to or self.remote), *refs)

    def keep(self, comments: list[dict[str, Any]]) -> None:
        (self.folder / "comments.json").write_text(json.dumps(comments))

    def kept(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = json.loads((self.folder / "comments.json").read_text())
        return found

    def run(self, fork: Path | None = None, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run the step of action.yml as a runner does, in a new clone with the whole history."""
        clone = self.folder / "clone"
        shutil.rmtree(clone, ignore_errors=True)
        source = fork or self.remote
        words = ["git", "clone", "-q", "--branch", "work", str(source), str(clone)]
        subprocess.run(words, check=True)
        subprocess.run(
            ["git", "remote", "set-url", "origin", str(self.remote)], cwd=clone, check=True
        )
        values = {
            "github.event.pull_request.base.sha": self.planned.base,
            "github.event.pull_request.head.sha": self.planned.git("rev-parse", "work"),
            "github.event.pull_request.base.ref": "main",
            "github.event.pull_request.number": "7",
            "github.event.pull_request.head.repo.fork && "
            "github.event.pull_request.head.repo.clone_url || ''": str(fork or ""),
            "github.token": "a-token",
        }
        action = yaml.safe_load(ACTION.read_text())
        for name, given in action["inputs"].items():
            default = given["default"]
            values[f"inputs.{name}"] = values.get(default.strip("${} "), default)
        [step] = action["runs"]["steps"]
        env = {name: values[value.strip("${} ")] for name, value in step["env"].items()}
        every = {
            **os.environ, **env, "GH_HOME": str(self.folder), "GITHUB_ACTION_PATH": str(ROOT),
            "PATH": f"{self.folder / 'bin'}{os.pathsep}{os.environ['PATH']}",
            "GITHUB_REPOSITORY": "ann/sample", "GITHUB_STEP_SUMMARY": str(self.folder / "summary"),
            "PLANNER_PYTHON": sys.executable, **variables,
        }  # fmt: skip
        return subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
            cwd=clone, env=every, capture_output=True, text=True, check=False,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip


@pytest.fixture
def pull_request(make_repo: Repositories, tmp_path: Path) -> PullRequest:
    return PullRequest(make_repo, tmp_path)


def test_the_action_has_the_form_that_github_takes() -> None:
    words = ("-m", "check_jsonschema", "--builtin-schema", "vendor.github-actions", str(ACTION))
    done = ci_programs.run(*words, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_pull_request_gets_one_comment_which_the_next_run_changes(
    pull_request: PullRequest,
) -> None:
    marked = "<!-- planner: what was approved -->\nsomebody else's copy"
    pull_request.keep([{"id": 1, "user": {"login": "eve"}, "body": marked}])
    done = pull_request.run()
    assert done.returncode == 0, done.stdout + done.stderr
    theirs, ours = pull_request.kept()
    assert theirs["body"] == marked
    assert ours["body"].startswith("<!-- planner: what was approved -->\n**Planner: 0 of 1 commits")
    assert "1 say that they were approved" in ours["body"]
    assert f"`Add two` `{pull_request.planned.digest[:12]}` | exact |" in ours["body"]
    summary = (pull_request.folder / "summary").read_text()
    assert summary == ours["body"]

    planned = pull_request.planned
    planned.repository.write("src/a.py", "def f(x):\n    return x + 3\n")
    planned.git("commit", "-q", "--all", "--amend", "--no-edit")
    pull_request.push("work")
    again = pull_request.run()
    assert again.returncode == 1
    assert "::error file=src/a.py,title=planner%3A edited afterwards::" in again.stdout
    _, changed = pull_request.kept()
    assert changed["id"] == ours["id"]
    assert "edited afterwards" in changed["body"]
    calls = [json.loads(line) for line in (pull_request.folder / "calls").read_text().splitlines()]
    assert [words[words.index("--method") + 1] for words in calls if "--method" in words] == [
        "POST",
        "PATCH",
    ]


def test_plans_that_nobody_pushed_are_named_with_the_command_that_fetches_them(
    pull_request: PullRequest,
) -> None:
    pull_request.push(f":refs/planner/{pull_request.planned.digest}")
    done = pull_request.run()
    assert done.returncode == 1
    [ours] = pull_request.kept()
    assert "plan not here" in ours["body"]
    assert "git fetch origin 'refs/planner/*:refs/planner-fetched/*'" in ours["body"]


def test_plans_of_a_fork_are_fetched_from_there(pull_request: PullRequest) -> None:
    fork = pull_request.bare("fork.git")
    pull_request.push("work", "refs/planner/*:refs/planner/*", to=fork)
    pull_request.push(f":refs/planner/{pull_request.planned.digest}", ":work")
    done = pull_request.run(fork)
    assert done.returncode == 0, done.stdout + done.stderr
    [ours] = pull_request.kept()
    assert "| exact |" in ours["body"]


def test_a_token_that_may_not_comment_changes_no_verdict(pull_request: PullRequest) -> None:
    done = pull_request.run(GH_FAILS="1")
    assert done.returncode == 0, done.stderr
    assert "::warning title=planner::no comment was written" in done.stdout
    assert "1 say that they were" in (pull_request.folder / "summary").read_text()


def test_without_a_comment_gh_is_not_called_and_nothing_is_required_by_an_empty_word(
    pull_request: PullRequest,
) -> None:
    pull_request.planned.repository.commit({"b.txt": "b\n"}, "Unplanned")
    pull_request.push("work")
    done = pull_request.run(COMMENT="false", REQUIRE="")
    assert done.returncode == 0, done.stderr
    assert "::notice file=b.txt,title=planner%3A no plan::" in done.stdout
    assert not (pull_request.folder / "calls").exists()
