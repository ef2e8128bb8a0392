"""A command that names no run means the session's, else the only one under way (SD-8)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.journey import FILES, Journey, call, words_of
from tests.requirement_rounds import Rounds
from tests.strategies import Choice, plan

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

    Repositories = Callable[..., Repository]

ONE, OTHER = "Parse ISO dates", "Drop Python 3.8"


@pytest.mark.requirement("SD-8")
def test_requirements_between_two_rounds_are_never_the_run_that_is_meant(
    make_repo: Repositories,
) -> None:
    rounds = Rounds(make_repo(files=FILES))
    rounds.to_committed()
    assert "Committed as" in rounds.call("status").data("status")
    refused = rounds.call("cancel")
    assert refused.code == 1
    assert "the run is completed as commit" in refused.problems[0][1]
    begun = rounds.call("start", ONE)
    for shown in (rounds.call("status"), rounds.call("step", "strategy")):
        assert shown.data("request") == ONE
    assert rounds.call("status", "--line").text.startswith(f"{ONE} · ")
    ended = rounds.call("cancel")
    assert ended.data("cancelled").startswith(f"The run “{ONE}” is cancelled.")
    assert rounds.planner("step", "requirements").name == "new-requirements"
    assert begun.state_dir != rounds.state_dir


@pytest.mark.requirement("SD-8")
def test_several_runs_are_told_apart_by_request_and_step(make_repo: Repositories) -> None:
    repo = make_repo(files=FILES)
    first, second = (call(repo.path, "start", words) for words in (ONE, OTHER))
    listed = call(repo.path, "status")
    assert listed.code == 0
    assert listed.data("under way").split("\n") == [
        f"“{words}”: Deciding whether to plan – waits for the assistant "
        f"(--state-dir {begun.state_dir})"
        for words, begun in ((ONE, first), (OTHER, second))
    ]
    rows = json.loads(call(repo.path, "status", "--json").text)["under_way"]
    assert [row["request"] for row in rows] == [ONE, OTHER]
    assert call(repo.path, "status", "--line").text == "2 plans under way\n"
    for words in (("cancel",), ("step", "strategy")):
        refused = call(repo.path, *words)
        assert refused.code == 1
        assert (
            f"“{OTHER}”, strategy step 2: --state-dir {second.state_dir}" in refused.problems[0][1]
        )
        assert refused.problems[0][1].endswith("bin/planner status")
    one = call(repo.path, "status", "--state-dir", first.state_dir)
    assert one.data("also under way").startswith(f"“{OTHER}”: ")


@pytest.mark.requirement("SD-8", "PC-16")
def test_of_several_runs_the_line_says_how_many_wait_for_the_user(
    make_repo: Repositories,
) -> None:
    choice = Choice(make_repo(files=FILES), request=ONE)
    call(choice.repository.path, "start", OTHER)
    choice.choose(plan("clarify", clarification_question="Which dates?") | {"goals": []})
    line = choice.call("status", "--line").text
    assert line == "2 plans under way · 1 waits for you\n"
    rows = json.loads(choice.call("status", "--json").text)["under_way"]
    assert {row["request"]: row["waits_for_person"] for row in rows} == {ONE: True, OTHER: False}


@pytest.mark.requirement("SD-8")
def test_a_sessions_own_run_is_meant_before_those_of_others(
    make_repo: Repositories, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = make_repo(files=FILES)
    runs = {}
    for session in (ONE, OTHER):
        monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", session)
        runs[session] = Journey(repo, session).to("context")
    for session, run in runs.items():
        monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", session)
        assert run.call("status").data("request") == session
        assert run.call("step", "planner").state_dir == run.state_dir
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "a third")
    assert ONE in call(repo.path, "pause").problems[0][1]
    assert OTHER in call(repo.path, "plan", "show").problems[0][1]


@pytest.mark.requirement("SD-8", "PM-2")
def test_other_words_in_a_session_that_plans_begin_a_run_only_on_the_users_yes(
    make_repo: Repositories,
) -> None:
    repo = make_repo(files=FILES)
    run = Journey(repo, ONE).to("context")
    asked = run.call("start", OTHER, "--review", "none", "--alone")
    assert asked.code == 0
    assert f"“{ONE}”, planner step 2" in asked.data("planned")
    assert [option.get("value") for option in asked.block.iter("option")] == ["go on", "beside"]
    assert run.call("status").data("also under way") == ""
    assert run.call(*words_of(asked.next("go on"))).state_dir == run.state_dir
    beside = run.call(*words_of(asked.next("beside")))
    assert beside.state_dir != run.state_dir
    shown = json.loads(run.call("status", "--json", "--state-dir", beside.state_dir).text)
    assert shown["request"] == OTHER
    assert shown["others"][0]["request"] == ONE
    assert run.call("start", ONE).state_dir == run.state_dir


@pytest.mark.requirement("SD-8", "PM-2")
def test_a_light_plan_is_not_lost_to_a_start_of_other_words(make_repo: Repositories) -> None:
    repo = make_repo(files=FILES)
    call(repo.path, "mode", "enter", ONE)
    asked = call(repo.path, "start", OTHER)
    assert asked.data("planned").startswith(f"“{ONE}”")
    assert call(repo.path, *words_of(asked.next("go on"))).data("task") == ONE


@pytest.mark.requirement("SD-8", "PM-2")
@pytest.mark.parametrize(
    "words",
    [
        ("queue", "next"),
        ("start", "--planning", "--alone", "--codepath", "."),
        ("step", "planner", "1", "--request", OTHER),
    ],
    ids=["queue", "requirements", "step"],
)
def test_whatever_begins_beside_what_the_session_plans_asks_first(
    make_repo: Repositories, words: tuple[str, ...]
) -> None:
    repo = make_repo(files=FILES)
    run = Journey(repo, ONE).to("context")
    run.call("queue", "add", OTHER)
    asked = run.call(*words)
    assert asked.code == 0, asked.text
    assert f"“{ONE}”, planner step 2" in asked.data("planned")
    assert [option.get("value") for option in asked.block.iter("option")] == ["go on", "beside"]
    assert not (repo.path / "planning").exists(), "nothing was begun"
    assert run.call("status").data("also under way") == ""
    assert run.call(*words_of(asked.next("go on"))).state_dir == run.state_dir
    beside = run.call(*words_of(asked.next("beside")))
    assert beside.code == 0, beside.text
    assert beside.state_dir not in {"", run.state_dir}


@pytest.mark.requirement("SD-8", "PM-2")
def test_a_light_plan_is_not_lost_to_the_queue_either(make_repo: Repositories) -> None:
    repo = make_repo(files=FILES)
    call(repo.path, "queue", "add", OTHER)
    call(repo.path, "mode", "enter", ONE, "--agent", "s-1")
    asked = call(repo.path, "queue", "next", "--agent", "s-1")
    assert asked.data("planned").startswith(f"“{ONE}”")
    assert call(repo.path, *words_of(asked.next("go on"))).data("task") == ONE
    assert OTHER in call(repo.path, *words_of(asked.next("beside"))).text


@pytest.mark.requirement("SD-8")
def test_the_queue_asks_before_the_session_joins_a_run_that_nobody_works_on(
    make_repo: Repositories,
) -> None:
    repo = make_repo(files=FILES)
    run = Journey(repo, ONE).to("context")
    call(repo.path, "queue", "add", OTHER)
    # Begun by hand, and worked on by nobody yet.
    other = call(repo.path, *words_of(run.call("start", OTHER).next("beside")))
    asked = call(repo.path, "queue", "next")
    assert f"“{ONE}”" in asked.data("planned")
    assert call(repo.path, *words_of(asked.next("beside"))).state_dir == other.state_dir


@pytest.mark.requirement("SD-8", "RL-3")
def test_requirements_that_the_session_works_on_begin_again_without_a_question(
    make_repo: Repositories,
) -> None:
    rounds = Rounds(make_repo(files=FILES))
    rounds.to_review()
    again = rounds.start()
    assert again.block.get("workflow") == "requirements", again.text
    rounds = Rounds(make_repo("planned", files=FILES))
    rounds.to_plan()
    again = rounds.start()
    assert again.block.get("workflow") == "requirements", again.text


@pytest.mark.requirement("SD-8", "PM-2")
def test_a_start_beside_keeps_the_state_directory_that_was_named(
    make_repo: Repositories,
) -> None:
    repo = make_repo(files=FILES)
    run = Journey(repo, ONE).to("context")
    home = repo.path / ".planner" / "runs" / "mine"
    asked = run.call("start", OTHER, "--state-dir", str(home))
    assert run.call(*words_of(asked.next("beside"))).state_dir == str(home)
