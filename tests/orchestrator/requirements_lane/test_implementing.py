"""Accepted requirements become the current ones and the task of a plan (RL-8)."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import TYPE_CHECKING

import pytest

from orchestrator.requirements_text import entries_of
from tests.journey import call
from tests.orchestrator.plan.test_context import ask, question
from tests.requirement_rounds import FILES, SUMMARY, Rounds

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

SUMMARIES = {
    "of six lines": ("1\n2\n3\n4\n5\n6\n", "the summary has 6 lines · allowed: at most 5"),
    "with a line of 121 characters": ("x\n" + "y" * 121, "the line has 121 characters"),
    "that is empty": (" \n\n", "the summary is empty"),
    "with the mark of its end": ("a\n>>\n", "a mark or an invisible character"),
    "with an escape sequence": ("a\x1b[2J\n", "a mark or an invisible character"),
}


@pytest.mark.requirement("RL-8")
@pytest.mark.parametrize("case", SUMMARIES)
def test_a_summary_beyond_its_limits_is_refused_with_what_to_shorten(
    rounds: Rounds, case: str
) -> None:
    text, said = SUMMARIES[case]
    rounds.to_accepted()
    history = rounds.history()
    rounds.write_answer("summary.md", text)
    answer = rounds.follow("yes")
    assert answer.code == 1
    assert said in answer.problems[0][1]
    assert rounds.history() == history
    assert rounds.state == "refine"
    assert rounds.path("new_requirements.md").exists()


@pytest.mark.requirement("RL-8")
def test_every_line_that_is_too_long_is_named_at_once(rounds: Rounds) -> None:
    rounds.to_accepted()
    rounds.write_answer("summary.md", "\n".join(["x" * 121, "fine", "y" * 130, "4", "5", "6"]))
    answer = rounds.follow("yes")
    at = [p.get("at", "").rpartition("/")[2] for p in answer.block.iter("problem")]
    assert at == ["summary.md", "summary.md:1", "summary.md:3"]


@pytest.mark.requirement("RL-8", "RL-10")
def test_head_and_summary_stand_in_the_history_as_the_design_shows_them(rounds: Rounds) -> None:
    summary = "\n".join(f"{n} {'x' * 118}" for n in range(5)) + "\n"
    rounds.to_accepted()
    rounds.write_answer("summary.md", summary)
    rounds.follow("yes")
    head = rounds.repository.git("rev-parse", "HEAD")
    indented = "".join(f"{' ' * 22}{line}\n" for line in ("<<", *summary.splitlines(), ">>"))
    assert rounds.text("planner_history.txt").partition("\n")[2].count(head) == 1
    assert rounds.history().partition("\n")[2] == (
        f"TIME - GIT HEAD (COMMIT)\nTIME - START IMPLEMENTING (current_requirements.md)\n{indented}"
    )


@pytest.mark.requirement("RL-8")
def test_the_requirements_are_renamed_and_become_the_task_of_a_plan(rounds: Rounds) -> None:
    plan = rounds.to_plan("- f adds two\n- its name\n  stays\n\nAlso:\n\n## Out of scope\n1. g\n")
    assert rounds.names() == [
        ".gitattributes", "current_requirements.md", "planner_history.txt", "todo.md",
    ]  # fmt: skip
    assert "THIS SECTION WILL BE IGNORED" not in plan.last.text
    plan.answers["context.json"] = {"task_spec": ["f adds two", "f is tested"]}
    plan.to("design")
    with open(f"{plan.state_dir}/context.json", encoding="utf-8") as file:
        assert json.load(file)["task_spec"] == [
            "f adds two", "its name stays", "Also:", "out of scope: g", "f is tested",
        ]  # fmt: skip


@pytest.mark.requirement("SD-2", "SD-3")
def test_a_round_of_requirements_is_held_by_a_question_and_opened_by_a_late_answer(
    rounds: Rounds,
) -> None:
    plan = rounds.to_plan("- f adds two\n").to("design")
    assert ask(plan, [question()]).code == 0
    assert "is not answered" in plan.planner("plan", "done", "--phase", "plan-design").text
    assert plan.planner("decide", "CP-001", "a").code == 0
    plan.last = plan.planner("step", "planner")
    plan.to("code")
    late = plan.planner("decide", "CP-001", "b")
    assert late.data("due again because") == "CP-001 Which name? → Way b (before: Way a)"


@pytest.mark.requirement("RL-8")
@pytest.mark.parametrize(
    "heading",
    ["Out of scope", "out of scope", "OUT OF SCOPE:", "**Out of scope**", "**Out-of-scope:**",
     "__Not in scope__:", "## Out of scope", "## **Out of scope:**"],
)  # fmt: skip
def test_what_is_listed_under_out_of_scope_is_excluded(heading: str) -> None:
    assert entries_of(f"- f\n\n{heading}\n\n- g\n  h\n- i\n") == [
        "f", "out of scope: g h", "out of scope: i",
    ]  # fmt: skip


@pytest.mark.requirement("RL-8")
@pytest.mark.parametrize(("text", "entries"), [
    ("- f\nOut of scope:\n- g", ["f", "out of scope: g"]),
    ("- f\n\nOut of scope\n\ng and\nh\n\nAlso:\n- i", ["f", "out of scope: g and h", "Also:", "i"]),
    ("Out of scope\n- g\n\n**Limits**\n- i", ["out of scope: g", "**Limits**", "i"]),
    ("Out of scope\n- g\n\n## Limits\n- i", ["out of scope: g", "i"]),
    ("- what is\nout of scope\n- g", ["what is out of scope", "g"]),
    ("* f\n* Out of scope\n* g\n\nAlso\n* h", ["f", "out of scope: g", "Also", "h"]),
    ("- Out of scope:\n  - g\n    and i\n- f", ["out of scope: g and i", "f"]),
    ("## Out of scope\n- **Not in scope**\n  - g\n- f", ["out of scope: g", "out of scope: f"]),
    ("- f\n\nOut of scope\n------------\n\ng\n\n- h", ["f", "out of scope: g", "out of scope: h"]),
    ("Out of scope\n====\n- g\n\nWanted\n---\n- f", ["out of scope: g", "f"]),
    ("- f\n---\n- g\n\n-----\nh", ["f", "g", "h"]),
])  # fmt: skip
def test_a_plain_heading_excludes_no_more_than_what_follows_it(
    text: str, entries: list[str]
) -> None:
    assert entries_of(text) == entries


@pytest.mark.requirement("RL-8")
def test_the_todo_list_names_the_requirements_by_their_hash_and_follows_the_plan(
    rounds: Rounds,
) -> None:
    plan = rounds.to_plan()
    digest = sha256(rounds.path("current_requirements.md").read_bytes()).hexdigest()
    head = f"# Todo\n\nRequirements: current_requirements.md\nSHA-256: {digest}\n\n"
    assert rounds.text("todo.md") == f"{head}- [ ] plan current_requirements.md\n"
    plan.to("submitted")
    assert rounds.text("todo.md") == f"{head}- [ ] M-001 Add two\n"
    plan.to("applied")
    assert rounds.text("todo.md") == f"{head}- [x] M-001 Add two\n"
    assert plan.planner("undo").code == 0
    assert rounds.text("todo.md") == f"{head}- [ ] M-001 Add two\n"


@pytest.mark.requirement("RL-8")
def test_the_planning_folder_is_no_uncommitted_work_and_no_change_of_the_users(
    rounds: Rounds,
) -> None:
    plan = rounds.to_plan()
    assert plan.last.block.find("ask") is None
    rounds.write("new_requirements.md", "- for the next round\n")
    plan.to("applied")


@pytest.mark.requirement("RL-8")
def test_other_uncommitted_work_is_asked_about(rounds: Rounds) -> None:
    rounds.repository.write("README.md", "mine\n")
    rounds.to_accepted()
    rounds.write_answer("summary.md", SUMMARY)
    asked = rounds.follow("yes")
    assert asked.data("uncommitted") == "README.md"
    begun = call(rounds.repository.path, *asked.next("head").split()[1:])
    assert begun.block.get("name") == "context-verify"
    assert "entries T-1" in begun.text


@pytest.mark.requirement("RL-8")
def test_repeating_the_command_goes_on_with_the_same_plan(rounds: Rounds) -> None:
    plan = rounds.to_plan()
    history = rounds.history()
    again = rounds.run("implement", "--summary", "answers/summary.md")
    assert again.block.get("state_dir") == plan.state_dir
    assert rounds.history() == history


@pytest.mark.requirement("RL-8")
def test_a_plan_that_was_cancelled_is_made_anew_in_the_same_round(rounds: Rounds) -> None:
    plan = rounds.to_plan()
    assert plan.planner("cancel").code == 0
    again = rounds.run("implement")
    assert again.block.get("name") == "context-verify"
    assert again.block.get("state_dir") != plan.state_dir
    assert rounds.history().count("START IMPLEMENTING") == 1


@pytest.mark.requirement("RL-2")
def test_without_git_the_history_has_no_line_of_git(without_git: Rounds) -> None:
    without_git.to_plan()
    assert "GIT" not in without_git.history()
    assert "START IMPLEMENTING" in without_git.history()


@pytest.mark.requirement("RL-9")
def test_the_summary_to_approve_names_what_else_the_commit_will_hold(
    rounds: Rounds, make_repo: Callable[..., Repository]
) -> None:
    without_git = Rounds(make_repo("plain", files=FILES), "--no-git")
    wanted = "the commit adds the round's requirements, todo and history in planning/"
    assert wanted in rounds.to_plan().to("submitted").last.data("summary")
    assert "the commit" not in without_git.to_plan().to("submitted").last.data("summary")
