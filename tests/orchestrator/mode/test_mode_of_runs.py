"""Planning mode around a run: what begins, submits, pauses and ends it (PM-1, PM-2, PM-8)."""

from __future__ import annotations

import json
import os
import sqlite3
from typing import TYPE_CHECKING

import pytest

from orchestrator.run.limits import settle
from shared.mode import sessions
from shared.run import State, open_state
from tests.journey import FILES, REQUEST, Journey, call, words_of
from tests.light_plans import Lightly

if TYPE_CHECKING:
    from collections.abc import Callable

    from state.database import Planning
    from tests.conftest import Repository

    Repositories = Callable[..., Repository]

# Commands that would take the run further.
WORKING = (
    ("plan", "add", "milestone", "--name", "Late"),
    ("plan", "capture"),
    ("plan", "done", "--phase", "plan-design"),
    ("context", "add-quote", "later"),
    ("tree", "rm", "src/a.py"),
)


@pytest.fixture
def journey(make_repo: Repositories) -> Journey:
    return Journey(make_repo(files=FILES))


def state_of(journey: Journey) -> State:
    """Open the run with the time limits stored that have passed."""
    state = open_state(journey.state_dir, os.sep)
    settle(state)
    return state


def agent_of(journey: Journey) -> str:
    return str(journey.repository.path.resolve())


def row_of(journey: Journey, agent: str | None = None) -> Planning:
    row = state_of(journey).database.planning(agent or agent_of(journey))
    assert row is not None
    return row


def mode_of(journey: Journey) -> tuple[str, str, str]:
    """Return the run's status and stage, and the stage of its agent."""
    run = state_of(journey).run
    return run.status, run.stage, row_of(journey).phase


def actions(journey: Journey) -> list[tuple[str, str, str]]:
    rows = state_of(journey).database.audit_rows(state_of(journey).run)
    moves = [r for r in rows if r["to_state"] and r["action"] not in ("review", "bind")]
    return [(r["action"], r["from_state"], r["to_state"]) for r in moves]


def wait(journey: Journey, seconds: int) -> None:
    """Let time pass."""
    Lightly(journey.repository).set_back(seconds)


