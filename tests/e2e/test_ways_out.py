"""What the user does to planned files meanwhile is refused with a way that leads to the proof."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import pytest

from tests.journey import FILES, Answer, Journey, way_out, words_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

MINE = "# mine\ndef f(x):\n    return x + 1\n"
BOTH = "# mine\ndef f(x):\n    return x + 2\n"


def begun(make_repo: Callable[..., Repository]) -> Journey:
    return Journey(make_repo("project", FILES))


def retry(answer: Answer) -> str:
    assert answer.code == 1, answer.text
    return way_out(answer.problems[0][1])


def assert_committed(journey: Journey) -> None:
    git = journey.repository.git
    assert journey.last.block.get("commit") == git("rev-parse", "HEAD"), journey.last.text


# uncommitted work in a planned file


@pytest.mark.requirement("PL-26")
@pytest.mark.parametrize("change", ["edited", "deleted", "a folder in its place"])
def test_uncommitted_work_in_a_planned_file_is_stashed_and_the_same_command_works(
    make_repo: Callable[..., Repository], change: str
) -> None:
    journey = begun(make_repo).to("approved")
    project = journey.repository
    file = project.path / "src" / "a.py"
    file.unlink()
    if change == "edited":
        file.write_text(MINE)
    elif change != "deleted":
        file.mkdir()
        (file / "note").write_text("mine\n")
    command = journey.last.next()
    refused = journey.run(*words_of(command))
    assert "uncommitted work of yours" in refused.text
    assert "stash" in refused.text or "move away" in refused.text
    assert retry(refused) == command, refused.text
    if change == "a folder in its place":
        file.rename(project.path / "moved-away")
        project.git("checkout", "--", "src/a.py")
    else:
        stash = refused.problems[0][1].rpartition("to stash: git ")[2].split(" · ")[0]
        project.git(*stash.replace("'", "").split())
    journey.follow(retry(refused))
    journey.to("committed")
    assert_committed(journey)


@pytest.mark.requirement("PL-26")
def test_a_removal_of_a_planned_file_that_is_staged_is_taken_back_as_the_refusal_says(
    make_repo: Callable[..., Repository],
) -> None:
    journey = begun(make_repo).to("approved")
    journey.repository.git("rm", "--quiet", "src/a.py")
    refused = journey.run(*words_of(journey.last.next()))
    restore = refused.problems[0][1].rpartition("take the removal back: git ")[2].split(" · ")[0]
    journey.repository.git(*shlex.split(restore))
    assert (journey.repository.path / "src/a.py").read_text() == FILES["src/a.py"]
    journey.follow(retry(refused))
    journey.to("committed")
    assert_committed(journey)


@pytest.mark.requirement("PL-26", "PL-28")
def test_uncommitted_work_in_a_planned_file_is_committed_and_a_revision_carries_both(
    make_repo: Callable[..., Repository],
) -> None:
    journey = begun(make_repo).to("approved")
    journey.repository.write("src/a.py", MINE)
    refused = journey.advance()
    journey.repository.commit(message="My own work")
    moved = journey.follow(retry(refused))
    assert words_of(retry(moved))[:2] == ["plan", "revise"]
    journey.answers["design.json"] = []
    journey.edits["src/a.py"] = BOTH
    assert journey.follow(retry(moved)).code == 0
    journey.to("committed")
    assert_committed(journey)
    assert journey.repository.git("show", "HEAD:src/a.py") + "\n" == BOTH


@pytest.mark.requirement("PL-26", "PL-28")
def test_a_revision_on_uncommitted_work_asks_for_its_commit_and_nothing_more(
    make_repo: Callable[..., Repository],
) -> None:
    """The way of the loop: revise instead of committing, be refused, commit, go on."""
    journey = begun(make_repo).to("approved")
    journey.repository.write("src/a.py", MINE)
    journey.advance()
    journey.answers["design.json"] = []
    journey.edits["src/a.py"] = BOTH
    journey.last = journey.planner("plan", "revise")
    journey.to("freeze")
    refused = journey.run(*words_of(journey.last.next()))
    assert "commit your own work on this file first" in refused.text
    journey.repository.commit(message="My own work")
    assert words_of(retry(refused))[:2] == ["mode", "rebase"]
    assert journey.follow(retry(refused)).code == 0
    journey.last = journey.planner("step", "planner")
    journey.to("committed")
    assert_committed(journey)


@pytest.mark.requirement("PL-26", "PL-31")
@pytest.mark.parametrize("settles", ["commits", "stashes"])
def test_work_that_a_plan_on_head_leaves_out_is_settled_with_one_refusal(
    make_repo: Callable[..., Repository], settles: str
) -> None:
    journey = begun(make_repo)
    journey.repository.write("src/a.py", MINE)
    journey.start("--base", "head")
    refused = journey.to("freeze").advance()
    assert "uncommitted work of yours" in refused.text
    if settles == "commits":
        journey.repository.commit(message="My own work")
        journey.edits["src/a.py"] = BOTH
    else:
        journey.repository.git("stash", "--quiet")
    assert words_of(retry(refused))[:2] == ["mode", "rebase"]
    assert journey.follow(retry(refused)).code == 0
    journey.last = journey.planner("step", "planner")
    journey.to("committed")
    assert_committed(journey)


@pytest.mark.requirement("PL-31")
def test_an_undo_that_meets_uncommitted_work_names_itself_as_the_way(
    make_repo: Callable[..., Repository],
) -> None:
    journey = begun(make_repo).to("committed")
    journey.repository.write("src/a.py", MINE)
    refused = journey.planner("undo")
    assert words_of(retry(refused))[0] == "undo"
    journey.repository.git("stash", "push", "--", "src/a.py")
    undone = journey.run(*words_of(retry(refused)))
    assert undone.code == 0, undone.text


# the user commits what was applied


@pytest.mark.requirement("PL-29")
@pytest.mark.parametrize("commits", ["one", "two", "one with another file"])
def test_a_plan_that_the_user_commits_by_hand_is_proved_and_completed(
    make_repo: Callable[..., Repository], commits: str
) -> None:
    journey = begun(make_repo).to("applied")
    project = journey.repository
    if commits == "two":
        project.git("commit", "--quiet", "--message", "Mine", "--only", "src/a.py")
    if commits == "one with another file":
        project.write("README.md", "# Mine\n")
    by_hand = project.commit(message="By hand")
    journey.to("committed")
    assert_committed(journey)
    assert project.git("rev-parse", "HEAD") == by_hand
    assert "Proved: your own commits" in journey.last.text
    assert ("README.md" in journey.last.text) == (commits == "one with another file")
    again = journey.planner("exec", "commit")
    assert again.text == journey.last.text
    undone = journey.planner("undo")
    assert undone.code == 0, undone.text
    assert project.git("show", "HEAD:src/a.py") + "\n" == FILES["src/a.py"]


@pytest.mark.requirement("PL-29")
def test_other_bytes_committed_by_hand_are_never_called_the_plan(
    make_repo: Callable[..., Repository],
) -> None:
    journey = begun(make_repo).to("applied")
    applied = (journey.repository.path / "src/a.py").read_text()
    journey.repository.commit({"src/a.py": BOTH}, "By hand, and other bytes")
    journey.repository.write("src/a.py", applied)
    refused = journey.advance()
    ways = [*filter(None, (way_out(text) for _, text in refused.problems))]
    way = ways[0]
    assert words_of(way)[0] == "undo"
    assert "the plan was made for" in refused.text
    assert journey.follow(way).code == 0


@pytest.mark.requirement("PL-29")
def test_a_staged_edit_that_a_person_accepts_stays_staged(
    make_repo: Callable[..., Repository],
) -> None:
    journey = begun(make_repo).to("applied")
    project, planned = journey.repository, journey.edits["src/a.py"]
    project.write("src/a.py", f"{planned!s}# mine\n")
    project.git("add", "src/a.py")
    block = journey.last
    refused = journey.run(*words_of(block.next()))
    accepted = journey.run(*words_of(retry(refused)), "--reason", "my own edit")
    assert accepted.code == 0, accepted.text
    journey.last = block
    journey.to("committed")
    assert_committed(journey)
    assert project.git("show", "HEAD:src/a.py") + "\n" == planned
    assert project.git("status", "--porcelain") == "M  src/a.py"


# two runs at once


@pytest.mark.requirement("PL-29")
def test_two_runs_that_are_both_applied_are_both_committed(
    make_repo: Callable[..., Repository],
) -> None:
    first = Journey(make_repo("project", {**FILES, "src/b.py": "b = 1\n"})).to("applied")
    second = Journey(first.repository, "Change b")
    second.answers["design.json"] = [
        {"op": "set", "id": "overview", "version": 1,
         "fields": {"title": "Change b", "problem": "b is 1", "approach": "Make it 2."}},
        {"op": "add", "kind": "milestone", "as": "$m", "fields": {
            "name": "Change b", "files": ["src/b.py"], "requirements": ["T-1"],
            "acceptance_criteria": ["b is 2"], "tests": {"skip_reason": "a constant"}}},
        {"op": "add", "kind": "intent", "fields": {
            "milestone": "$m", "file": "src/b.py", "behavior": "is 2"}},
    ]  # fmt: skip
    second.edits = {"src/b.py": "b = 2\n"}
    second.start("--base", "head")
    second.to("applied")
    block = first.last
    second.repository.write("src/b.py", "b = 3\n")  # not as the other run has left it
    assert "no milestone lists this file" in first.advance().text
    second.repository.write("src/b.py", "b = 2\n")
    first.last = block
    first.to("committed")
    assert_committed(first)
    second.to("committed")
    assert_committed(second)
