"""What may become of a milestone, and what the events say of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from shared.execution.deeds import Execution
from shared.resources import plan_path
from state import execution
from state.execution import ACTIONS, STATUSES
from state.files import write_json
from state.rows import Progress
from state.shape import as_json
from tests.shared.execution.scene import OPTIONS, Scene, checkpoint, milestone
from tests.state.plans import refusal

if TYPE_CHECKING:
    from pathlib import Path

# Written from the seed's description, not from the table of the program.
POSSIBLE = {
    "start": {"PENDING"},
    "succeed": {"IN_PROGRESS"},
    "block": {"PENDING", "IN_PROGRESS"},
    "ask": {"PENDING", "IN_PROGRESS", "NEEDS_DECISION"},
    "time out": {"NEEDS_DECISION"},
    "decide": {"NEEDS_DECISION", "BLOCKED"},
    "retry": {"BLOCKED", "PENDING"},
    "hold off": {"IN_PROGRESS"},
    "recover": {"IN_PROGRESS"},
    "end": {"IN_PROGRESS"},
}
# How a refusal names a status.
NAMED = {
    "PENDING": "it is pending",
    "IN_PROGRESS": "it is in progress",
    "BLOCKED": "it is blocked",
    "NEEDS_DECISION": "it is waiting for a decision",
    "COMPLETED": "it is completed",
}
QUESTION = {"question": "Delete the old table?", "options": OPTIONS}


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    """Return a run of three: M-002 follows M-001 and asks CP-001, M-003 shares a.py with M-001."""
    made = Scene(
        tmp_path,
        [milestone(1, "a.py"), milestone(2, "b.py", "1", waits_for=["CP-001"]),
         milestone(3, "a.py")],
        [checkpoint(1, multi=True)], max_parallel_steps=3,
    )  # fmt: skip
    made.do("begin")
    return made


def refused(scene: Scene, deed: str, *arguments: object) -> tuple[str, str]:
    """Return what a deed is refused with, and what is allowed instead; nothing has changed."""
    before = (scene.statuses(), scene.events())
    (problem,) = refusal(scene.do, deed, *arguments)
    assert (scene.statuses(), scene.events()) == before
    return problem.problem, problem.allowed


@pytest.mark.requirement("PC-2")
class TestAMilestone:
    def test_has_one_of_five_statuses_and_every_action_leads_to_one(self) -> None:
        assert {status for _, status in ACTIONS.values()} == set(STATUSES)
        assert all(set(taken) <= set(STATUSES) for taken, _ in ACTIONS.values())

    @pytest.mark.parametrize("action", sorted(ACTIONS))
    @pytest.mark.parametrize("status", STATUSES)
    def test_refuses_each_action_that_the_table_does_not_list(
        self, status: str, action: str
    ) -> None:
        row = Progress("M-001", status=status, waits=("CP-001",))
        values: dict[str, Any] = {"waits": ["CP-002"]} if action == "ask" else {}
        if status in POSSIBLE[action]:
            assert execution.after(row, action, **values).status in STATUSES
        else:
            (problem,) = refusal(lambda: execution.after(row, action, **values))
            assert problem.problem.startswith(f"{NAMED[status]}, so it cannot ")
            assert (problem.kind, problem.at) == ("conflict", "M-001")
            assert problem.retry == "planner status"

    def test_that_fails_is_blocked_with_its_reason_until_it_is_retried_and_done(
        self, scene: Scene
    ) -> None:
        scene.do("start", "M-001", "agent-1")
        scene.do("block", "M-001", "the import is missing")
        assert scene.view().summary().blocked == {"M-001": "the import is missing"}
        scene.do("retry", "M-001")
        scene.do("retry", "M-001")
        row = scene.view().progress["M-001"]
        assert (row.status, row.note) == ("PENDING", "the import is missing")
        scene.do("start", "M-001", "agent-2")
        scene.do("succeed", "M-001")
        row = scene.view().progress["M-001"]
        assert (row.status, row.note, row.attempts, row.agent) == ("COMPLETED", "", 2, "")

    def test_deeds_that_are_repeated_change_nothing(self, scene: Scene) -> None:
        for deed in (
            ("begin",), ("start", "M-001", "agent-1"), ("block", "M-001", "no"), ("retry", "M-001"),
            ("start", "M-001"), ("succeed", "M-001"), ("decide", "CP-001", ["jwt"]),
        ):  # fmt: skip
            scene.do(*deed)
            before = scene.events()
            scene.do(*deed)
            assert scene.events() == before, deed

    def test_that_a_revision_adds_or_drops_is_stored_and_the_others_stay(
        self, scene: Scene
    ) -> None:
        scene.do("start", "M-001")
        scene.do("succeed", "M-001")
        plan = as_json(scene.state().plan)
        plan["milestones"][2] |= {"id": "M-004", "files": ["d.py"]}
        write_json(plan_path(scene.state_dir), plan)
        scene.do("begin")
        stored = scene.state().database.progress(scene.state().run)
        assert {name: row.status for name, row in stored.items()} == {
            "M-001": "COMPLETED", "M-002": "NEEDS_DECISION", "M-004": "PENDING"
        }  # fmt: skip

    def test_that_is_unknown_is_refused_with_the_known_ones(self, scene: Scene) -> None:
        for deed in (("start", "M-9"), ("succeed", "M-9"), ("block", "M-9", "x"), ("retry", "M-9")):
            assert refused(scene, *deed)[1] == "M-001, M-002, M-003"

    def test_that_cannot_start_says_why_and_what_can(self, scene: Scene) -> None:
        scene.do("start", "M-001")
        text, can = refused(scene, "start", "M-003")
        assert "shares a.py with M-001, which comes first" in text
        assert can == "nothing can start now"
        assert "needs the decision CP-001" in refused(scene, "start", "M-002")[0]

    def test_that_is_not_blocked_is_not_retried(self, scene: Scene) -> None:
        scene.do("start", "M-001")
        text, can = refused(scene, "retry", "M-001")
        assert "only a blocked milestone is tried again" in text
        assert can == "no milestone is blocked"


@pytest.mark.requirement("PC-7")
class TestADecision:
    def test_unblocks_what_waited_for_it(self, scene: Scene) -> None:
        assert [c.id for c in scene.view().open_checkpoints()] == ["CP-001"]
        scene.do("decide", "CP-001", ["jwt", "session"])
        assert scene.statuses()["M-002"] == "PENDING"
        assert scene.view().answers_for("M-002") == {"CP-001": ["jwt", "session"]}
        assert scene.view().open_checkpoints() == []

    def test_must_be_one_of_the_options(self, scene: Scene) -> None:
        text, options = refused(scene, "decide", "CP-001", ["jwt", "oauth"])
        assert "is not an answer to CP-001" in text
        assert options == "one or more, joined by commas of jwt, session"
        assert refused(scene, "decide", "CP-7", ["jwt"])[1] == "CP-001"

    def test_of_one_option_takes_only_one(self, scene: Scene) -> None:
        scene.do("start", "M-001")
        (asked,) = scene.do("ask", "M-001", [QUESTION])
        assert refused(scene, "decide", asked, ["jwt", "session"])[1] == "one of jwt, session"

    def test_may_be_changed_until_somebody_has_gone_on_with_it(self, scene: Scene) -> None:
        scene.do("decide", "CP-001", ["jwt"])
        scene.do("decide", "CP-001", ["session"])
        scene.do("start", "M-001")
        scene.do("succeed", "M-001")
        scene.do("start", "M-002")
        assert "M-002 has gone on with that" in refused(scene, "decide", "CP-001", ["jwt"])[0]

    def test_that_an_agent_asks_for_stops_it_and_is_asked_once(self, scene: Scene) -> None:
        scene.do("start", "M-001", "agent-1")
        assert scene.do("ask", "M-001", [QUESTION]) == ["CP-002"]
        assert scene.do("ask", "M-001", [QUESTION]) == ["CP-002"]
        row = scene.view().progress["M-001"]
        assert (row.status, row.waits, row.agent) == ("NEEDS_DECISION", ("CP-002",), "")
        scene.do("decide", "CP-002", ["session"])
        assert scene.statuses()["M-001"] == "PENDING"
        assert scene.view().answers_for("M-001") == {"CP-002": ["session"]}


@pytest.mark.requirement("PC-7")
class TestATimeLimit:
    @pytest.fixture
    def scene(self, tmp_path: Path) -> Scene:
        made = Scene(
            tmp_path, [milestone(1, "a.py", waits_for=["CP-001"])], [checkpoint(1)],
            decision_timeout_seconds=60,
        )  # fmt: skip
        made.do("begin")
        return made

    def test_that_passes_blocks_and_chooses_nothing(self, scene: Scene) -> None:
        scene.time_passes()
        assert scene.view().summary().blocked == {"M-001": "decision timed out: CP-001"}
        assert scene.view().answers == {}
        assert scene.events("PlanStepUpdate") == [], "reading has stored it"
        scene.settle()
        (told,) = scene.events("PlanStepUpdate")
        assert (told["old_status"], told["new_status"]) == ("NEEDS_DECISION", "BLOCKED")
        scene.settle()
        assert len(scene.events("PlanStepUpdate")) == 1

    def test_does_not_keep_the_decision_from_being_made(self, scene: Scene) -> None:
        scene.time_passes()
        scene.settle()
        scene.do("decide", "CP-001", ["jwt"])
        row = scene.view().progress["M-001"]
        assert (row.status, row.note) == ("PENDING", "")

    def test_counts_anew_after_a_retry(self, scene: Scene) -> None:
        scene.time_passes()
        scene.settle()
        scene.do("retry", "M-001")
        assert scene.statuses() == {"M-001": "NEEDS_DECISION"}

    def test_does_not_pass_while_the_run_is_paused_and_counts_anew_after(
        self, scene: Scene
    ) -> None:
        scene.move("pause")
        scene.time_passes()
        assert scene.statuses() == {"M-001": "NEEDS_DECISION"}
        scene.move("resume")
        assert scene.statuses() == {"M-001": "NEEDS_DECISION"}

    def test_of_zero_is_none(self, tmp_path: Path) -> None:
        scene = Scene(tmp_path / "x", [milestone(1, "a", waits_for=["CP-001"])], [checkpoint(1)])
        scene.do("begin")
        scene.time_passes()
        assert scene.statuses() == {"M-001": "NEEDS_DECISION"}


@pytest.mark.requirement("PC-8", "PC-9")
class TestARun:
    def test_that_is_paused_starts_nothing_and_lets_agents_end(self, scene: Scene) -> None:
        scene.do("start", "M-001")
        scene.move("pause")
        assert scene.view().runnable() == []
        scene.do("succeed", "M-001")
        text, way = refused(scene, "start", "M-003")
        assert "paused" in text
        assert way == "resume it first"
        scene.move("resume")
        assert scene.view().runnable() == ["M-003"]

    def test_that_is_cancelled_says_what_was_left_and_changes_no_more(self, scene: Scene) -> None:
        scene.do("start", "M-001")
        scene.do("succeed", "M-001")
        scene.do("start", "M-003")
        scene.move("cancel")
        (told,) = scene.events("PlanCompleted")
        assert told["final_status"] == "CANCELLED"
        assert (told["summary"]["done"], told["summary"]["total"]) == (1, 3)
        assert told["summary"]["blocked"] == [{"id": "M-003", "why": execution.ENDED}]
        for deed in (("succeed", "M-003"), ("retry", "M-003"), ("decide", "CP-001", ["jwt"])):
            assert "the run is cancelled" in refused(scene, *deed)[0]

    def test_tracks_failures_one_by_one(self, tmp_path: Path) -> None:
        several = [milestone(n, f"{n}.py") for n in (1, 2, 3)]
        scene = Scene(tmp_path / "three", several, max_parallel_steps=3)
        scene.do("begin")
        for number in (1, 2, 3):
            scene.do("start", f"M-00{number}")
        scene.do("block", "M-001", "no disk")
        scene.do("block", "M-003", "no network")
        scene.do("retry", "M-003")
        assert scene.view().summary().blocked == {"M-001": "no disk"}
        assert scene.statuses()["M-002"] == "IN_PROGRESS"

    def test_that_crashed_sets_what_was_in_progress_back(self, scene: Scene) -> None:
        scene.do("start", "M-001", "agent-1")
        assert scene.do("recover") == ["M-001"]
        row = scene.view().progress["M-001"]
        assert (row.status, row.attempts, row.agent) == ("PENDING", 1, "")


@pytest.mark.requirement("PC-12")
def test_events_have_the_payloads_of_the_seed(scene: Scene) -> None:
    scene.do("start", "M-001")
    scene.do("block", "M-001", "no disk")
    scene.do("retry", "M-001")
    scene.do("start", "M-001")
    scene.do("block", "M-001", "no disk")
    scene.do("decide", "CP-001", ["jwt"])
    (started,) = scene.events("PlanStarted")
    assert started["goal"] == "Parse dates"
    assert [step["id"] for step in started["steps"]] == ["M-001", "M-002", "M-003"]
    updates = [
        (e["step_id"], e["old_status"], e["new_status"], e["notes"])
        for e in scene.events("PlanStepUpdate")
    ]
    assert updates == [
        ("M-001", "PENDING", "IN_PROGRESS", ""), ("M-001", "IN_PROGRESS", "BLOCKED", "no disk"),
        # Of a failure before, its own event tells.
        ("M-001", "BLOCKED", "PENDING", ""), ("M-001", "PENDING", "IN_PROGRESS", ""),
        ("M-001", "IN_PROGRESS", "BLOCKED", "no disk"),
        ("M-002", "NEEDS_DECISION", "PENDING", ""),
    ]  # fmt: skip
    asked, decided = scene.events("PlanDecision")
    assert (asked["decision_id"], asked["question"]) == ("CP-001", "Which way, 1?")
    assert [o["key"] for o in asked["options"]] == ["jwt", "session"]
    assert decided["selections"] == ["jwt"]


@pytest.mark.requirement("PC-12")
def test_an_event_comes_with_its_change_or_not_at_all(scene: Scene) -> None:
    state, before = scene.state(), scene.events()

    def fail() -> None:
        with state.database:
            Execution(state).start("M-001")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert (scene.events(), scene.statuses()["M-001"]) == (before, "PENDING")


@pytest.mark.requirement("PC-4")
def test_of_a_thousand_milestones_as_many_run_at_once_as_may(tmp_path: Path) -> None:
    many = [
        milestone(n, f"src/{n % 700}.py tests/{n}.py", str(n - 40) if n > 40 else "")
        for n in range(1, 1001)
    ]  # fmt: skip
    scene = Scene(tmp_path / "many", many, max_parallel_steps=8)
    scene.do("begin")
    assert len(scene.view().runnable()) == 8
