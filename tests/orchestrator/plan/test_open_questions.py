"""While a question is open, its host asks and does nothing else (SD-2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.journey import FILES, LAUNCHER, Answer, Journey, passing, way_out, words_of
from tests.larger_tasks import larger
from tests.orchestrator.execute.waves import (
    NEW,
    hand_in,
    intents,
    milestone_agent,
    opened,
    writing,
)
from tests.orchestrator.plan.test_context import as_host, ask, question

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

    Repositories = Callable[..., Repository]


def asks(block: Answer) -> list[str | None]:
    """Return the ids of the questions that a block asks."""
    return [one.get("id") for one in block.block.iter("ask")]


@pytest.fixture
def coding(make_repo: Repositories) -> Journey:
    """Return a run whose host writes the code itself."""
    return Journey(make_repo(files=FILES)).to("code")


@pytest.mark.requirement("SD-2")
def test_the_phase_does_not_end_and_its_step_asks_first(coding: Journey) -> None:
    done = words_of(coding.last.next("done"))
    coding.do_the_work()
    assert ask(coding, [question()], "developer").code == 0
    refused = coding.call(*done)
    [(kind, text)] = refused.problems
    assert (kind, 'at="CP-001"' in refused.text) == ("refused", True)
    assert "the question is not answered: Which name?" in text
    assert "a (Way a), b (Way b)" in text
    assert f"ask the user, then `{LAUNCHER} decide CP-001 KEY" in text
    retry = words_of(way_out(text))
    assert retry[:1] == ["step"]
    assert asks(coding.call(*retry)) == ["CP-001"]
    assert asks(as_host(coding)) == ["CP-001"]
    coding.follow(coding.last.next("CP-001 b"))
    assert coding.to("submitted").last.code == 0


def test_what_an_option_means_is_read_by_who_chooses(coding: Journey) -> None:
    options = [
        {"key": "a", "label": "Way a", "description": "g stays"},
        {"key": "b", "label": "Way b"},
    ]
    assert ask(coding, [{"question": "Which?", "options": options}], "developer").code == 0
    asked = {o.get("value"): o.text for o in as_host(coding).block.iter("option")}
    assert asked == {"a": "Way a – g stays", "b": "Way b"}


@pytest.mark.requirement("SD-2")
def test_a_review_does_not_end_either(make_repo: Repositories) -> None:
    """Answers of reviewers are stored; the gate waits for the user."""
    journey = larger(make_repo, "repo", (1,), {})
    journey.review = "full"
    journey.to("code review")
    assert ask(journey, [question()], "developer").code == 0
    reviewing = [words_of(run) for run in journey.last.runs()]
    assert asks(as_host(journey)) == ["CP-001"]
    for words in reviewing:
        block = journey.call(*words)
        journey.write_answer(block.reads(), passing(block))
        assert journey.call(*words_of(block.next("done"))).code == 0
    waiting = as_host(journey)
    assert (waiting.block.get("name"), asks(waiting)) == ("plan-code-qr-gate", ["CP-001"])
    gate = journey.planner("qr", "gate", "--phase", "plan-code", "--verdict", "pass")
    assert "the question is not answered" in gate.problems[0][1]


@pytest.mark.requirement("SD-2")
@pytest.mark.parametrize("depth", ["full", "intent"])
def test_a_question_in_the_design_is_stored_and_asked(make_repo: Repositories, depth: str) -> None:
    journey = intents(make_repo) if depth == "intent" else larger(make_repo, "repo", (1,), {})
    if depth == "full":
        journey.review = "small"
        journey.start()
    journey.to("design")
    options = question()["options"]
    fields = {"question": "Which name?", "options": options}
    journey.answers["design.json"].append({"op": "add", "kind": "checkpoint", "fields": fields})
    journey.confirm()
    for command in journey.last.runs():
        said = journey.be_agent(command)
        assert "CP-001 wait for the user" in said.text
    if not journey.agents:
        journey.do_the_work()
        journey.follow(journey.last.next("done"))
    assert asks(as_host(journey)) == ["CP-001"]
    status = journey.planner("status").data("status")
    assert status.splitlines()[0].endswith("waits for you")
    again = journey.follow(journey.last.next("CP-001 a"))
    assert again.block.get("name") == "plan-design-execute"
    assert journey.to("submitted").last.data("summary").count("Which name?") == 1
    if depth == "intent":
        refused = journey.to("writing").planner("decide", "CP-001", "b")
        assert "the approved intents rest on it" in refused.problems[0][1]


@pytest.mark.requirement("SD-2", "PL-9")
def test_a_writer_asks_while_approved_intents_are_documented(make_repo: Repositories) -> None:
    journey = writing(make_repo, ((),))
    assert hand_in(journey, "M-001", {"src/m1_1.py": NEW}).code == 0
    asked = ask(journey, [question()], "technical-writer")
    assert asked.code == 0, asked.text
    journey.last = journey.planner("step", "executor")
    assert asks(journey.last) == ["CP-001"]
    assert journey.planner("status").data("open questions").startswith("CP-001 Which name?")
    assert "is not answered" in journey.planner("exec", "next").problems[0][1]
    assert journey.follow(journey.last.next("CP-001 a")).code == 0
    assert journey.to("submitted").last.code == 0


@pytest.mark.requirement("SD-2", "SD-3")
def test_what_is_asked_once_all_is_written_is_asked_before_it_is_submitted(
    make_repo: Repositories,
) -> None:
    journey = writing(make_repo, ((),))
    journey.holds_freeze = True
    while journey.last.name != "freeze":
        journey.advance()
    assert ask(journey, [question()], "developer").code == 0
    assert asks(as_host(journey)) == ["CP-001"]
    journey.holds_freeze = False
    journey.follow(journey.last.next("CP-001 a"))
    assert journey.last.name == "impl-execute", "who writes the code reads the answer"
    assert "Which name?" in journey.call(*words_of(journey.last.runs()[0])).text
    version = next(c for c in opened(journey).plan.checkpoints if c.id == "CP-001").version
    stated = ("--version", str(version), "--outcome", "declined: the name is public")
    assert journey.planner("plan", "set", "CP-001", *stated).code == 0
    assert journey.to("submitted").last.code == 0


@pytest.mark.requirement("SD-2", "SD-3")
def test_what_a_milestone_waits_for_may_be_answered_in_words_left_or_withdrawn(
    make_repo: Repositories,
) -> None:
    journey = writing(make_repo, ((),))
    task = milestone_agent(journey, "M-001")
    journey.write_answer("questions-M-001.json", [question()])
    assert journey.call(*words_of(task.next("question"))).code == 0
    journey.last = journey.planner("exec", "next")
    asked = " ".join(journey.last.block.findtext("task", "").split())
    assert "--you-decide" in asked
    assert "--withdraw" in asked
    journey.write_answer(journey.last.reads("CP-001 other"), "As it was.")
    journey.follow(journey.last.next("CP-001 other"))
    journey.last = journey.planner("exec", "next")
    answers = milestone_agent(journey, "M-001").data("answers")
    assert answers == "CP-001 Which name? → As it was."


@pytest.mark.requirement("SD-2", "PC-7")
def test_a_time_limit_counts_once_the_question_was_printed(make_repo: Repositories) -> None:
    journey = writing(make_repo)
    state = opened(journey)
    task = journey.planner("step", "exec-implement", "--milestone", "M-001")
    journey.write_answer("questions-M-001.json", [question()])
    assert journey.call(*words_of(task.next("question"))).code == 0
    assert state.database.checkpoints(state.run)["CP-001"].asked_at == ""
    assert asks(journey.planner("exec", "next")) == ["CP-001"]
    assert state.database.checkpoints(state.run)["CP-001"].asked_at


@pytest.mark.requirement("SD-2")
def test_who_writes_alone_is_told_what_other_milestones_wait_for(make_repo: Repositories) -> None:
    journey = intents(make_repo)
    edits: list[dict[str, Any]] = journey.answers["design.json"]
    edits.insert(2, {"op": "add", "kind": "checkpoint", "as": "$cp", "fields": question()})
    next(e for e in edits if e.get("as") == "$m2")["fields"]["waits_for"] = ["$cp"]
    journey.to("approved")
    state = opened(journey)
    with state.database as database:
        database.set_run(state.run.run_id, alone=1)
    journey.follow(journey.last.next())
    assert journey.last.worktree() is not None
    assert asks(journey.last) == ["CP-001"]
    journey.write_answer("CP-001.md", "Both, one after the other.")
    words = ("decide", "CP-001", "--file", "answers/CP-001.md")
    answered = journey.planner(*words)
    assert answered.data("free to run") == "M-002", answered.text
