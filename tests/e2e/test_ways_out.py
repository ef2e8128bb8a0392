"""What the user does to planned files meanwhile is refused with a way that leads to the proof."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.journey import FILES, Answer, Journey, words_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

MINE = "# mine\ndef f(x):\n    return x + 1\n"
BOTH = "# mine\ndef f(x):\n    return x + 2\n"


def begun(make_repo: Callable[..., Repository]) -> Journey:
    return Journey(make_repo("project", FILES))


def retry(answer: Answer) -> str:
    assert answer.code == 1, answer.text
    return answer.problems[0][1].rpartition("retry: ")[2]


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
    assert words_of(retry(refused))[:2] == ["exec", "apply"], refused.text
    if change == "a folder in its place":
        file.rename(project.path / "moved-away")
        project.git("checkout", "--", "src/a.py")
    else:
        stash = refused.problems[0][1].rpartition("to stash: git ")[2].split(" · ")[0]
        project.git(*stash.replace("'", "").split())
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
    """The way of the loop: revise instead of committing, approve, be refused, commit, go on."""
    journey = begun(make_repo).to("approved")
    journey.repository.write("src/a.py", MINE)
    journey.advance()
    journey.answers["design.json"] = []
    journey.edits["src/a.py"] = BOTH
    journey.last = journey.planner("plan", "revise")
    journey.to("approved")
    refused = journey.run(*words_of(journey.last.next()))
    assert "commit your own work on this file first" in refused.text
    journey.repository.commit(message="My own work")
    journey.follow(retry(refused))
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
