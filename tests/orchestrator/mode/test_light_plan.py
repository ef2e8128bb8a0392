"""A light plan: entered, submitted, remarked on, approved, tracked, paused, rejected."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

import pytest

from orchestrator.mode import light_plan
from orchestrator.mode.lookup import Mode, own_mode
from orchestrator.mode.render import NOT_ASKED, render_mode
from shared.mode import sessions
from shared.mode.where import Target
from shared.resources import sessions_path
from state.errors import Refused
from state.light import DONE, STARTED
from tests.journey import FILES, Journey, call, parsed
from tests.light_plans import PLAN, Lightly
from tests.shared.guard.client import Client

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.conftest import Repository

    Repositories = Callable[..., Repository]


def mode_in(repo: Repository) -> Mode:
    return own_mode(Target(str(repo.path)), time.time()).settle()


def submit(repo: Repository, plan: object = PLAN) -> Mode:
    repo.write(".planner/answers/light.json", json.dumps(plan))
    found = mode_in(repo)
    light_plan.submit(found, "answers/light.json")
    return found


@pytest.mark.requirement("PM-2")
def test_entering_twice_changes_nothing_and_says_so(repo: Repository) -> None:
    target = Target(str(repo.path))
    first = light_plan.enter(target, "Move to ISO dates", None, time.time())
    assert (first.stage, first.note) == ("gathering", "")
    again = light_plan.enter(target, "Something else", None, time.time())
    assert "plans already" in again.note
    assert again.row is not None
    assert again.row.task_description == "Move to ISO dates"


@pytest.mark.requirement("PM-6")
def test_the_same_plan_again_is_the_same_revision_and_another_is_the_next(
    repo: Repository,
) -> None:
    Lightly(repo).to("gathering")
    first = submit(repo)
    again = submit(repo)
    assert (first.stage, first.revision) == ("submitted", 1)
    assert (again.revision, again.digest) == (1, first.digest)
    other = submit(repo, {**PLAN, "summary": "Move the exporter to ISO dates."})
    assert other.revision == 2
    assert other.digest != first.digest


@pytest.mark.requirement("PM-7")
def test_only_the_digest_that_was_submitted_is_approved_or_rejected(repo: Repository) -> None:
    Lightly(repo).to("submitted")
    with pytest.raises(Refused, match="nothing is approved"):
        light_plan.approve(Target(str(repo.path)), "0" * 64, time.time())
    with pytest.raises(Refused, match="nothing is rejected"):
        light_plan.reject(mode_in(repo), "0" * 64, "")
    found = mode_in(repo)
    approved = light_plan.approve(Target(str(repo.path)), found.digest or "", time.time())
    assert isinstance(approved, Mode)
    assert approved.stage == "executing"


@pytest.mark.requirement("PM-7")
def test_remarks_send_a_plan_back_to_gathering_and_empty_ones_do_not(repo: Repository) -> None:
    Lightly(repo).to("submitted")
    found = mode_in(repo)
    with pytest.raises(Refused, match="the remarks are empty"):
        light_plan.remark(found, " ")
    assert mode_in(repo).stage == "submitted"
    light_plan.remark(found, "Keep the old name.")
    assert found.stage == "gathering"
    assert found.remarks == ["Keep the old name."]
    shown = parsed(render_mode(found))
    assert "as `remarks` say" in (shown.findtext("task") or "")
    assert {d.get("name"): d.text for d in shown.iter("data")} | {
        "reason": "several files",
        "remarks": "1. Keep the old name.",
    } == {d.get("name"): d.text for d in shown.iter("data")}


@pytest.mark.requirement("PM-11")
def test_the_last_step_that_is_done_ends_the_mode(repo: Repository) -> None:
    Lightly(repo).to("executing")
    found = mode_in(repo)
    light_plan.track(found, 1, STARTED)
    assert [step["status"] for step in (found.plan or {})["steps"]] == [STARTED, "pending"]
    light_plan.track(found, 1, DONE)
    light_plan.track(found, 2, DONE)
    assert found.stage == "inactive"
    light_plan.track(found, 2, DONE)
    with pytest.raises(Refused, match="the plan has no step 3"):
        light_plan.track(found, 3, DONE)


def test_a_light_plan_pauses_and_goes_on_too(repo: Repository) -> None:
    lightly = Lightly(repo).to("executing")
    assert lightly.run("pause").code == 0
    assert lightly.status()["paused"] is True
    refused = lightly.run("mode", "step", "1", "done")
    assert (refused.code, refused.problems[0][0]) == (1, "refused")
    assert lightly.run("resume").code == 0
    assert lightly.mode("step", "1", "done").code == 0


@pytest.mark.requirement("PM-1", "PM-3")
def test_a_session_that_resumes_the_plan_of_another_is_read_only_too(
    make_repo: Repositories, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository = make_repo()
    first = Lightly(repository, "one").to("gathering")
    write = {"file_path": "a.py", "content": ""}
    first_client, second = Client(repository.path, "one"), Client(repository.path, "two")
    assert second.asks("Write", **write) == {}
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "two")
    assert call(repository.path, "resume").code == 0
    assert second.denial("Write", **write)
    assert first_client.denial("Write", **write)
    assert second.asks("Read", file_path="README.md") == {}
    status = json.loads(call(repository.path, "mode", "status", "--json").text)
    assert (status["agent"], status["stage"]) == ("one", "gathering")
    first.submit()
    assert "(submitted)" in second.denial("Write", **write)
    first.run("cancel")
    assert second.asks("Write", **write) == {}
    assert not sessions.is_anyone_there()


@pytest.mark.requirement("PM-1", "PM-3")
def test_a_session_that_hooks_could_not_find_does_not_join_a_plan(
    make_repo: Repositories, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    repository = make_repo()
    Lightly(repository, "one").to("gathering")
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "two")
    with monkeypatch.context() as broken:
        (tmp_path / "a file").write_text("in the way of the folder\n")
        broken.setenv("XDG_STATE_HOME", str(tmp_path / "a file"))
        answer = call(repository.path, "resume")
        ((kind, text),) = answer.problems
        assert (answer.code, kind) == (1, "refused")
        assert sessions_path() in text
        assert "would not keep this session read-only" in text
    assert call(repository.path, "resume").code == 0


@pytest.mark.requirement("PM-8")
def test_calls_of_a_session_that_resumed_count_against_the_time_limit(
    make_repo: Repositories, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository = make_repo()
    first = Lightly(repository, "one").to("gathering")
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "two")
    assert call(repository.path, "resume").code == 0
    first.set_back(3_000)
    before = sessions.last_call("one")
    Client(repository.path, "two").asks("Read", file_path="README.md")
    assert sessions.last_call("one") > before


def test_a_person_who_resumes_binds_no_session(make_repo: Repositories) -> None:
    repository = make_repo()
    Lightly(repository, "one").to("gathering").mode("status")
    assert call(repository.path, "pause").code == 0
    assert call(repository.path, "resume").code == 0
    assert Client(repository.path, "two").asks("Write", file_path="a.py", content="") == {}


def test_the_status_says_guarded_only_after_a_hook_has_run(make_repo: Repositories) -> None:
    repository = make_repo()
    lightly = Lightly(repository, "one").to("gathering")
    assert lightly.status()["guarded"] is False
    Client(repository.path, "one").asks("Read", file_path="README.md")
    assert lightly.status()["guarded"] is True
    lightly.run("cancel")
    assert lightly.status()["guarded"] is False


@pytest.mark.requirement("PP-7")
def test_a_light_plan_has_no_base_to_sign_for(repo: Repository) -> None:
    lightly = Lightly(repo).to("submitted")
    digest = lightly.status()["digest"]
    answer = call(repo.path, "approve", digest, "--sign", "--key", "id_sk")
    assert answer.problems[0][0] == "conflict", answer.text
    assert "approve it without a signature" in answer.text
    lightly.run("approve", digest)
    assert lightly.status()["stage"] == "executing"


@pytest.mark.requirement("SD-3")
def test_a_question_that_was_asked_stays_until_it_is_answered_or_withdrawn(
    make_repo: Repositories,
) -> None:
    lightly = Lightly(make_repo())
    lightly.mode("enter", "Move to ISO dates", "--reason", "several files")
    asked = "Are old files converted?"
    assert lightly.submit({**PLAN, "questions": [asked]}).code == 0
    refused = lightly.submit({**PLAN, "questions": []})
    assert refused.code == 1
    assert f"a question that you have asked is missing: {asked}" in refused.problems[0][1]
    gone = {"question": asked, "withdrawn": "There are none."}
    again = lightly.submit({**PLAN, "questions": [gone]})
    assert f"- {asked} → withdrawn: There are none." in again.text
    assert lightly.submit({**PLAN, "questions": []}).code == 0
    assert lightly.submit({**PLAN, "questions": [{"question": asked}]}).code == 1


@pytest.mark.requirement("SD-2")
def test_an_answer_to_what_was_never_asked_is_told(make_repo: Repositories) -> None:
    lightly = Lightly(make_repo())
    lightly.mode("enter", "Move to ISO dates", "--reason", "several files")
    first = lightly.submit()
    assert f"- Is 1904 a year here? → Yes. ({NOT_ASKED})" in first.text
    digest = lightly.status()["digest"]
    assert lightly.submit().text == first.text
    assert lightly.status()["digest"] == digest
    open_one = {**PLAN, "questions": [*PLAN["questions"], "Are old files converted?"]}
    assert lightly.submit(open_one).code == 0
    closed = {"question": "Are old files converted?", "answer": "No."}
    again = lightly.submit({**PLAN, "questions": [*PLAN["questions"], closed]}).text
    assert "- Are old files converted? → No.\n" in again
    assert f"- Is 1904 a year here? → Yes. ({NOT_ASKED})" in again


@pytest.mark.requirement("SD-2")
def test_a_plan_that_asks_is_approved_once_it_has_the_answer(make_repo: Repositories) -> None:
    lightly = Lightly(make_repo())
    lightly.mode("enter", "Move to ISO dates", "--reason", "several files")
    asked = "Is 1904 a year here?"
    submitted = lightly.submit({**PLAN, "questions": [asked]})
    assert "ask them its questions" in submitted.text
    assert "approve" not in submitted.text.partition("<person>")[2]
    refused = lightly.run("approve", lightly.status()["digest"])
    assert refused.code == 1
    assert f"the question is not answered: {asked}" in refused.problems[0][1]
    again = lightly.submit()
    assert f"- {asked} → Yes." in again.text
    assert lightly.run("approve", lightly.status()["digest"]).code == 0


@pytest.mark.parametrize("before", [False, True])
def test_status_tells_of_a_light_plan_where_no_run_is_under_way(
    make_repo: Repositories, *, before: bool
) -> None:
    repo = make_repo("project", FILES)
    if before:
        assert Journey(repo).to("design").planner("cancel").code == 0
    light = Lightly(repo).to("submitted")
    told = call(repo.path, "status")
    assert told.code == 0, told.text
    assert told.text == light.run("mode", "status").text
    assert json.loads(call(repo.path, "status", "--json").text)["stage"] == "submitted"