class TestARun:
    @pytest.mark.requirement("PM-1", "PM-2", "PM-11")
    def test_goes_from_start_to_commit_through_the_stages_and_the_mode_ends(
        self, journey: Journey
    ) -> None:
        stages = (
            ("context", "gathering"), ("code", "gathering"), ("submitted", "submitted"),
            ("approved", "executing"), ("applied", "executing"), ("committed", "inactive"),
        )  # fmt: skip
        for point, stage in stages:
            journey.to(point)
            status = "COMPLETED" if point == "committed" else "ACTIVE"
            assert mode_of(journey) == (status, stage, stage)
            assert sessions.is_published(agent_of(journey)) == (stage != "inactive")
        assert "planning has ended" in journey.last.block.findtext("task", "")
        assert actions(journey) == [
            ("enter", "inactive", "gathering"),
            ("submit", "gathering", "submitted"),
            ("approve", "submitted", "executing"),
            ("finish", "executing", "inactive (completed)"),
        ]

    @pytest.mark.requirement("PM-2")
    def test_is_planned_by_the_session_that_starts_it_and_no_other(
        self, journey: Journey, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "s-1")
        journey.start()
        found = sessions.find("s-1", "/")
        assert found is not None
        assert (found.state_dir, found.repository) == (journey.state_dir, agent_of(journey))
        assert found.run_id == state_of(journey).run.run_id
        assert sessions.find("s-2", journey.repository.path.as_posix()) is None

    @pytest.mark.requirement("PM-1")
    def test_found_again_by_its_words_is_joined_by_who_starts_it_again(
        self, journey: Journey, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        journey.start()
        monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "s-2")
        assert journey.start().code == 0
        assert row_of(journey, "s-2").phase == row_of(journey).phase == "gathering"
        journey.to("submitted")
        assert row_of(journey, "s-2").phase == row_of(journey).phase == "submitted"
        assert row_of(journey, "s-2").digest == state_of(journey).run.digest

    @pytest.mark.requirement("PM-2", "PM-7")
    @pytest.mark.parametrize("verb", ["reject", "cancel"])
    def test_that_a_person_ends_keeps_its_plan_and_nothing_is_approved_any_more(
        self, journey: Journey, verb: str
    ) -> None:
        journey.to("submitted")
        digest = str(state_of(journey).run.digest)
        assert journey.planner("mode", "reject", "0" * 64).code == 1
        rejects = ("mode", "reject", digest, "--reason", "no")
        assert journey.planner(*(rejects if verb == "reject" else ("cancel",))).code == 0
        assert mode_of(journey) == ("CANCELLED", "inactive", "inactive")
        assert not sessions.is_published(agent_of(journey))
        assert os.path.isfile(f"{journey.state_dir}/plan.json")
        assert not os.path.exists(f"{journey.state_dir}/worktree")
        assert journey.planner("approve", digest).code == 1
        assert actions(journey)[-1] == (verb, "submitted", "inactive (cancelled)")

    @pytest.mark.requirement("PM-7")
    def test_that_is_revised_gathers_again_and_keeps_the_frozen_revision(
        self, journey: Journey
    ) -> None:
        journey.to("submitted")
        frozen = (journey.repository.path / journey.state_dir / "plan.json").read_bytes()
        journey.write_answers()
        journey.follow(journey.last.next("remarks"))
        assert mode_of(journey) == ("ACTIVE", "gathering", "gathering")
        assert (row_of(journey).revision, row_of(journey).digest) == (2, None)
        kept = journey.repository.path / journey.state_dir / "plan.r1.json"
        assert kept.read_bytes() == frozen

    @pytest.mark.requirement("PM-1")
    def test_changes_stage_status_rows_and_audit_together_or_not_at_all(
        self, journey: Journey
    ) -> None:
        journey.to("submitted")
        digest = str(state_of(journey).run.digest)
        path = f"{journey.repository.path}/.planner/planner.db"
        connection = sqlite3.connect(path)
        for table in ("planning_state", "audit"):
            verb = "INSERT" if table == "audit" else "UPDATE"
            does = "BEGIN SELECT RAISE(ABORT, 'x'); END"
            connection.execute(f"CREATE TRIGGER broken BEFORE {verb} ON {table} {does}")
            connection.commit()
            before = list(connection.iterdump())
            assert journey.planner("approve", digest).code == 1
            assert list(connection.iterdump()) == before
            connection.execute("DROP TRIGGER broken")
            connection.commit()
        connection.close()
        assert mode_of(journey) == ("ACTIVE", "submitted", "submitted")
        assert journey.planner("approve", digest).code == 0
        assert mode_of(journey) == ("ACTIVE", "executing", "executing")

    @pytest.mark.requirement("PM-1")
    def test_after_a_restart_goes_on_where_it_was(self, journey: Journey) -> None:
        journey.to("code")
        again = call("/", "step", "planner", "--state-dir", journey.state_dir)
        assert again.text == journey.last.text
        journey.to("submitted")
        again = call("/", "step", "executor", "--state-dir", journey.state_dir)
        assert again.text == journey.last.text
        assert words_of(again.person())[0] == "approve"
        found = sessions.find("", agent_of(journey))
        assert found is not None
        assert found.state_dir == journey.state_dir

    def test_says_where_no_hook_can_find_it(
        self, journey: Journey, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        journey.repository.write("file", "")
        journey.repository.commit()
        monkeypatch.setenv("XDG_STATE_HOME", str(journey.repository.path / "file"))
        begun = journey.start()
        assert begun.code == 0
        assert "cannot be written" in begun.data("guard")
        light = Lightly(journey.repository, "s-2").mode("enter")
        assert "cannot be written" in light.data("guard")


@pytest.mark.requirement("PM-8")
@pytest.mark.usefixtures("unprepared")
class TestATimeLimit:
    def test_of_an_answer_pauses_and_resume_returns_to_the_same_revision(
        self, journey: Journey
    ) -> None:
        journey.to("submitted")
        submitted, digest = journey.last.text, str(state_of(journey).run.digest)
        wait(journey, 1_795)
        assert journey.planner("step", "executor").text == submitted
        wait(journey, 10)
        late = journey.planner("approve", digest)
        assert (late.code, late.problems[0][0]) == (1, "refused")
        assert "nobody has answered for 30 minutes" in late.problems[0][1]
        assert mode_of(journey) == ("PAUSED", "submitted", "submitted")
        paused = journey.planner("step", "executor")
        assert paused.text == journey.planner("step", "executor").text
        assert "nobody has answered" in paused.data("why")
        assert sessions.is_published(agent_of(journey))
        assert journey.follow(paused.next("resume")).text == submitted
        assert journey.planner("approve", digest).code == 0
        assert mode_of(journey) == ("ACTIVE", "executing", "executing")

    def test_without_a_call_of_a_tool_pauses_what_is_gathered(self, journey: Journey) -> None:
        journey.to("design")
        wait(journey, 3_500)
        sessions.touch(agent_of(journey))
        assert mode_of(journey)[0] == "ACTIVE"
        wait(journey, 3_601)
        said = journey.planner("step", "planner")
        assert said.code == 0
        assert "no tool was called for 60 minutes" in said.data("why")
        assert mode_of(journey) == ("PAUSED", "gathering", "gathering")
        before = journey.last.text
        assert journey.follow(said.next("resume")).text == before

    def test_begins_anew_with_every_step_also_where_no_file_can_tell(
        self, journey: Journey, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        journey.to("context")
        monkeypatch.setenv("XDG_STATE_HOME", "/proc/none")
        wait(journey, 3_590)
        journey.to("design")
        wait(journey, 100)
        assert mode_of(journey)[0] == "ACTIVE"
        wait(journey, 3_600)
        assert mode_of(journey)[0] == "PAUSED"
        assert "no tool was called" in json.loads(journey.planner("status", "--json").text)["why"]

    def test_never_passes_while_an_approved_plan_is_carried_out(self, journey: Journey) -> None:
        journey.to("approved")
        wait(journey, 10**6)
        assert journey.planner("exec", "apply").code == 0

    @pytest.mark.parametrize("verb", ["approve", "reject"])
    def test_cancels_where_the_user_says_so(
        self, make_repo: Repositories, users_settings: Callable[[str], object], verb: str
    ) -> None:
        users_settings('[mode]\napproval_timeout_minutes = 5\non_timeout = "cancel"\n')
        journey = Journey(make_repo(files=FILES)).to("submitted")
        digest = str(state_of(journey).run.digest)
        wait(journey, 295)
        assert mode_of(journey)[0] == "ACTIVE"
        wait(journey, 10)
        journey.planner("mode", verb, digest)
        assert mode_of(journey) == ("CANCELLED", "inactive", "inactive")
        assert not os.path.exists(f"{journey.state_dir}/worktree")
        assert "approve" not in [action for action, *_ in actions(journey)]
        said = journey.planner("step", "executor")
        assert "nobody has answered for 5 minutes" in said.data("why")
        assert not sessions.is_published(agent_of(journey))

    @pytest.mark.parametrize(
        "setting",
        ["approval_timeout_minutes = 0", "gathering_timeout_minutes = 1.5", 'on_timeout = "go"',
         "on_timeout = true", "gathering_timeout_minutes = 99999999", "approval_minutes = 3"],
    )  # fmt: skip
    def test_that_is_none_is_refused(self, repo: Repository, setting: str) -> None:
        repo.commit({"planner.toml": f"[mode]\n{setting}\n"})
        for words in (("mode", "enter"), ("start", REQUEST)):
            answer = call(repo.path, *words)
            assert (answer.code, answer.problems[0][0]) == (1, "invalid")
            assert not (repo.path / ".planner").exists()


class TestPauseAndResume:
    @pytest.mark.parametrize("words", WORKING, ids=" ".join)
    def test_nothing_new_begins_while_a_run_is_paused(
        self, journey: Journey, words: tuple[str, ...]
    ) -> None:
        journey.to("design")
        assert journey.planner("pause").code == 0
        assert journey.planner("pause").code == 0
        plan = (journey.repository.path / journey.state_dir / "plan.json").read_bytes()
        answer = journey.planner(*words)
        assert (answer.code, answer.problems[0][0]) == (1, "refused")
        assert "resume" in answer.problems[0][1]
        assert (journey.repository.path / journey.state_dir / "plan.json").read_bytes() == plan

    def test_an_approved_plan_is_not_applied_while_it_is_paused(self, journey: Journey) -> None:
        journey.to("approved")
        journey.planner("pause")
        for words in (("exec", "apply"), ("exec", "commit"), ("plan", "revise")):
            assert journey.planner(*words).code == 1
        assert "+ 1" in (journey.repository.path / "src/a.py").read_text()
        journey.planner("resume")
        assert journey.planner("exec", "apply").code == 0

    @pytest.mark.requirement("PM-1")
    def test_a_new_session_takes_part_after_resume(
        self, journey: Journey, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        journey.to("submitted")
        journey.planner("pause")
        monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "s-2")
        resumed = journey.planner("resume")
        assert resumed.text == journey.last.text
        assert mode_of(journey) == ("ACTIVE", "submitted", "submitted")
        row = row_of(journey, "s-2")
        assert (row.phase, row.revision, row.paused_at) == ("submitted", 1, None)
        found = sessions.find("s-2", "/")
        assert found is not None
        assert found.state_dir == journey.state_dir

    @pytest.mark.requirement("PM-2", "PM-13")
    def test_joining_an_executing_run_does_not_end_the_reading_of_another_plan(
        self, journey: Journey, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        journey.to("approved")
        monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "s-2")
        other = Lightly(journey.repository, "s-2")
        other.mode("enter")
        for words in (("resume",), ("start", REQUEST)):
            answer = journey.planner(*words)
            assert (answer.code, answer.problems[0][0]) == (1, "refused")
            assert other.row.phase == "gathering"
        other.run("cancel")
        assert journey.planner("resume").code == 0
        assert row_of(journey, "s-2").phase == "executing"

    @pytest.mark.requirement("PM-2", "PM-13")
    @pytest.mark.parametrize("end", ["cancel", "committed"])
    def test_joining_a_run_that_has_ended_does_not_end_the_reading_either(
        self, journey: Journey, monkeypatch: pytest.MonkeyPatch, end: str
    ) -> None:
        if end == "cancel":
            journey.to("design").planner("cancel")
        else:
            journey.to(end)
        monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "s-2")
        other = Lightly(journey.repository, "s-2")
        other.mode("enter")
        answer = journey.planner("resume")
        assert (answer.code, answer.problems[0][0]) == (1, "conflict")
        assert other.row.phase == "gathering"
        assert sessions.is_published("s-2")

    @pytest.mark.requirement("PM-1")
    def test_a_session_plans_in_one_repository_at_a_time(
        self, make_repo: Repositories, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "s-1")
        one, other = Lightly(make_repo("one"), "s-1"), Lightly(make_repo("other"), "s-1")
        one.to("gathering")
        for words in (("mode", "enter"), ("start", REQUEST)):
            answer = call(other.repository.path, *words)
            assert (answer.code, answer.problems[0][0]) == (1, "conflict")
            assert f"(gathering), in {one.repository.path.resolve()}/" in answer.problems[0][1]
        found = sessions.find("s-1", "/")
        assert found is not None
        assert found.repository == str(one.repository.path.resolve())
        one.run("cancel")
        assert call(other.repository.path, "start", REQUEST).code == 0

    def test_where_nobody_plans_is_refused_with_what_begins(self, repo: Repository) -> None:
        for verb in ("pause", "resume"):
            answer = call(repo.path, verb)
            assert (answer.code, answer.problems[0][0]) == (1, "not_found")
            assert answer.problems[0][1].endswith("planner start")
