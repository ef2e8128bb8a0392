"""Completed requirements are renamed, staged, shown and committed with their plan (RL-9)."""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING

import pytest

from orchestrator.requirements_lane.temporary import is_temporary
from tests.journey import call, way_out, words_of
from tests.requirement_rounds import MESSAGE, Rounds

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository
    from tests.journey import Answer

HOOK = "#!/bin/sh\necho 'the hook says no' >&2\nexit 1\n"


def left_behind(rounds: Rounds, message: str = MESSAGE) -> Answer:
    """Complete requirements that no plan was made for, up to the user's yes: quick to reach."""
    rounds.to_prompt()
    rounds.write("current_requirements.md", "- f adds two\n")
    rounds.write("todo.md", "- [x] done\n")
    rounds.start()
    rounds.follow("mark-complete")
    rounds.write_answer("commit.md", message)
    return rounds.follow("done")


def hook(rounds: Rounds, text: str, name: str = "pre-commit") -> None:
    rounds.repository.write(f".git/hooks/{name}", text).chmod(0o755)


def commits(rounds: Rounds) -> int:
    return int(rounds.repository.git("rev-list", "--count", "HEAD"))


def staged(rounds: Rounds) -> list[str]:
    return rounds.repository.git("diff", "--cached", "--name-only").splitlines()


MESSAGES = {
    "a summary of 73 characters": ("x" * 73, "the line has 73 characters"),
    "a line of 73 characters": (f"Add\n\n{'y' * 73}", "the line has 73 characters"),
    "eight lines beside two trailers": (
        "Add\n\n" + "\n".join("12345678"), "the description has 8 lines · allowed: at most 7",
    ),
    "no empty line": ("Add\nmore", "the second line is not empty"),
    "nothing": ("\n", "the message is empty"),
    "a trailer of ours": ("Add\n\nPlan-Digest: 0", "a trailer that is added for you"),
    "an escape sequence": ("Add\x1b[2J", "an invisible character"),
}  # fmt: skip


@pytest.mark.requirement("RL-9")
@pytest.mark.parametrize("case", MESSAGES)
def test_a_message_beyond_its_limits_is_refused_with_what_to_shorten(
    rounds: Rounds, case: str
) -> None:
    text, said = MESSAGES[case]
    answer = left_behind(rounds, text)
    assert answer.code == 1
    assert any(said in text for _, text in answer.problems)
    assert rounds.path("current_requirements.md").exists()
    assert rounds.state == "complete"
    assert staged(rounds) == []


@pytest.mark.requirement("RL-9")
def test_a_message_at_its_limits_is_taken_with_its_trailers_within_ten_lines(
    rounds: Rounds,
) -> None:
    body = "\n".join("z" * 72 for _ in range(7))
    shown = left_behind(rounds, f"{'x' * 72}\n\n{body}\n").data("message")
    subject, gap, *description = shown.removesuffix("\n").split("\n")
    assert (subject, gap, len(description)) == ("x" * 72, "", 10)
    assert description[-2].startswith("Requirements: completed_requirements_")
    assert description[-1].startswith("Todo: completed_todo_")
    assert max(map(len, description)) <= 72


@pytest.mark.requirement("RL-9")
def test_both_files_get_one_time_that_is_free(rounds: Rounds) -> None:
    left_behind(rounds)
    times = {n.split("_", 2)[2] for n in os.listdir(rounds.path("")) if n.startswith("completed_")}
    assert len(times) == 1


@pytest.mark.requirement("RL-9", "RL-1")
def test_todos_that_are_not_done_are_the_users_to_judge(rounds: Rounds) -> None:
    rounds.to_plan()
    rounds.write_answer("commit.md", MESSAGE)
    asked = rounds.run("complete", "--message", "answers/commit.md")
    assert asked.data("not done") == "plan current_requirements.md"
    assert rounds.path("current_requirements.md").exists()
    assert rounds.state == "complete"
    again = rounds.follow("no")
    assert again.block.get("name") == "context-verify"
    assert rounds.state == "implement"
    asked = rounds.run("complete", "--message", "answers/commit.md")
    refused = rounds.follow("yes")
    assert "still under way" in refused.problems[0][1]
    assert rounds.call(*words_of(way_out(refused.problems[0][1]))).code == 0
    rounds.last = asked
    ready = rounds.follow("yes")
    assert ready.data("message").startswith("Add two in f\n")
    assert "Plan-Digest" not in ready.data("message")
    assert not rounds.path("current_requirements.md").exists()


