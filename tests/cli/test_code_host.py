"""Issues, branches and pull requests: what is asked of gh and glab, and what happens without."""

from __future__ import annotations

import json
import os
import shutil
from typing import TYPE_CHECKING

import pytest

from orchestrator.ci.code_host import find_program
from shared.git.command import Git
from tests.journey import FILES, Journey, call, shell, way_out

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.conftest import Repository

    Repositories = Callable[..., Repository]

ISSUE = {"title": "f adds one", "body": "It should add two.\r\n\r\n</data> see #3"}
# Behaves as the program documents: answers in JSON, says why not on standard error.
SCRIPT = """\
#!/bin/sh
for word; do printf '%s\\n' "$word"; done >>{folder}/argv
while [ $# -gt 0 ]; do
  [ "$1" = --body-file ] && cp "$2" {folder}/body
  [ "$1" = --description ] && printf '%s' "$2" >{folder}/body
  shift
done
[ -e {folder}/logged-out ] && {{ echo 'To get started, run: {name} auth login' >&2; exit 4; }}
cat {folder}/answer
"""


class Program:
    """A small gh or glab, first on PATH, which records its arguments."""

    def __init__(self, folder: Path, name: str) -> None:
        self.folder = folder
        folder.mkdir(exist_ok=True)
        program = folder / name
        program.write_text(SCRIPT.format(folder=folder, name=name))
        program.chmod(0o755)

    def answers(self, text: str) -> None:
        (self.folder / "answer").write_text(text)

    def log_out(self) -> None:
        (self.folder / "logged-out").touch()

    def argv(self) -> list[str]:
        return (self.folder / "argv").read_text().splitlines()


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the only folder on PATH: what a run needs is there, gh and glab are not."""
    folder = tmp_path / "programs"
    folder.mkdir()
    for name in ("git", "sh", "cp", "cat", "python3"):
        (folder / name).symlink_to(shutil.which(name) or name)
    monkeypatch.setenv("PATH", str(folder))
    return folder


def done(make_repo: Repositories, *words: str) -> Journey:
    """Return a run whose plan is committed, by `exec run` with these words."""
    journey = Journey(make_repo(files=FILES)).to("approved")
    assert journey.planner("exec", "run", *words).code == 0
    return journey


@pytest.mark.requirement("HO-8")
@pytest.mark.parametrize(
    ("name", "key", "words"),
    [("gh", "body", ["issue", "view", "12", "--json", "title,body"]),
     ("glab", "description", ["issue", "view", "12", "--output", "json"])],
)  # fmt: skip
def test_a_run_starts_from_the_text_of_an_issue(
    make_repo: Repositories, path: Path, name: str, key: str, words: list[str]
) -> None:
    program = Program(path, name)
    program.answers(json.dumps({"title": ISSUE["title"], key: ISSUE["body"]}))
    repository = make_repo(files=FILES)
    answer = call(repository.path, "start", "--issue", "12", "--depth", "full")
    assert answer.code == 0, answer
    text = "Issue #12: f adds one\n\nIt should add two.\n\n</data> see #3"
    assert answer.data("request") == text
    assert program.argv() == words
    again = call(repository.path, "start", "--issue", "12", "--depth", "full")
    assert again.block.get("state_dir") == answer.block.get("state_dir")


@pytest.mark.requirement("HO-8")
def test_the_remote_decides_which_program_is_asked(make_repo: Repositories, path: Path) -> None:
    both = [Program(path, name) for name in ("gh", "glab")]
    both[1].answers(json.dumps({"title": "x", "description": None}))
    repository = make_repo(files=FILES)
    repository.git("remote", "add", "origin", "git@gitlab.example.com:a/b.git")
    assert call(repository.path, "start", "--issue", "1", "--depth", "full").code == 0
    assert both[1].argv()[-2:] == ["--output", "json"]


@pytest.mark.requirement("HO-8")
@pytest.mark.parametrize(
    ("site", "name"), [("gitlab", "glab"), ("github", "gh"), ("example", "gh"), ("", "gh")]
)
def test_the_program_is_that_of_the_host_and_the_first_for_an_unknown_one(
    repo: Repository, path: Path, site: str, name: str
) -> None:
    for each in ("gh", "glab"):
        Program(path, each)
    if site:
        (repo.path / ".git/config").write_text(f'[remote "a"]\n\turl = https://{site}.com/a/b\n')
    program = find_program(str(repo.path))
    assert program is not None
    assert program.name == name


@pytest.mark.requirement("HO-8")
@pytest.mark.parametrize("state", ["missing", "logged out", "not JSON"])
def test_without_an_answer_the_text_is_to_be_pasted(
    make_repo: Repositories, path: Path, state: str
) -> None:
    if state != "missing":
        program = Program(path, "gh")
        program.answers("no such issue")
        if state == "logged out":
            program.log_out()
    repository = make_repo(files=FILES)
    answer = call(repository.path, "start", "--issue", "12", "--depth", "full")
    assert answer.code == 1
    assert "paste the text of the issue instead" in answer.problems[0][1]
    assert ("gh auth login" in answer.problems[0][1]) == (state != "missing")
    assert ("To get started" in answer.data("output")) == (state == "logged out")
    assert not (repository.path / ".planner").exists()


@pytest.mark.requirement("HO-8")
def test_an_issue_and_a_text_exclude_each_other(make_repo: Repositories) -> None:
    assert call(make_repo().path, "start", "Do it", "--issue", "12").code == 2


@pytest.mark.requirement("HO-8")
def test_a_plan_is_committed_on_a_new_branch_and_the_old_one_stays(
    make_repo: Repositories,
) -> None:
    journey = Journey(make_repo(files=FILES)).to("approved")
    repository = journey.repository
    (repository.path / "mine.txt").write_text("mine\n")
    before = repository.git("rev-parse", "main").strip()
    for _ in range(2):  # also when it is repeated
        answer = journey.planner("exec", "run", "--branch", "add/two")
        assert answer.data("proof"), answer
    assert repository.git("symbolic-ref", "HEAD").strip() == "refs/heads/add/two"
    assert repository.git("rev-parse", "main").strip() == before
    assert repository.git("rev-parse", "add/two^").strip() == before
    assert repository.git("status", "--porcelain").strip() == "?? mine.txt"
    late = journey.planner("exec", "run", "--branch", "other")
    assert "committed already" in late.problems[0][1]


@pytest.mark.requirement("HO-8")
def test_a_branch_that_cannot_be_made_is_refused_and_nothing_is_applied(
    make_repo: Repositories, tmp_path: Path
) -> None:
    journey = Journey(make_repo(files=FILES)).to("approved")
    repository = journey.repository
    repository.git("branch", "elsewhere", repository.commit({"x": "y\n"}))
    repository.git("reset", "--quiet", "--hard", "HEAD^")
    repository.git("worktree", "add", "-b", "open", str(tmp_path / "open"))
    for name, said in (
        ("elsewhere", "has other commits"), ("open", "is checked out in"), ("a..b", "takes no"),
        ("-x", "takes no"), ("", "takes no"),
    ):  # fmt: skip
        answer = journey.planner("exec", "run", f"--branch={name}")
        assert answer.code in (1, 2)
        assert said in answer.problems[0][1], name
    assert "x + 1" in (repository.path / "src/a.py").read_text()
    assert repository.git("symbolic-ref", "HEAD").strip() == "refs/heads/main"


@pytest.mark.requirement("HO-8")
@pytest.mark.parametrize("target", ["main", "gone"])
def test_a_branch_that_is_another_s_name_is_refused_and_neither_is_moved(
    make_repo: Repositories, target: str
) -> None:
    journey = Journey(make_repo(files=FILES)).to("approved")
    repository = journey.repository
    repository.git("symbolic-ref", "refs/heads/alias", f"refs/heads/{target}")
    before = repository.git("for-each-ref", "refs/heads")
    answer = journey.planner("exec", "run", "--branch", "alias")
    assert answer.code == 1
    assert f"is another name of refs/heads/{target}" in answer.problems[0][1]
    assert repository.git("for-each-ref", "refs/heads") == before
    assert repository.git("symbolic-ref", "HEAD").strip() == "refs/heads/main"


@pytest.mark.requirement("HO-8")
def test_an_unapproved_plan_leaves_the_branch_where_it_is(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files=FILES)).to("submitted")
    assert journey.planner("exec", "run", "--branch", "new").code == 1
    assert journey.repository.git("branch", "--list", "new") == ""


@pytest.mark.requirement("HO-8")
def test_a_pull_request_says_what_was_approved_and_proved(
    make_repo: Repositories, path: Path, tmp_path: Path
) -> None:
    journey = done(make_repo, "--branch", "add-two")
    repository, bare = journey.repository, tmp_path / "remote.git"
    Git(str(bare), None, env={}).run("init", "--quiet", "--bare")
    repository.git("remote", "add", "origin", str(bare))
    program = Program(path, "gh")
    program.answers("https://github.example/a/b/pull/7\n")
    first = journey.planner("pr")
    assert not (path / "argv").exists()
    for person in first.block.iter("person"):
        assert shell(person.text or "", repository.path).code == 0
    answer = journey.planner("pr")
    assert answer.data("opened") == "https://github.example/a/b/pull/7"
    argv = program.argv()
    assert argv[:4] == ["pr", "create", "--title", "Add two"]
    assert argv[-2:] == ["--head", "add-two"]
    body = (path / "body").read_text()
    assert body == first.data("body")
    commit, digest = answer.block.get("commit"), journey.planner("status", "--json")
    assert f"Commit {commit} holds exactly what was approved, in 2 files." in body
    assert json.loads(digest.text)["digest"] in body
    assert "DL-001: Change the constant" in body
    assert "| `src/a.py` | `" in body
    assert "Closes #" not in body


@pytest.mark.requirement("HO-8")
def test_a_merge_request_of_gitlab_says_the_same(
    make_repo: Repositories, path: Path, tmp_path: Path
) -> None:
    """gh is there too; the remote's address decides."""
    journey = done(make_repo, "--branch", "add-two")
    repository, bare = journey.repository, tmp_path / "gitlab.git"
    Git(str(bare), None, env={}).run("init", "--quiet", "--bare")
    repository.git("remote", "add", "origin", str(bare))
    program = Program(path, "glab")
    Program(path, "gh").answers("not asked")
    program.answers("https://gitlab.example/a/b/-/merge_requests/7\n")
    repository.git("push", "--quiet", "origin", "add-two")
    answer = journey.planner("pr")
    assert answer.data("opened") == "https://gitlab.example/a/b/-/merge_requests/7"
    body = (path / "body").read_text()
    assert body == journey.planner("pr", "--print").data("body")
    commit = answer.block.get("commit")
    assert f"Commit {commit} holds exactly what was approved, in 2 files." in body
    argv = program.argv()
    assert argv[:5] == ["mr", "create", "--title", "Add two", "--description"]
    assert argv[-3:] == ["--yes", "--source-branch", "add-two"]
    program.log_out()
    refused = journey.planner("pr")
    assert "glab auth login" in refused.problems[0][1]
    assert "run: glab auth login" in refused.data("output")


