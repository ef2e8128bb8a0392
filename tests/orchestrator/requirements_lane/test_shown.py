"""What the user is shown before the commit of a round is what is committed, and how it ends."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from shared.requirements_record import write_lane
from tests.journey import call, way_out, words_of
from tests.requirement_rounds import MESSAGE, Rounds

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository


def staged(rounds: Rounds) -> list[str]:
    return rounds.repository.git("diff", "--cached", "--name-only").splitlines()


def left_behind(rounds: Rounds) -> None:
    """Come to the state in which requirements that no plan was made for are completed."""
    rounds.to_prompt()
    rounds.write("current_requirements.md", "- f adds two\n")
    rounds.write("todo.md", "- [x] done\n")
    rounds.start()
    rounds.follow("mark-complete")


@pytest.mark.requirement("RL-9")
def test_the_commit_is_to_the_byte_what_was_staged_when_the_user_was_asked(
    rounds: Rounds,
) -> None:
    """Both history lines are staged and shown before the question."""
    ready = rounds.to_ready()
    index = rounds.repository.git("write-tree")
    assert ready.data("staged").splitlines() == staged(rounds)
    assert not any(name.startswith("planning/plans/") for name in staged(rounds))
    assert rounds.history().splitlines()[-2:] == [
        "TIME - COMPLETED REQUIREMENTS (completed_requirements_TIME.md,  completed_todo_TIME.md)",
        "TIME - GIT COMMIT (Add two)",
    ]
    rounds.follow("continue")
    assert rounds.repository.git("rev-parse", "HEAD^{tree}") == index
    assert rounds.repository.git("status", "--porcelain") == ""


@pytest.mark.requirement("RL-9")
def test_code_in_a_folder_has_the_copy_of_its_plan_staged_as_well(
    make_repo: Callable[..., Repository],
) -> None:
    repository = make_repo(files={"my app/main.py": "1\n", "src/a.py": "", "tests/test_a.py": ""})
    rounds = Rounds(repository, codepath=repository.path / "my app")
    rounds.to_ready()
    index = repository.git("write-tree")
    rounds.follow("continue")
    assert repository.git("rev-parse", "HEAD^{tree}") == index


@pytest.mark.requirement("RL-9")
def test_the_note_on_the_commit_names_each_file_beside_the_plan(rounds: Rounds) -> None:
    note = rounds.to_committed().data("note")
    changed = rounds.repository.git("show", "--format=", "--name-only", "HEAD").splitlines()
    beside = [name for name in changed if name not in ("src/a.py", "tests/test_a.py")]
    assert len(beside) == 4
    assert all(name in note for name in beside), note


@pytest.mark.requirement("RL-9")
def test_the_completed_todo_list_names_the_requirements_as_they_are_called_then(
    rounds: Rounds,
) -> None:
    rounds.to_ready()
    todo = next(rounds.path("").glob("completed_todo_*")).read_text()
    named = re.findall(r"^Requirements: (.*)$", todo, re.MULTILINE)
    assert named == [p.name for p in rounds.path("").glob("completed_requirements_*")]


@pytest.mark.requirement("RL-9")
def test_what_is_left_out_is_named_whether_git_ignores_it_or_not(rounds: Rounds) -> None:
    rounds.repository.write("debug.log", "noise\n")
    rounds.repository.write("src/__pycache__/a.pyc", "noise\n")
    left_behind(rounds)
    rounds.write_answer("commit.md", MESSAGE)
    ready = rounds.follow("done")
    assert ready.data("left out as temporary") == "debug.log"
    assert ready.data("left out, ignored by git") == "src/__pycache__/"


@pytest.mark.requirement("RL-9")
def test_where_nothing_is_left_out_the_list_says_so(rounds: Rounds) -> None:
    left_behind(rounds)
    rounds.write_answer("commit.md", MESSAGE)
    assert rounds.follow("done").data("left out as temporary") == "nothing"


@pytest.mark.requirement("RL-9")
def test_the_plans_title_and_approach_are_the_message_without_being_asked_for_again(
    rounds: Rounds,
) -> None:
    applied = rounds.to_applied()
    assert "commit.md" not in applied.text
    shown = rounds.follow("done").data("message")
    assert shown.startswith("Add two\n\nChange the constant.\n\nRequirements: completed_req")
    assert "Plan-Digest: " in shown
    rounds.write_answer("commit.md", MESSAGE)
    reworded = rounds.follow("reword")
    assert reworded.data("message").startswith("Add two in f\n")
    assert rounds.history().count("COMPLETED REQUIREMENTS") == 1
    assert rounds.history().splitlines()[-1] == "TIME - GIT COMMIT (Add two in f)"
    rounds.follow("continue")
    assert rounds.repository.git("log", "-1", "--format=%s").strip() == "Add two in f"


@pytest.mark.requirement("RL-9")
def test_a_long_approach_is_cut_to_the_limits_of_a_message(rounds: Rounds) -> None:
    words = "Change the constant, since every caller wants two. " * 20
    rounds.design = [
        {"op": "set", "id": "overview", "version": 1, "fields": {
            "title": "Add two " * 12, "problem": "f adds one",
            "approach": f"{words}\n\nTodo: nothing"}},
        {"op": "add", "kind": "milestone", "as": "$m", "fields": {
            "name": "Add two", "files": ["src/a.py", "tests/test_a.py"],
            "requirements": ["T-1"], "acceptance_criteria": ["f(1) is 3"],
            "tests": {"files": ["tests/test_a.py"], "type": "unit",
                      "scenarios": {"normal": ["f(1)"], "edge": [], "error": []}}}},
        {"op": "add", "kind": "intent", "fields": {
            "milestone": "$m", "file": "src/a.py", "behavior": "adds two"}},
    ]  # fmt: skip
    lines = rounds.to_ready().data("message").splitlines()
    assert len(lines[0]) <= 72
    assert len(lines[2:]) == 10
    assert lines[7].endswith(" …")
    assert max(map(len, lines[:-1])) <= 72


@pytest.mark.requirement("RL-9", "RL-1")
def test_requirements_without_a_plan_are_completed_with_a_message_that_is_asked_for(
    rounds: Rounds,
) -> None:
    rounds.to_plan()
    rounds.path("todo.md").write_text("- [x] all done by hand\n")
    assert rounds.plan is not None
    assert rounds.plan.planner("cancel").code == 0
    asked = rounds.run("complete")
    assert asked.block.get("name") == "complete"
    rounds.write_answer("commit.md", MESSAGE)
    assert rounds.follow("done").data("message").startswith("Add two in f\n")


@pytest.mark.requirement("RL-1", "RL-11")
def test_after_a_commit_the_user_is_asked_whether_they_are_finished(rounds: Rounds) -> None:
    after = rounds.to_committed()
    assert after.block.findtext("ask/question") == "Another round, or finished?"
    assert [n.get("on") for n in after.block.iter("next")] == ["another", "finished"]
    ended = rounds.follow("finished")
    assert ended.block.find("person") is None
    for words in (("mode", "status"), ("status",)):
        said = call(rounds.repository.path, *words).text
        assert "gathering" not in said
        assert "shell" not in said


@pytest.mark.requirement("RL-1", "RL-11")
def test_quitting_before_a_review_has_begun_needs_no_command_of_a_person(rounds: Rounds) -> None:
    rounds.to_prompt()
    assert rounds.follow("quit").block.find("person") is None


@pytest.mark.requirement("RL-9", "RL-11")
def test_a_commit_that_was_never_staged_whole_is_staged_first(rounds: Rounds) -> None:
    """As a kill after the renaming leaves it."""
    left_behind(rounds)
    rounds.write_answer("commit.md", MESSAGE)
    rounds.follow("done")
    facts = rounds.facts
    facts.staged = {}
    write_lane(rounds.state_dir, facts)
    answer = rounds.run("commit")
    assert answer.problems[0][0] == "conflict"
    assert "requirements complete" in answer.problems[0][1]
    assert rounds.run("complete").data("staged")


@pytest.mark.requirement("RL-9", "CM-1")
def test_a_copy_of_the_plan_that_the_project_wants_is_shown_and_committed(rounds: Rounds) -> None:
    rounds.repository.commit({"planner.toml": '[commit]\nplan = "file"\n'})
    ready = rounds.to_ready()
    copies = [name for name in staged(rounds) if name.startswith("planning/plans/")]
    assert [name.rpartition(".")[2] for name in copies] == ["json", "md"]
    assert {*copies} <= {*ready.data("staged").splitlines()}
    index = rounds.repository.git("write-tree")
    rounds.follow("continue")
    assert rounds.repository.git("rev-parse", "HEAD^{tree}") == index
    assert rounds.repository.git("status", "--porcelain") == ""
    answer = call(rounds.repository.path, "validate", "--commit", "HEAD", "--require", "exact")
    assert answer.code == 0, answer.text


@pytest.mark.requirement("RL-9", "CM-1")
def test_a_plan_taken_back_before_the_commit_leaves_no_copy_in_it(rounds: Rounds) -> None:
    rounds.repository.commit({"planner.toml": '[commit]\nplan = "file"\n'})
    rounds.to_ready()
    assert rounds.plan is not None
    assert rounds.plan.planner("undo").code == 0
    ready = rounds.run("complete")
    assert "planning/plans" not in ready.data("staged")
    assert "src/a.py" not in ready.data("staged")
    assert "Plan-Digest" not in ready.data("message")


@pytest.mark.requirement("RL-9", "RL-11")
def test_an_offered_commit_whose_files_have_changed_is_staged_and_shown_anew(
    rounds: Rounds,
) -> None:
    left_behind(rounds)
    rounds.write_answer("commit.md", MESSAGE)
    rounds.follow("done")
    rounds.repository.write(next(n for n in staged(rounds) if "todo" in n), "edited\n")
    rounds.start()
    refused = rounds.follow("commit")
    retry = way_out(refused.problems[0][1])
    rounds.last = call(rounds.repository.path, *words_of(retry))
    rounds.follow("continue")
    assert rounds.repository.git("rev-list", "--count", "HEAD").strip() == "2"


@pytest.mark.requirement("RL-1", "RL-5")
def test_a_round_left_behind_is_not_completed_before_the_user_has_chosen(rounds: Rounds) -> None:
    rounds.to_prompt()
    rounds.write("current_requirements.md", "- f adds two\n")
    rounds.start()
    assert "the user chooses" in rounds.run("complete").problems[0][1]