@pytest.mark.requirement("RL-9")
def test_plan_and_planning_folder_are_staged_and_what_else_changed_is_named(
    rounds: Rounds,
) -> None:
    rounds.repository.write("mine.txt", "mine\n")
    rounds.repository.write("debug.log", "noise\n")
    rounds.repository.write("node_modules/x/index.js", "noise\n")
    rounds.repository.write("__pycache__/a.pyc", "ignored\n")
    rounds.to_accepted()
    rounds.write_answer("summary.md", "f adds two.\n")
    asked = rounds.follow("yes")
    begun = call(rounds.repository.path, *words_of(asked.next("head")))
    rounds.last = rounds.begin_plan(begun).to("applied").last
    ready = rounds.follow("done")
    assert ready.data("changed, not staged") == "mine.txt"
    assert ready.data("left out as temporary").split() == ["debug.log", "node_modules/x/index.js"]
    assert {"src/a.py", "tests/test_a.py", "planning/planner_history.txt"} <= {*staged(rounds)}
    assert not {"mine.txt", "debug.log"} & {*staged(rounds)}
    assert ready.data("left out, ignored by git") == "__pycache__/"
    rounds.follow("continue")
    assert rounds.repository.git("status", "--porcelain").split() == [
        "??", "debug.log", "??", "mine.txt", "??", "node_modules/",
    ]  # fmt: skip


@pytest.mark.requirement("RL-9")
def test_a_planning_folder_that_git_ignores_stays_out_of_the_commit_and_is_named(
    rounds: Rounds,
) -> None:
    rounds.repository.commit({".gitignore": "planning/\n"})
    rounds.to_accepted()
    rounds.write_answer("summary.md", "f adds two.\n")
    rounds.last = rounds.begin_plan(rounds.follow("yes")).to("applied").last
    ready = rounds.follow("done")
    assert {*staged(rounds)} == {"src/a.py", "tests/test_a.py"}
    assert "planning/" in ready.data("left out, ignored by git").split()
    rounds.follow("continue")
    assert rounds.repository.git("status", "--porcelain") == ""
    assert "GIT COMMIT (Add two)" in rounds.text("planner_history.txt")


@pytest.mark.requirement("RL-9")
def test_other_files_are_committed_on_the_users_yes_alone_and_named(rounds: Rounds) -> None:
    rounds.repository.write("mine.txt", "mine\n")
    rounds.repository.write("run.sh", "#!/bin/sh\n").chmod(0o755)
    rounds.repository.write("out.log", "kept on purpose\n")
    (rounds.repository.path / "README.md").unlink()
    left_behind(rounds)
    rounds.follow("with others")
    ready = rounds.run("complete", "--with", "out.log")
    assert ready.data("changed, not staged") == ""
    assert "README.md (removed)" in ready.data("staged")
    rounds.follow("continue")
    tree = rounds.repository.git("ls-tree", "-r", "HEAD")
    assert "100755 blob" in next(row for row in tree.splitlines() if row.endswith("run.sh"))
    assert "mine.txt" in tree
    assert "README.md" not in tree
    todo = next(rounds.path("").glob("completed_todo_*")).read_text()
    listed = todo.partition("as the user agreed\n\n")[2].split("\n")
    assert listed == ["- README.md", "- mine.txt", "- out.log", "- run.sh", ""]
    assert rounds.repository.git("status", "--porcelain") == ""


def test_a_file_that_was_not_shown_is_not_added(rounds: Rounds) -> None:
    left_behind(rounds)
    answer = rounds.run("complete", "--with", "README.md")
    assert answer.problems[0][0] == "not_found"


@pytest.mark.requirement("RL-9")
@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("target/debug/app", True), ("a/node_modules/b.js", True), ("__pycache__/x.py", True),
        (".venv/bin/python", True), ("a.log", True), ("b/a.tmp", True), ("a.bak", True),
        (".DS_Store", True), ("x/Thumbs.db", True), ("a.pyc", True), ("tmp/a", True),
        ("a/temp/b", True), ("src/a.py", False), ("templates/a.html", False),
        ("log.txt", False), ("targets/a", False), ("docs/tmp.md", False),
    ],
)  # fmt: skip
def test_which_files_count_as_temporary(path: str, *, expected: bool) -> None:
    assert is_temporary(path) == expected