@pytest.mark.requirement("HO-8")
def test_without_a_program_title_and_text_are_printed(make_repo: Repositories, path: Path) -> None:
    journey = done(make_repo)
    answer = journey.planner("pr")
    assert answer.data("title") == "Add two"
    assert "## Proof" in answer.data("body")
    assert "open it by hand" in (answer.block.findtext("task") or "")
    program = Program(path, "gh")
    assert "## Proof" in journey.planner("pr", "--print").data("body")
    program.log_out()
    refused = journey.planner("pr").problems[0][1]
    assert "gh auth login" in refused
    assert shell(way_out(refused), os.sep).data("title") == "Add two"


@pytest.mark.requirement("HO-8")
def test_a_pull_request_from_an_issue_closes_it(make_repo: Repositories, path: Path) -> None:
    program = Program(path, "gh")
    program.answers(json.dumps(ISSUE))
    journey = Journey(make_repo(files=FILES), "Issue #12: f adds one").to("approved")
    assert journey.planner("exec", "run").code == 0
    assert "\nCloses #12\n" in journey.planner("pr", "--print").data("body")


@pytest.mark.requirement("HO-8")
def test_before_the_commit_there_is_nothing_to_open(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files=FILES)).to("approved")
    assert "has no commit yet" in journey.planner("pr").problems[0][1]


@pytest.mark.requirement("HO-8")
def test_a_commit_that_no_branch_holds_any_more_is_given_one_first(make_repo: Repositories) -> None:
    journey = done(make_repo)
    repository, commit = journey.repository, journey.repository.git("rev-parse", "HEAD").strip()
    repository.git("reset", "--quiet", "--hard", "HEAD^")
    text = journey.planner("pr").problems[0][1]
    assert f"no branch holds the commit {commit[:12]} any more" in text
    assert "git branch NAME COMMIT" in text
    repository.git("branch", "kept", commit)
    assert journey.planner("pr").block.get("branch") == "kept"
