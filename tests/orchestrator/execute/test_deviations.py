"""Files that differ from the plan while agents write: reported, accepted, refused (PL-28)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from orchestrator.execute.reconcile import accept_deviation, deviate
from shared.run import open_state
from tests.shared.execution.scene import Scene, milestone
from tests.state.plans import refusal

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.requirement("PL-28")


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path, [milestone(1, "a.py"), milestone(2, "b.py")])


def rows(scene: Scene) -> list[tuple[str, str, str]]:
    state = scene.state()
    return [(r.file, r.milestone, r.reason) for r in state.database.deviations_of(state.run)]


def told(scene: Scene) -> list[tuple[str, str]]:
    state = scene.state()
    return [(r["action"], r["detail"]) for r in state.database.audit_rows(state.run)]


def test_a_report_is_stored_with_its_milestone_and_reason(scene: Scene) -> None:
    deviate(scene.state(), "M-001", "notes.md", "a note")
    deviate(scene.state(), "M-002", "more.md", "one more")
    assert rows(scene) == [("notes.md", "M-001", "a note"), ("more.md", "M-002", "one more")]
    assert told(scene) == [("deviate", "notes.md: a note"), ("deviate", "more.md: one more")]
    state = scene.state()
    assert state.database.deviations(state.run) == {"notes.md": False, "more.md": False}


def test_the_same_report_again_stores_nothing_and_another_replaces_it(scene: Scene) -> None:
    deviate(scene.state(), "M-001", "notes.md", "a note")
    accept_deviation(scene.state(), "notes.md", "fine")
    deviate(scene.state(), "M-001", "notes.md", "a note")
    state = scene.state()
    assert state.database.deviations(state.run) == {"notes.md": True}
    assert [action for action, _ in told(scene)] == ["deviate", "accept deviation"]
    deviate(scene.state(), "M-001", "notes.md", "another reason")
    assert state.database.deviations(state.run) == {"notes.md": False}
    deviate(scene.state(), "M-002", "notes.md", "another reason")
    assert rows(scene) == [("notes.md", "M-002", "another reason")]


def test_what_is_accepted_becomes_an_intent_of_the_milestone_that_reported_it(
    scene: Scene,
) -> None:
    deviate(scene.state(), "M-002", "notes.md", "says why")
    accept_deviation(scene.state(), "notes.md", "fine")
    accept_deviation(scene.state(), "notes.md", "fine")
    first, second = scene.state().plan.milestones
    assert (first.files, second.files) == (("a.py",), ("b.py", "notes.md"))
    assert [(i.file, i.behavior) for i in second.code_intents] == [("notes.md", "says why")]


def test_what_cannot_be_a_report_is_refused_and_stored_nowhere(scene: Scene) -> None:
    for arguments, at, said in (
        (("M-009", "a.md", "why"), "M-009", "the plan has no such milestone"),
        (("M-001", "/a.md", "why"), "--file", ""),
        (("M-001", "../a.md", "why"), "--file", ""),
        (("M-001", "a.md", " \n"), "--reason", "the reason is empty"),
    ):
        [problem] = refusal(deviate, scene.state(), *arguments)
        assert problem.at == at
        assert said in problem.problem
    [problem] = refusal(accept_deviation, scene.state(), "a.md", "fine")
    assert problem.problem == "a.md is not reported as a deviation"
    assert problem.allowed == "no file is reported"
    deviate(scene.state(), "M-001", "b.md", "why")
    assert refusal(accept_deviation, scene.state(), "a.md", "fine")[0].allowed == "b.md"
    assert [file for file, _, _ in rows(scene)] == ["b.md"]


def test_a_run_that_is_paused_takes_no_report(scene: Scene) -> None:
    scene.move("pause")
    assert refusal(deviate, scene.state(), "M-001", "a.md", "why")
    assert open_state(scene.state_dir, "/").run.status == "PAUSED"
    assert rows(scene) == []