@pytest.mark.requirement("RL-9", "RL-11")
def test_quitting_leaves_a_commit_that_the_next_start_offers(rounds: Rounds) -> None:
    left_behind(rounds)
    waiting = staged(rounds)
    history = rounds.history()
    rounds.follow("quit")
    assert (staged(rounds), rounds.history(), commits(rounds)) == (waiting, history, 1)
    offered = rounds.start()
    assert offered.block.findtext("ask/question") == "Make the commit that was left open?"
    assert offered.data("message").startswith("Add two in f\n")
    rounds.follow("commit")
    assert commits(rounds) == 2
    assert rounds.state == "new-requirements"
    assert "GIT COMMIT (Add two in f)" in rounds.history()


@pytest.mark.requirement("RL-9")
def test_an_offered_commit_may_be_left_to_the_user(rounds: Rounds) -> None:
    left_behind(rounds)
    rounds.start()
    rounds.follow("leave")
    assert rounds.state == "new-requirements"
    assert commits(rounds) == 1
    assert "COMPLETED REQUIREMENTS" in rounds.history()
    assert "GIT COMMIT" not in rounds.history()
    assert staged(rounds)


@pytest.mark.requirement("RL-9")
@pytest.mark.parametrize("when", ["edited", "unstaged", "restored"])
def test_what_changes_between_staging_and_commit_is_named_and_staged_anew(
    rounds: Rounds, when: str
) -> None:
    left_behind(rounds)
    history = rounds.history()
    name = next(n for n in staged(rounds) if "requirements" in n)
    if when == "edited":
        rounds.repository.write(name, "edited\n")
    elif when == "unstaged":
        rounds.repository.git("reset", "--quiet", "--", name)
    else:
        rounds.repository.write("planning/new.md", "")  # a new file is no change of a staged one
    answer = rounds.run("commit")
    if when == "restored":
        assert answer.code == 0
        return
    assert answer.problems[0][0] == "conflict"
    assert answer.block[0].get("at") == name
    assert commits(rounds) == 1
    assert rounds.history() == history
    retry = way_out(answer.problems[0][1])
    rounds.last = call(rounds.repository.path, *words_of(retry))
    rounds.follow("continue")
    assert commits(rounds) == 2


@pytest.mark.requirement("RL-9", "RL-11")
def test_a_hook_that_fails_is_shown_and_leaves_the_commit_open_as_it_was(rounds: Rounds) -> None:
    left_behind(rounds)
    before = (rounds.text("planner_history.txt"), staged(rounds))
    hook(rounds, HOOK)
    answer = rounds.run("commit")
    assert answer.code == 1
    assert "the hook says no" in answer.data("output")
    assert (rounds.text("planner_history.txt"), staged(rounds), commits(rounds)) == (*before, 1)
    assert rounds.repository.git("diff", "--name-only") == ""
    (rounds.repository.path / ".git/hooks/pre-commit").unlink()
    assert call(rounds.repository.path, *words_of(retry_of(answer))).code == 0
    assert rounds.history().count("COMPLETED REQUIREMENTS") == 1
    assert commits(rounds) == 2


@pytest.mark.requirement("RL-9")
def test_a_hook_that_fails_the_commit_of_a_plan_loses_nothing(rounds: Rounds) -> None:
    rounds.to_ready()
    hook(rounds, HOOK, "commit-msg")
    before = rounds.text("planner_history.txt")
    answer = rounds.run("commit")
    assert "the hook says no" in answer.data("output")
    assert rounds.plan is not None
    # Of the run that was applied, not of the requirements that the command names.
    assert words_of(retry_of(answer)) == ["undo", "--state-dir", rounds.plan.state_dir]
    assert rounds.text("planner_history.txt") == before
    (rounds.repository.path / ".git/hooks/commit-msg").unlink()
    assert rounds.run("commit").code == 0
    assert rounds.repository.git("status", "--porcelain") == ""


@pytest.mark.requirement("RL-9")
def test_without_an_identity_nothing_is_committed_or_lost(rounds: Rounds) -> None:
    left_behind(rounds)
    with open(f"{os.environ['HOME']}/.gitconfig", "w", encoding="utf-8") as file:
        file.write("[user]\n    useConfigOnly = true\n")
    before = rounds.text("planner_history.txt")
    assert "no name and address" in rounds.run("commit").problems[0][1]
    assert rounds.text("planner_history.txt") == before
    assert rounds.state == "complete"


