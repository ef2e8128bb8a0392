"""Commands of the lane at the wrong moment, or where the folder is not as it was left."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from orchestrator.requirements_lane.transition import perform, rename
from shared.requirements_record import IN_WORK, NEW
from state.beneath import Beneath
from state.errors import Refused
from tests.journey import Answer, call
from tests.requirement_rounds import SUMMARY, WANTED
from tests.ways_out import ways_of

if TYPE_CHECKING:
    from pathlib import Path

    from tests.requirement_rounds import Rounds

pytestmark = pytest.mark.requirement("RL-2")


def refused(answer: Answer, kind: str, *said: str) -> Answer:
    """Assert that a command was refused once, with these words; return the answer."""
    assert answer.text.startswith("<error"), answer.text
    ((found, text),) = answer.problems
    assert found == kind, answer.text
    assert all(word in text for word in said), answer.text
    return answer


def follow(rounds: Rounds, answer: Answer) -> str:
    """Run the command that a refusal prints; return the name of the step that it shows."""
    (way,) = ways_of(answer)
    rounds.last = call(rounds.repository.path, *way)
    assert rounds.last.code == 0, rounds.last.text
    return rounds.last.block.get("name", "")


def test_an_answer_that_a_state_does_not_ask_for_is_refused_with_its_answers(
    rounds: Rounds,
) -> None:
    rounds.to_prompt()
    answer = refused(rounds.run("startup", "--resume"), "conflict", "is not possible in the state")
    assert follow(rounds, answer) == rounds.state


def test_nothing_is_resumed_where_nothing_was_left_behind(rounds: Rounds) -> None:
    rounds.repository.write("other.txt", "mine\n")
    rounds.start()
    assert rounds.state == "startup"
    refused(rounds.run("startup", "--resume"), "conflict", "nothing was left behind", "--yes")
    assert rounds.run("startup", "--yes").code == 0


def test_requirements_are_not_implemented_without_a_summary(rounds: Rounds) -> None:
    rounds.to_accepted()
    answer = refused(rounds.run("implement"), "usage", "needs a summary")
    assert follow(rounds, answer) == "refine"
    assert rounds.path(NEW).exists()
    rounds.write_answer("summary.md", SUMMARY)
    assert rounds.run("implement", "--summary", "answers/summary.md").code == 0


def test_completed_requirements_are_not_implemented_again(rounds: Rounds) -> None:
    rounds.to_ready()
    answer = refused(rounds.run("implement"), "conflict", "only their commit is open")
    assert follow(rounds, answer) == "complete"
    assert rounds.follow("continue").code == 0


def test_a_code_folder_that_is_gone_is_named(rounds: Rounds) -> None:
    rounds.codepath = rounds.repository.path / "part"
    rounds.codepath.mkdir()
    rounds.start()
    shutil.rmtree(rounds.codepath)
    refused(rounds.run("startup"), "not_found", "not a folder that exists", "--codepath")
    rounds.codepath.mkdir()
    assert rounds.run("startup").code == 0


def test_requirements_left_behind_empty_are_asked_for_before_a_plan_starts(
    rounds: Rounds,
) -> None:
    rounds.path("").mkdir(exist_ok=True)
    rounds.write(IN_WORK, "\n")
    rounds.start()
    rounds.follow("resume")
    rounds.write_answer("summary.md", SUMMARY)
    words = ("implement", "--summary", "answers/summary.md")
    answer = refused(rounds.run(*words), "invalid", "no requirements", "ask the user")
    assert f'at="{rounds.path(IN_WORK)}"' in answer.text
    rounds.write(IN_WORK, WANTED)
    assert rounds.run(*words).code == 0, rounds.last.text


def test_a_file_in_the_way_of_a_rename_is_named_and_the_same_command_goes_on(
    rounds: Rounds,
) -> None:
    rounds.to_accepted()
    rounds.write_answer("summary.md", SUMMARY)
    rounds.write(IN_WORK, "somebody else's\n")
    words = ("implement", "--summary", "answers/summary.md")
    refused(rounds.run(*words), "conflict", "is there already", "run the same command again")
    assert rounds.text(IN_WORK) == "somebody else's\n"
    rounds.path(IN_WORK).rename(rounds.path("theirs.md"))
    assert rounds.run(*words).code == 0
    assert "f adds two" in rounds.text(IN_WORK)


def test_a_file_operation_that_the_system_refuses_is_named_and_repeated(tmp_path: Path) -> None:
    old, new = tmp_path / "old.md", tmp_path / "new.md"
    operation = rename(str(old), str(new))
    with pytest.raises(Refused) as caught:
        perform(Beneath(str(tmp_path)), operation)
    (problem,) = caught.value.problems
    assert (problem.kind, problem.at) == ("refused", str(old))
    assert "run the same command again" in problem.allowed
    old.write_text("mine\n")
    perform(Beneath(str(tmp_path)), operation)
    assert new.read_text() == "mine\n"
