"""Requirements are reviewed in front of the user's own words, and accepted by the user (RL-6)."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from shared.requirements_record import CURRENT, ORIGINAL
from tests.journey import call, way_out, words_of
from tests.requirement_rounds import MESSAGE, SUMMARY, WANTED

if TYPE_CHECKING:
    from tests.requirement_rounds import Rounds

NEW = "new_requirements.md"


@pytest.mark.requirement("RL-6")
def test_the_users_words_are_marked_as_theirs_and_kept(rounds: Rounds) -> None:
    rounds.to_review("Größe\r\n- f adds two\r\n")
    assert rounds.path(NEW).read_bytes() == (f"{ORIGINAL}\n\nGröße\r\n- f adds two\r\n".encode())


@pytest.mark.requirement("RL-6")
@pytest.mark.parametrize("mark", [ORIGINAL, CURRENT])
def test_a_file_with_a_mark_gets_no_second_one(rounds: Rounds, mark: str) -> None:
    rounds.to_review(f"{mark}\n\n- f adds two\n")
    assert rounds.text(NEW) == f"{mark}\n\n- f adds two\n"


@pytest.mark.requirement("RL-6")
def test_a_missing_file_is_an_error_with_its_path_and_is_never_made(rounds: Rounds) -> None:
    rounds.to_prompt()
    answer = rounds.run("refine")
    [(kind, text)] = answer.problems
    assert kind == "not_found"
    assert answer.block[0].get("at") == str(rounds.path(NEW))
    assert "ask the user to write" in text
    assert not rounds.path(NEW).exists()
    assert rounds.history() == ""
    assert rounds.state == "new-requirements"


@pytest.mark.requirement("RL-6")
@pytest.mark.parametrize("content", [b"", b" \n\n", ORIGINAL.encode(), b"\xff\xfe- f"])
def test_a_file_that_holds_no_requirements_is_refused(rounds: Rounds, content: bytes) -> None:
    rounds.to_prompt()
    rounds.path(NEW).write_bytes(content)
    assert rounds.run("refine").code == 1
    assert rounds.path(NEW).read_bytes() == content
    assert rounds.history() == ""


@pytest.mark.requirement("RL-6")
def test_a_new_round_removes_the_old_todo_list(rounds: Rounds) -> None:
    rounds.to_prompt()
    rounds.write("todo.md", "- [ ] old\n")
    rounds.write(NEW, WANTED)
    rounds.follow("done")
    assert not rounds.path("todo.md").exists()


@pytest.mark.requirement("RL-6")
def test_each_review_is_one_line_of_the_history(rounds: Rounds) -> None:
    rounds.to_accepted()
    rounds.follow("no")
    assert rounds.state == "new-requirements"
    rounds.follow("done")
    assert rounds.state == "refine"
    rounds.run("refine")  # a host that lost the answer repeats its command
    assert rounds.history() == "TIME - REFINING REQUIREMENTS (new_requirements.md)\n" * 2


@pytest.mark.requirement("RL-6", "RL-7", "RL-13")
def test_the_reviewing_agent_is_told_all_that_the_design_says(rounds: Rounds) -> None:
    rounds.to_review()
    block = call(rounds.repository.path, *words_of(rounds.last.runs()[0])).block
    text = " ".join(f"{block.findtext('task')} {block.findtext('rules')}".split())
    for said in (
        "experienced software architect", "refine the requirements", str(rounds.path(NEW)),
        f"in {rounds.codepath}", "A language model will implement them later", CURRENT, ORIGINAL,
        "put them in front of the file", "alone on its line", "compact specification",
        "Implement and build nothing", "No rewrite unless the user has asked for one explicitly",
        "so incoherent that nobody could use them", "constructive feedback",
        "offer in a few words to rewrite them", "keep no todo list", "under `## Out of scope`",
        "if the file has that section already, replace it", "If the code does some of it already",
    ):  # fmt: skip
        assert said in text, said


@pytest.mark.requirement("RL-6")
def test_a_rewrite_is_for_the_user_to_ask(rounds: Rounds) -> None:
    rounds.to_review()
    review = words_of(rounds.last.runs()[0])
    assert "No rewrite" in call(rounds.repository.path, *review).text
    rounds.follow("rewrite")
    assert "The user has asked for a rewrite" in call(rounds.repository.path, *review).text
    rounds.run("accept", "--no")
    rounds.run("refine")
    assert "No rewrite" in call(rounds.repository.path, *review).text


@pytest.mark.requirement("RL-6")
def test_a_user_who_says_no_is_not_greeted_anew(rounds: Rounds) -> None:
    rounds.to_prompt()
    assert "I will help you refine" in rounds.last.text
    rounds.to_accepted()
    text = rounds.follow("no").text
    assert "I will help you refine" not in text
    assert "say when I shall review it again" in text
    assert "word for word, below the line ORIGINAL USER REQUIREMENTS" in text


def after_review(text: str) -> dict[str, str]:
    return {
        "no heading": text + "\n- more\n",
        "heading within a line": f"the heading {CURRENT} is missing\n{text}",
        "heading from the last round only": text,
        "heading below the ignored part": f"{text}\n{CURRENT}\n\n- f adds two\n",
        "nothing changed": text,
    }


@pytest.mark.requirement("RL-6")
@pytest.mark.parametrize("case", after_review(""))
def test_a_review_that_left_nothing_to_implement_is_an_error(rounds: Rounds, case: str) -> None:
    old = case == "heading from the last round only"
    rounds.to_review(f"{CURRENT}\n\n- of the last round\n\n{ORIGINAL}\n- f" if old else WANTED)
    rounds.write(NEW, after_review(rounds.text(NEW))[case])
    before = rounds.text(NEW)
    answer = rounds.run("accept")
    assert answer.code == 1
    assert "retry: " in answer.problems[-1][1], answer.text  # said once, for all of them
    assert rounds.text(NEW) == before
    assert rounds.state == "refine"
    rounds.write_answer("summary.md", SUMMARY)
    assert rounds.run("implement", "--summary", "answers/summary.md").code == 1
    assert rounds.path(NEW).exists()


@pytest.mark.requirement("RL-6")
def test_nothing_is_implemented_before_the_user_was_asked(rounds: Rounds) -> None:
    rounds.to_review()
    rounds.review()
    rounds.write_answer("summary.md", SUMMARY)
    answer = rounds.run("implement", "--summary", "answers/summary.md")
    assert "has not read" in answer.problems[0][1]
    assert rounds.state == "refine"


@pytest.mark.requirement("RL-6")
def test_the_user_may_still_edit_what_they_have_read(rounds: Rounds) -> None:
    rounds.to_accepted()
    rounds.write(NEW, f"{CURRENT}\n- f adds four\n{ORIGINAL}\n- f adds two\n")
    rounds.write_answer("summary.md", SUMMARY)
    rounds.follow("yes")
    assert "- f adds four" in rounds.last.data("request")
    assert "- f adds two" not in rounds.last.data("request")


@pytest.mark.requirement("RL-11")
def test_quitting_a_review_is_a_persons_command_and_moves_no_file(rounds: Rounds) -> None:
    rounds.to_accepted()
    text = rounds.text(NEW)
    quits = rounds.follow("quit")
    assert words_of(quits.person())[0] == "cancel"
    assert call(rounds.repository.path, *words_of(quits.person())).code == 0
    assert rounds.text(NEW) == text
    refused = rounds.run("accept", "--no")
    assert "was left by the user" in refused.problems[0][1]
    again = call(rounds.repository.path, *words_of(way_out(refused.problems[0][1])))
    assert again.block.get("name") == "startup"


@pytest.mark.requirement("RL-6")
def test_a_review_done_alone_names_what_is_next(rounds: Rounds) -> None:
    rounds.to_review()
    alone = call(rounds.repository.path, *words_of(rounds.last.next("alone")))
    assert [n.get("on") for n in alone.block.iter("next")] == ["done", "rewrite", "unusable"]
    assert "tell the user" in alone.text
    name = "new_requirements.md"
    rounds.write(name, f"{CURRENT}\n\n- f adds two\n\n{rounds.text(name)}")
    rounds.last = alone
    assert rounds.follow("done").block.findtext("ask/question") == (
        "Are these requirements acceptable?"
    )


@pytest.mark.requirement("RL-6")
def test_an_agents_report_is_for_the_assistant_that_started_it(rounds: Rounds) -> None:
    rounds.to_review()
    block = call(rounds.repository.path, *words_of(rounds.last.runs()[0]))
    assert "report of at most 10 lines to the assistant that started you" in block.text
    assert block.block.find("next") is None
    assert "the file may hold that heading already" in block.text
    assert "is not a rewrite" in block.text


@pytest.mark.requirement("RL-6")
def test_a_new_review_finds_no_answers_of_the_round_before(rounds: Rounds) -> None:
    rounds.to_committed()
    folder = f"{rounds.state_dir}/answers"
    rounds.write_answer("commit.md", MESSAGE)
    assert {"summary.md", "commit.md"} <= set(os.listdir(folder))
    rounds.to_review("- f adds three\n")
    assert not {"summary.md", "commit.md"} & set(os.listdir(folder))


@pytest.mark.requirement("RL-6")
def test_reviewed_requirements_that_need_no_change_are_accepted_at_the_next_start(
    rounds: Rounds,
) -> None:
    rounds.to_accepted()
    rounds.start()
    rounds.follow("yes")
    shown = rounds.follow("done")
    assert "run `unchanged` instead of `done`" in (shown.block.findtext("task") or "")
    refused = rounds.run("accept")
    assert "--unchanged where it has found nothing to change" in refused.problems[0][1]
    rounds.last = shown
    assert rounds.follow("unchanged").block.find("ask") is not None
    rounds.write_answer("summary.md", SUMMARY)
    assert rounds.follow("yes").code == 0
    assert rounds.path("current_requirements.md").exists()


@pytest.mark.requirement("RL-6")
def test_nothing_is_unchanged_where_no_review_was(rounds: Rounds) -> None:
    shown = rounds.to_review()
    assert "unchanged" not in {one.get("on") for one in shown.block.iter("next")}
    assert rounds.run("accept", "--unchanged").code == 1