@pytest.mark.requirement("RL-9")
def test_the_plans_run_is_committed_with_its_requirements_alone(rounds: Rounds) -> None:
    rounds.to_applied()
    assert rounds.plan is not None
    answer = rounds.plan.planner("exec", "commit")
    assert "committed together with them" in answer.problems[0][1]
    assert commits(rounds) == 1


@pytest.mark.requirement("RL-9")
def test_the_proof_names_what_is_beside_the_plan_and_compares_the_rest(rounds: Rounds) -> None:
    note = rounds.to_committed().data("note")
    commit = rounds.repository.git("rev-parse", "HEAD")
    assert f"The last round is commit {commit}." in note
    assert "2 files exactly as the plan" in note
    assert "planning/planner_history.txt" in note
    assert rounds.plan is not None
    status = json.loads(rounds.plan.planner("status", "--json").text)
    assert (status["status"], status["commit"]) == ("COMPLETED", commit)


@pytest.mark.requirement("RL-9")
def test_a_planned_file_that_changed_after_the_apply_is_found_before_the_user_is_asked(
    rounds: Rounds,
) -> None:
    rounds.to_applied()
    rounds.repository.write("src/a.py", "not what was approved\n")
    answer = rounds.follow("done")
    assert answer.block[0].get("at") == "src/a.py"
    assert rounds.path("current_requirements.md").exists()
    assert staged(rounds) == []


@pytest.mark.requirement("RL-9")
def test_the_users_own_staged_work_stays_staged_and_out_of_the_commit(rounds: Rounds) -> None:
    rounds.repository.write("mine.txt", "mine\n")
    rounds.repository.git("add", "mine.txt")
    left_behind(rounds)
    rounds.follow("continue")
    assert staged(rounds) == ["mine.txt"]


@pytest.mark.requirement("RL-2", "RL-1")
def test_without_git_completing_renames_and_commits_nothing(without_git: Rounds) -> None:
    rounds = without_git
    rounds.to_applied()
    rounds.follow("done")
    assert rounds.state == "new-requirements"
    assert commits(rounds) == 1
    assert staged(rounds) == []
    assert [n for n in rounds.names() if "TIME" in n] == [
        "completed_requirements_TIME.md", "completed_todo_TIME.md",
    ]  # fmt: skip
    assert "GIT" not in rounds.history()
    assert rounds.history().splitlines()[-1] == (
        "TIME - COMPLETED REQUIREMENTS (completed_requirements_TIME.md,  completed_todo_TIME.md)"
    )
    assert "return x + 2" in (rounds.repository.path / "src/a.py").read_text()
    assert rounds.plan is not None
    assert json.loads(rounds.plan.planner("status", "--json").text)["status"] == "COMPLETED"
    told = rounds.plan.planner("events").data("events")
    assert told.count("ended COMPLETED: 1 of 1 milestones") == told.count("ended") == 1
    assert rounds.plan.planner("undo").code == 0
    assert "return x + 1" in (rounds.repository.path / "src/a.py").read_text()


@pytest.mark.requirement("RL-2", "RL-1")
def test_without_git_a_round_outside_of_a_repository_can_be_closed(
    make_repo: Callable[..., Repository],
) -> None:
    repository = make_repo()
    (repository.path / ".git").rename(repository.path / "no-git")
    rounds = Rounds(repository, "--no-git")
    rounds.to_prompt()
    rounds.write("current_requirements.md", "- f adds two\n")
    rounds.start()
    rounds.follow("mark-complete")
    rounds.follow("done")
    assert rounds.state == "new-requirements"
    assert rounds.names() == ["completed_requirements_TIME.md", "planner_history.txt"]


def test_nothing_is_completed_where_there_is_nothing(rounds: Rounds) -> None:
    rounds.to_plan()
    rounds.path("current_requirements.md").unlink()
    rounds.path("todo.md").unlink()
    rounds.write_answer("commit.md", MESSAGE)
    answer = rounds.run("complete", "--message", "answers/commit.md", "--agree")
    assert answer.problems[0][0] == "not_found"
    assert [n for n in rounds.names() if "TIME" in n] == []


@pytest.mark.requirement("RL-9")
def test_a_file_that_the_user_has_seen_and_left_out_does_not_stop_the_commit(
    rounds: Rounds,
) -> None:
    rounds.to_applied()
    rounds.repository.write("mine.txt", "mine\n")
    assert rounds.follow("done").data("changed, not staged") == "mine.txt"
    rounds.repository.write("later.txt", "not shown\n")
    answer = rounds.follow("continue")
    assert [p.get("at") for p in answer.block.iter("problem")] == ["later.txt"]
    rounds.last = rounds.planner("requirements", "complete")
    rounds.follow("continue")
    assert commits(rounds) == 2


