"""How a requirements lane begins: lanes, folder, git, what was left behind (RL-2 to RL-5)."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.journey import call, shell, way_out
from tests.requirement_rounds import FILES, TIME, Rounds

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

    Repositories = Callable[..., Repository]


def everything(folder: Path) -> dict[str, bytes]:
    """Return every file below a folder but git's and ours."""
    files = (p for p in folder.rglob("*") if p.is_file())
    inside = ((p.relative_to(folder), p.read_bytes()) for p in files)
    return {str(p): data for p, data in inside if p.parts[0] not in (".git", ".planner")}


# Lanes


@pytest.mark.requirement("RL-2")
@pytest.mark.parametrize(
    "lanes",
    [("--planning", "--chat"), ("--planning", "--auto"), ("--autonomous", "--chat"),
     ("--planning", "--autonomous", "--chat")],
)  # fmt: skip
def test_more_than_one_lane_is_wrong_usage(repo: Repository, lanes: tuple[str, ...]) -> None:
    answer = call(repo.path, "start", *lanes, "--codepath", str(repo.path))
    assert answer.code == 2
    [(kind, text)] = answer.problems
    assert kind == "usage"
    assert "exclude each other" in text
    assert not (repo.path / ".planner").exists()


@pytest.mark.requirement("RL-2")
def test_the_two_names_of_the_autonomous_lane_are_one_lane(repo: Repository) -> None:
    answer = call(repo.path, "start", "--auto", "--autonomous", "Do it")
    assert "exclude each other" not in answer.text


@pytest.mark.requirement("RL-2")
def test_a_task_is_ignored_with_a_note(rounds: Rounds) -> None:
    rounds.options = ("--task", "Make f add two")
    rounds.start()
    rounds.follow("yes")
    assert "are ignored with --planning" in rounds.last.data("note")
    assert "Make f add two" not in rounds.last.text


@pytest.mark.requirement("RL-2")
def test_the_folder_is_asked_for_if_none_is_named(repo: Repository) -> None:
    answer = call(repo.path, "start", "--planning")
    assert answer.block.findtext("ask/question") == "Which folder is to be worked in?"
    followed = shell(answer.next("here"), "/")
    assert f"code: {repo.path}" in followed.data("where")


