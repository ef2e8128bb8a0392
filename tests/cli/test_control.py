"""The commands that steer a run, as a host or a person types them."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest

from tests.journey import Answer, call, words_of
from tests.shared.execution.scene import Scene, checkpoint, milestone

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    """Return a run of three milestones; M-002 needs CP-001, M-003 follows M-001."""
    made = Scene(
        tmp_path,
        [milestone(1, "a.py"), milestone(2, "b.py", waits_for=["CP-001"]),
         milestone(3, "c.py", "1")],
        [checkpoint(1)], max_parallel_steps=2,
    )  # fmt: skip
    made.do("begin")
    return made


def planner(scene: Scene, *argv: str) -> Answer:
    return call(os.sep, *argv, "--state-dir", scene.state_dir)


def told(scene: Scene, *argv: str) -> Any:  # noqa: ANN401 – any JSON
    answer = planner(scene, *argv)
    assert answer.code == 0, answer.text
    return json.loads(answer.text)


@pytest.mark.requirement("PC-1", "PC-7")
class TestDecide:
    def test_stores_the_choice_and_says_what_is_free_to_run(self, scene: Scene) -> None:
        answer = planner(scene, "decide", "CP-001", "jwt")
        assert (answer.code, answer.data("stored")) == (0, "CP-001: jwt")
        assert answer.data("free to run") == "M-002"
        assert planner(scene, "decide", "CP-001", "jwt").code == 0, "repeated"

    def test_refuses_an_unknown_id_or_choice_with_the_valid_ones(self, scene: Scene) -> None:
        for argv, valid in ((("CP-9", "jwt"), "CP-001"), (("CP-001", "oauth"), "jwt, session")):
            answer = planner(scene, "decide", *argv)
            assert answer.code == 1
            assert valid in answer.problems[0][1]
        assert scene.view().answers == {}

    def test_works_after_the_time_limit(self, tmp_path: Path) -> None:
        scene = Scene(
            tmp_path / "late", [milestone(1, "a", waits_for=["CP-001"])], [checkpoint(1)],
            decision_timeout_seconds=60,
        )  # fmt: skip
        scene.do("begin")
        scene.time_passes()
        status = told(scene, "status", "--json")
        assert status["milestones"][0]["why"] == "decision timed out: CP-001"
        assert [c["id"] for c in status["checkpoints"]] == ["CP-001"]
        assert planner(scene, "decide", "CP-001", "session").code == 0
        assert scene.view().runnable() == ["M-001"]
        assert [e["new_status"] for e in scene.events("PlanStepUpdate")] == ["BLOCKED", "PENDING"]


@pytest.mark.requirement("PC-1", "PC-8")
class TestRetry:
    def test_takes_a_blocked_milestone_and_one_that_is_pending_again(self, scene: Scene) -> None:
        scene.do("start", "M-001")
        scene.do("block", "M-001", "no disk")
        for _ in range(2):
            answer = planner(scene, "retry", "M-001")
            assert (answer.code, answer.data("stored")) == (0, "M-001: PENDING")

    def test_refuses_others_with_those_that_are_blocked(self, scene: Scene) -> None:
        scene.do("start", "M-001")
        assert "no milestone is blocked" in planner(scene, "retry", "M-001").problems[0][1]
        assert "M-001, M-002, M-003" in planner(scene, "retry", "M-7").problems[0][1]


@pytest.mark.requirement("PC-4")
class TestRunnable:
    def test_status_names_what_can_start_and_why_the_rest_waits(self, scene: Scene) -> None:
        status = told(scene, "status", "--json")
        assert (status["runnable"], status["most"]) == (["M-001"], 2)
        assert {m["id"]: m["why"] for m in status["milestones"]} == {
            "M-001": "", "M-002": "needs the decision CP-001",
            "M-003": "waits for M-001 (PENDING)",
        }  # fmt: skip

    def test_names_nothing_while_the_run_is_paused(self, scene: Scene) -> None:
        assert planner(scene, "pause").code == 0
        assert told(scene, "status", "--json")["runnable"] == []
        assert planner(scene, "resume").code == 0
        assert told(scene, "status", "--json")["runnable"] == ["M-001"]


@pytest.mark.requirement("PC-16")
class TestStatus:
    def test_shows_the_waves_with_badges_reasons_and_what_to_type(self, scene: Scene) -> None:
        for name in ("M-001",):
            scene.do("start", name)
            scene.do("succeed", name)
        scene.do("start", "M-003", "agent-7")
        answer = planner(scene, "status")
        assert answer.data("status").splitlines()[-4:] == [
            "[█████░░░░░░░░░░] 1/3", "  ✓ M-001 Part 1",
            "  ? M-002 Part 2 · needs the decision CP-001",
            "  ▶ M-003 Part 3 · agent agent-7",
        ]  # fmt: skip
        assert "CP-001 Login: Which way, 1? – one of jwt (Tokens)" in answer.data("open questions")
        assert call(os.sep, *words_of(answer.next("CP-001 jwt"))).code == 0

    def test_prints_a_retry_that_works(self, scene: Scene) -> None:
        scene.do("start", "M-001")
        scene.do("block", "M-001", "no disk")
        answer = planner(scene, "status")
        assert "✗ M-001 Part 1 · no disk" in answer.data("status")
        assert call(os.sep, *words_of(answer.next("M-001 retry"))).code == 0
        assert "M-001 Part 1 · failed before: no disk" in planner(scene, "status").data("status")

    def test_in_one_line_has_goal_progress_questions_agents_and_warnings(
        self, scene: Scene
    ) -> None:
        scene.do("start", "M-001")
        assert planner(scene, "status", "--line").text == (
            "Parse dates · Writing the code · 0/3 · 1 decision · 1 agent\n"
        )
        scene.do("block", "M-001", "no disk")
        assert planner(scene, "status", "--line").text.endswith(" · ⚠ 1 blocked\n")

    def test_in_one_line_is_empty_where_there_is_no_run(self, tmp_path: Path) -> None:
        answer = call(tmp_path, "status", "--line")
        assert (answer.code, answer.text) == (0, "\n")

    def test_is_not_watched_without_a_terminal(self, scene: Scene) -> None:
        answer = planner(scene, "status", "--watch")
        assert (answer.code, answer.problems[0][0]) == (2, "usage")


@pytest.mark.requirement("PC-12")
class TestEvents:
    def test_are_one_json_object_per_line_and_go_on_after_a_number(self, scene: Scene) -> None:
        scene.do("start", "M-001")
        rows = [json.loads(x) for x in planner(scene, "events", "--json").text.splitlines()]
        assert [r["event"] for r in rows] == ["PlanStarted", "PlanDecision", "PlanStepUpdate"]
        assert rows[-1]["step_id"] == "M-001"
        later = planner(scene, "events", "--json", "--after", str(rows[1]["seq"])).text
        assert json.loads(later) == rows[-1]

    def test_that_are_followed_end_with_the_run_or_the_time(self, scene: Scene) -> None:
        answer = planner(scene, "events", "--follow", "--json", "--seconds", "0")
        assert len(answer.text.splitlines()) == 2
        scene.move("cancel")
        answer = planner(scene, "events", "--follow", "--json", "--seconds", "600")
        assert json.loads(answer.text.splitlines()[-1])["final_status"] == "CANCELLED"

    def test_are_not_followed_where_nobody_could_end_it(self, scene: Scene) -> None:
        answer = planner(scene, "events", "--follow")
        assert (answer.code, answer.problems[0][0]) == (2, "usage")

    def test_are_exported_with_all_that_is_remembered(self, scene: Scene) -> None:
        planner(scene, "decide", "CP-001", "jwt")
        log = told(scene, "export")
        assert log["answers"] == {"CP-001": ["jwt"]}
        assert [e["event"] for e in log["events"]][-1] == "PlanStepUpdate"
        assert [r["action"] for r in log["audit"]] == ["decide"]
        text = planner(scene, "export", "--format", "markdown").text
        assert text.startswith("# Parse dates\n")
        assert "- CP-001: jwt\n" in text
        assert "M-002 NEEDS_DECISION → PENDING" in text


@pytest.mark.requirement("PC-8", "PC-9")
def test_cancel_keeps_plan_and_log_and_sums_up(scene: Scene) -> None:
    scene.do("start", "M-001")
    scene.do("block", "M-001", "no disk")
    answer = planner(scene, "cancel")
    assert answer.code == 0
    assert "0 of 3 milestones are done" in answer.data("cancelled")
    assert "M-001: no disk" in answer.data("cancelled")
    assert os.path.exists(f"{scene.state_dir}/plan.json")
    assert told(scene, "status", "--json")["progress"]["done"] == 0