@pytest.mark.requirement("RL-9", "CM-1", "CM-2", "CM-3")
def test_validation_names_what_a_commit_has_beside_its_plan_and_compares_the_rest(
    rounds: Rounds,
) -> None:
    repository = rounds.repository
    rounds.to_applied()
    repository.write("mine.txt", "mine\n")
    rounds.follow("done")
    rounds.follow("with others")
    rounds.follow("continue")
    assert rounds.plan is not None
    plan = f"{rounds.plan.state_dir}/plan.json"
    words = ("validate", "--require-frozen", plan, "--commit", "HEAD")
    answer = call(repository.path, *words)
    assert [p.get("at") for p in answer.block.iter("problem")] == ["mine.txt"]
    beside = answer.data("beside the plan").splitlines()
    assert "planning/planner_history.txt" in beside
    assert not {"src/a.py", "mine.txt"} & {*beside}
    [ref] = repository.git("for-each-ref", "--format=%(refname)", "refs/planner/").splitlines()
    approval = json.loads(repository.git("show", f"{ref}:approval.json"))
    assert (approval["beside"], approval["staged"]) == (["planning/"], ["mine.txt", *beside])
    judged = call(repository.path, "validate", "--commit", "HEAD", "--format", "json")
    [row] = json.loads(judged.text)["commits"]
    assert (row["verdict"], row["beside"]) == ("edited afterwards", beside)
    assert row["additional"] == ["mine.txt"]
    # What the user agreed to commit is approved by no digest; without it the rest is the plan's.
    repository.git("rm", "--quiet", "mine.txt")
    repository.git("commit", "--quiet", "--amend", "--no-edit")
    assert call(repository.path, *words).code == 0
    judged = call(repository.path, "validate", "--range", "HEAD~1..HEAD", "--format", "json")
    [row] = json.loads(judged.text)["commits"]
    assert (row["verdict"], row["additional"]) == ("same bytes, other history", [])


@pytest.mark.requirement("RL-8")
def test_a_plan_that_was_moved_to_another_commit_names_it_in_the_history(rounds: Rounds) -> None:
    plan = rounds.to_plan().to("approved")
    project = rounds.repository
    began = project.git("rev-parse", "HEAD")
    project.write("src/a.py", "# kept\n\n\ndef f(x):\n    return x + 1\n")
    project.git("commit", "--quiet", "--message", "A comment of the user's", "src/a.py")
    plan.last = plan.planner("plan", "revise")
    plan.answers["design.json"], plan.edits = [], {}
    rounds.last = plan.to("applied").last
    rounds.follow("done")
    heads = re.findall(r"GIT HEAD \(([0-9a-f]+)\)", rounds.text("planner_history.txt"))
    assert heads == [began, project.git("rev-parse", "HEAD")]


@pytest.mark.requirement("RL-9", "PL-31")
@pytest.mark.parametrize("paths", [["--only", "src/a.py"], ["--all"]])
def test_a_plan_that_the_user_has_committed_in_part_leaves_them_the_rest(
    rounds: Rounds, paths: list[str]
) -> None:
    rounds.to_ready()
    git = rounds.repository.git
    git("commit", "--quiet", "--message", "Mine", *paths)
    refused = rounds.follow("continue")
    assert "holds files of the plan already" in refused.problems[0][1]
    rounds.last = call(rounds.repository.path, *words_of(retry_of(refused)))
    assert rounds.last.code == 0, rounds.last.text
    assert rounds.state == "new-requirements"
    assert ("tests/test_a.py" in staged(rounds)) == (paths != ["--all"])
    assert "planning/planner_history.txt" in staged(rounds)
    assert commits(rounds) == 2
    assert rounds.plan is not None
    assert json.loads(rounds.plan.planner("status", "--json").text)["status"] == "COMPLETED"


@pytest.mark.requirement("RL-9")
def test_a_commit_that_is_not_open_is_not_left_to_the_user(rounds: Rounds) -> None:
    rounds.to_prompt()
    rounds.write("current_requirements.md", "- f adds two\n")
    rounds.write("todo.md", "- [ ] not done\n")
    rounds.start()
    rounds.follow("mark-complete")
    assert rounds.state == "complete"
    refused = rounds.run("startup", "--leave-commit")
    assert "no commit is open" in refused.problems[0][1]
    assert rounds.path("current_requirements.md").exists()
    assert call(rounds.repository.path, *words_of(retry_of(refused))).code == 0


