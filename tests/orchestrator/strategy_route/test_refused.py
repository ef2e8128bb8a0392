"""What a strategy refuses of what it is given, and once its run has gone on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.journey import FILES, Answer, call
from tests.strategies import TEMPLATES, Choice, goal, plan
from tests.ways_out import ways_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

    Repositories = Callable[..., Repository]

pytestmark = pytest.mark.requirement("ST-7")


def refused(answer: Answer, kind: str, *said: str) -> None:
    """Assert that a command was refused once, with these words."""
    assert answer.text.startswith("<error"), answer.text
    ((found, text),) = answer.problems
    assert found == kind, answer.text
    assert all(word in text for word in said), answer.text


def context(choice: Choice, *words: str) -> Answer:
    return choice.planner("strategy", "context", *words)


@pytest.mark.parametrize(
    ("value", "allowed"),
    [([], 'not an object · allowed: {"gathered"'), ({"progress": []}, 'empty · allowed: [{"goal"')],
)
def test_context_that_is_no_object_or_holds_no_progress_is_refused_with_its_form(
    make_repo: Repositories, value: object, allowed: str
) -> None:
    choice = Choice(make_repo(files=FILES), "--chat")
    choice.start()
    choice.write_answer("context.json", value)
    refused(context(choice, "--file", "answers/context.json"), "invalid", allowed)
    choice.choose(plan("synthesis"))
    assert choice.answers().code == 0


def test_an_answer_that_is_empty_or_too_long_is_refused_and_another_is_taken(
    make_repo: Repositories,
) -> None:
    choice = Choice(make_repo(files=FILES), "--chat")
    choice.choose(plan("synthesis"))
    refused(choice.answers(" \n"), "invalid", "the file is empty", "write the text into it")
    refused(choice.answers("a" * 100_001), "invalid", "at most 100000", "write a shorter one")
    assert choice.answers().code == 0
    assert choice.name == "validation"


def test_a_verdict_that_is_no_object_or_names_no_file_is_refused_with_its_form(
    make_repo: Repositories,
) -> None:
    choice = Choice(make_repo(files=FILES), "--chat")
    choice.choose(plan("synthesis"))
    choice.answers()
    retry = ("strategy", "verdict", "RETRY", "--file", "answers/verdict.json")
    choice.write_answer("verdict.json", ["no"])
    refused(choice.planner(*retry), "invalid", "this is a list, not an object")
    answer = choice.planner("strategy", "verdict", "RETRY")
    refused(answer, "usage", "RETRY says why, in a file")
    choice.write_answer("verdict.json", {"reason": "r", "instruction": "i"})
    (way,) = ways_of(answer)
    assert call(choice.repository.path, *way).code == 0


def test_a_plan_that_is_not_there_yet_is_refused_with_the_step_that_is_due(
    make_repo: Repositories,
) -> None:
    choice = Choice(make_repo(files=FILES), "--chat")
    choice.start()
    answer = choice.planner("strategy", "show")
    refused(answer, "not_found", "no strategic plan is set yet")
    (way,) = ways_of(answer)
    assert call(choice.repository.path, *way).block.get("workflow") == "strategy"


def test_once_the_run_plans_or_has_ended_its_strategy_stays_with_the_way_on(
    make_repo: Repositories,
) -> None:
    choice = Choice(make_repo("code", files=FILES))
    choice.choose(TEMPLATES["9.3 code task"][1])
    choice.write_answer("context.json", {"user_purpose": "another"})
    answer = context(choice, "--file", "answers/context.json")
    refused(answer, "conflict", "the strategy is chosen; the run is at planner")
    (way,) = ways_of(answer)
    assert call(choice.repository.path, *way).block.get("workflow") == "planner"

    ended = Choice(make_repo("chat", files=FILES), "--chat")
    ended.choose(plan("synthesis", goal(1, "f adds two", None)))
    assert ended.planner("cancel").code == 0
    ended.write_answer("context.json", {"user_purpose": "another"})
    answer = context(ended, "--file", "answers/context.json")
    refused(answer, "conflict", "the run is cancelled", "start a new run")
    (way,) = ways_of(answer)
    assert call(ended.repository.path, *way).code == 0