@pytest.mark.requirement("RL-2")
def test_the_home_folder_is_expanded_and_the_resolved_path_is_shown(
    make_repo: Repositories, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_repo("home/code")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home" / "link").symlink_to("code")
    answer = call(tmp_path, "start", "--planning", "--codepath", "~/link")
    assert f"code: {tmp_path / 'home' / 'code'}" in answer.data("where")


@pytest.mark.requirement("RL-2")
def test_a_path_that_does_not_resolve_is_an_error(repo: Repository) -> None:
    answer = call(repo.path, "start", "--planning", "--codepath", "nowhere/at all")
    assert answer.code == 1
    assert answer.problems[0][0] == "not_found"
    assert everything(repo.path) == {"README.md": b"# Sample\n"}


def test_only_the_requirements_lane_works_without_git(repo: Repository) -> None:
    answer = call(repo.path, "start", "--no-git", "Do it")
    assert answer.code == 2
    assert "only the requirements lane" in answer.problems[0][1]


# Folder and repository


@pytest.mark.requirement("RL-3")
def test_the_planning_folder_is_made_with_an_empty_history(rounds: Rounds) -> None:
    rounds.start()
    assert rounds.names() == [".gitattributes", "planner_history.txt"]
    assert rounds.text("planner_history.txt") == ""


@pytest.mark.requirement("RL-3")
def test_a_history_that_is_there_stays(rounds: Rounds) -> None:
    rounds.repository.commit({"planning/planner_history.txt": "2026-01-02 03:04:05 - OURS\n"})
    rounds.start()
    assert rounds.text("planner_history.txt") == "2026-01-02 03:04:05 - OURS\n"


@pytest.mark.requirement("RL-3")
def test_code_in_a_folder_of_the_repository_has_its_own_planning_folder(
    make_repo: Repositories,
) -> None:
    repository = make_repo(files={**FILES, "my app/main.py": "1\n"})
    rounds = Rounds(repository, codepath=repository.path / "my app")
    rounds.to_committed()
    assert not (repository.path / "planning" / "planner_history.txt").exists()
    assert "GIT COMMIT (Add two)" in rounds.text("planner_history.txt")
    assert repository.git("status", "--porcelain") == ""


@pytest.mark.requirement("RL-4")
def test_branch_and_changed_files_are_shown_before_anything_begins(rounds: Rounds) -> None:
    repository = rounds.repository
    repository.git("switch", "--quiet", "-c", "topic")
    repository.write("src/a.py", "changed\n")
    repository.write("loose.txt", "new\n")
    repository.write("staged.txt", "staged\n")
    repository.git("add", "staged.txt")
    repository.write("planning/new_requirements.md", "- f adds two\n")
    answer = rounds.start()
    assert "branch: topic" in answer.data("where")
    assert answer.data("changed files").split() == ["loose.txt", "src/a.py", "staged.txt"]
    assert answer.block.findtext("ask/question") == (
        "Work on the branch topic although these files are changed or new?"
    )
    assert rounds.follow("yes").block.get("name") == "new-requirements"


@pytest.mark.requirement("RL-4")
def test_quitting_at_the_start_leaves_everything_where_it_is(rounds: Rounds) -> None:
    rounds.start()
    before = everything(rounds.repository.path)
    assert rounds.follow("quit").block.tag == "result"
    assert everything(rounds.repository.path) == before
    assert rounds.state == "startup"


@pytest.mark.requirement("RL-4")
def test_without_git_nothing_is_asked_of_it(without_git: Rounds) -> None:
    without_git.repository.git("switch", "--quiet", "--detach")
    without_git.repository.write("loose.txt", "new\n")
    answer = without_git.start()
    assert answer.block.get("name") == "new-requirements"
    assert without_git.names() == ["planner_history.txt"]


@pytest.mark.requirement("RL-4")
def test_a_folder_outside_of_a_repository_is_refused_with_how_to_make_one(tmp_path: Path) -> None:
    answer = call(tmp_path, "start", "--planning", "--codepath", str(tmp_path))
    [(kind, text)] = answer.problems
    assert kind == "not_found"
    assert "--no-git" in text
    retry = way_out(text)
    assert list(tmp_path.iterdir()) == []
    subprocess.run(["sh", "-c", retry], check=True, capture_output=True)
    assert (tmp_path / ".git").is_dir()


def merging(repository: Repository) -> None:
    repository.git("switch", "--quiet", "-c", "other")
    repository.commit({"README.md": "theirs\n"})
    repository.git("switch", "--quiet", "main")
    repository.commit({"README.md": "ours\n"})
    subprocess.run(["git", "merge", "other"], cwd=repository.path, capture_output=True, check=False)


def rebasing(repository: Repository) -> None:
    merging(repository)
    repository.git("merge", "--abort")
    subprocess.run(
        ["git", "rebase", "other"], cwd=repository.path, capture_output=True, check=False
    )


def no_identity(_: Repository) -> None:
    home = Path(os.environ["HOME"])
    (home / ".gitconfig").write_text("[user]\n    useConfigOnly = true\n")


CASES: dict[str, tuple[Callable[[Repository], object], str]] = {
    "detached": (lambda r: r.git("switch", "--quiet", "--detach"), "HEAD is detached"),
    "merge": (merging, "a merge is in progress"),
    "rebase": (rebasing, "rebase"),
    "unborn": (lambda r: r.git("switch", "--quiet", "--orphan", "new"), "no commit yet"),
    "no identity": (no_identity, "no name and address"),
    "planning is a file": (lambda r: r.write("planning", "mine\n"), "is not a folder"),
}


@pytest.mark.requirement("RL-4")
@pytest.mark.parametrize("case", CASES)
def test_a_repository_that_cannot_take_a_commit_is_refused_with_a_way_out(
    rounds: Rounds, case: str
) -> None:
    prepare, said = CASES[case]
    prepare(rounds.repository)
    before = everything(rounds.repository.path)
    answer = rounds.start()
    assert answer.code == 1
    text = "\n".join(text for _, text in answer.problems)
    assert said in text
    assert "allowed: " in text or way_out(text)
    assert everything(rounds.repository.path) == before


@pytest.mark.requirement("RL-4")
def test_a_bare_repository_is_refused(tmp_path: Path) -> None:
    bare = tmp_path / "bare.git"
    subprocess.run(["git", "init", "--quiet", "--bare", str(bare)], check=True)
    before = sorted(bare.iterdir())
    answer = call(tmp_path, "start", "--planning", "--codepath", str(bare))
    assert "bare repository" in answer.problems[0][1]
    assert sorted(bare.iterdir()) == before


# Recovery


@pytest.mark.requirement("RL-5")
def test_what_was_left_behind_is_shown_with_its_time_and_the_todos(rounds: Rounds) -> None:
    rounds.to_plan()
    answer = rounds.start()
    assert answer.block.findtext("task", "").startswith("The last run didn't complete successfully")
    found = answer.data("found").splitlines()
    assert re.fullmatch(rf"current_requirements\.md from {TIME}", found[0])
    assert re.fullmatch(rf"todo\.md from {TIME}", found[1])
    assert "- [ ] plan current_requirements.md" in answer.data("todo.md")
    assert [n.get("on") for n in answer.block.iter("next")] == ["resume", "mark-complete", "quit"]


@pytest.mark.requirement("RL-5", "RL-1", "RL-8")
def test_resuming_goes_on_with_the_same_plan_and_writes_no_second_beginning(
    rounds: Rounds,
) -> None:
    plan = rounds.to_plan().to("design")
    rounds.start()
    rounds.follow("resume")
    assert rounds.state == "implement"
    again = rounds.follow("done")
    assert again.block.get("state_dir") == plan.state_dir
    assert again.block.get("name") == "plan-design-execute"
    history = rounds.history().splitlines()
    assert history[-1] == "TIME   ATTEMPTING RECOVERY"
    assert sum("START IMPLEMENTING" in line for line in history) == 1


@pytest.mark.requirement("RL-5", "RL-8")
def test_resuming_what_was_never_begun_writes_its_beginning(rounds: Rounds) -> None:
    rounds.to_prompt()
    rounds.write("current_requirements.md", "- f adds two\n")
    rounds.start()
    rounds.follow("resume")
    rounds.write_answer("summary.md", "f adds two.\n")
    assert rounds.follow("done").block.get("name") == "context-verify"
    lines = [line for line in rounds.history().splitlines() if line.startswith("TIME")]
    assert lines == [
        "TIME   ATTEMPTING RECOVERY",
        "TIME - GIT HEAD (COMMIT)",
        "TIME - START IMPLEMENTING (current_requirements.md)",
    ]


@pytest.mark.requirement("RL-5", "RL-1")
def test_marking_as_complete_asks_for_no_todo_and_renames_what_exists(rounds: Rounds) -> None:
    rounds.to_prompt()
    rounds.write("current_requirements.md", "- f adds two\n")
    rounds.start()
    rounds.follow("mark-complete")
    assert rounds.state == "complete"
    assert rounds.history() == "TIME   USER SKIPPED RECOVERY\n"
    rounds.write_answer("commit.md", "Record what f should do\n")
    ready = rounds.follow("done")
    assert ready.block.find("ask") is not None, ready.text
    rounds.follow("continue")
    assert rounds.names() == [
        ".gitattributes", "completed_requirements_TIME.md", "planner_history.txt",
    ]  # fmt: skip
    message = rounds.repository.git("log", "-1", "--format=%B")
    assert re.fullmatch(
        r"Record what f should do\n\nRequirements: completed_requirements_\S+\.md\n*", message
    )
    last = rounds.history().splitlines()[-2:]
    assert last[0] == "TIME - COMPLETED REQUIREMENTS (completed_requirements_TIME.md)"
    assert last[1] == "TIME - GIT COMMIT (Record what f should do)"


@pytest.mark.requirement("RL-5", "RL-11")
def test_quitting_a_recovery_changes_nothing(rounds: Rounds) -> None:
    rounds.to_prompt()
    rounds.write("current_requirements.md", "- f adds two\n")
    rounds.start()
    before = everything(rounds.repository.path)
    rounds.follow("quit")
    assert everything(rounds.repository.path) == before
    assert rounds.start().data("found").startswith("current_requirements.md from ")


def test_a_yes_is_no_answer_where_something_was_left_behind(rounds: Rounds) -> None:
    rounds.to_prompt()
    rounds.write("todo.md", "- [ ] something\n")
    rounds.start()
    answer = rounds.run("startup", "--yes")
    assert answer.code == 1
    assert "the user chooses" in answer.problems[0][1]