def retry_of(refused: Answer) -> str:
    return way_out(refused.problems[0][1])


@pytest.mark.requirement("RL-9")
def test_what_looks_like_a_secret_is_named_and_staged_by_its_own_name_alone(
    rounds: Rounds,
) -> None:
    left_behind(rounds)
    rounds.repository.write(".env", "KEY=1\n")
    rounds.repository.write("planning/id_rsa", "key\n")
    rounds.repository.write("notes.txt", "mine\n")
    asked = rounds.run("complete")
    secrets = [".env (looks like a secret)", "planning/id_rsa (looks like a secret)"]
    assert asked.data("changed, not staged").splitlines() == [*secrets, "notes.txt"]
    more = rounds.follow("with others")
    assert "notes.txt" in staged(rounds)
    assert not {".env", "planning/id_rsa"} & {*staged(rounds)}
    assert more.data("changed, not staged").splitlines() == secrets
    assert "with others" not in {one.get("value") for one in more.block.iter("option")}
    named = rounds.run("complete", "--with", ".env")
    assert named.data("staged").splitlines()[0] == secrets[0]
    assert rounds.follow("continue").code == 0
    assert ".env" in rounds.repository.git("ls-tree", "-r", "--name-only", "HEAD").split()


@pytest.mark.requirement("RL-9")
@pytest.mark.parametrize("by_hand", [False, True])
def test_a_file_that_the_user_takes_back_stays_out_of_the_commit(
    rounds: Rounds, *, by_hand: bool
) -> None:
    left_behind(rounds)
    rounds.repository.write("notes.txt", "mine\n")
    rounds.repository.write("README.md", "changed\n")
    rounds.run("complete")
    rounds.follow("with others")
    assert {"notes.txt", "README.md"} <= {*staged(rounds)}
    if by_hand:
        rounds.repository.git("reset", "-q", "--", "notes.txt", "README.md")
        refused = rounds.run("commit")
        assert refused.code == 1
        shown = rounds.call(*words_of(way_out(refused.problems[-1][1])))
    else:
        shown = rounds.run("complete", "--without", "notes.txt", "--without", "README.md")
    assert "notes.txt (taken back)" in shown.data("changed, not staged")
    assert not {"notes.txt", "README.md"} & {*staged(rounds)}
    rounds.last = shown
    assert rounds.follow("continue").code == 0
    assert rounds.repository.git("status", "--porcelain").split() == [
        "M", "README.md", "??", "notes.txt",
    ]  # fmt: skip
    todo = next(n for n in os.listdir(rounds.path("")) if n.startswith("completed_todo"))
    assert "notes.txt" not in rounds.text(todo)


@pytest.mark.requirement("RL-9")
def test_what_the_commit_needs_is_not_taken_back(rounds: Rounds) -> None:
    left_behind(rounds)
    needed = "planning/planner_history.txt"
    rounds.repository.git("reset", "-q", "--", needed)
    assert rounds.run("complete").code == 0
    assert needed in staged(rounds)
    refused = rounds.run("complete", "--without", needed)
    assert refused.code == 1
    assert needed in staged(rounds)


@pytest.mark.requirement("RL-5", "RL-1")
def test_a_round_marked_as_complete_ends_only_once_a_person_has_ended_its_plan(
    rounds: Rounds,
) -> None:
    plan = rounds.to_plan()
    rounds.start()
    asked = rounds.follow("mark-complete")
    assert asked.data("not done") == "plan current_requirements.md"
    rounds.write_answer("commit.md", MESSAGE)
    refused = rounds.follow("yes")
    assert refused.code == 1
    ending = f"cancel --state-dir {plan.state_dir}"
    assert re.search(rf" · person: \S+ {re.escape(ending)}$", refused.problems[0][1])
    assert rounds.path("current_requirements.md").exists()
    assert rounds.call(*words_of(way_out(refused.problems[0][1]))).code == 0
    rounds.last = asked
    rounds.follow("yes")
    rounds.follow("continue")
    assert "cancelled" in rounds.call("status").data("status").lower()
    assert rounds.call("mode", "status").block.get("stage") == "inactive"
