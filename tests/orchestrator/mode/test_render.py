"""What planning mode says of itself at each stage, and the command that follows (PM-6)."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.mode.lookup import Mode
from orchestrator.mode.render import render_light, render_mode, status_of
from state.clock import now
from state.database import Database
from tests.journey import Answer, words_of

if TYPE_CHECKING:
    from pathlib import Path
    from xml.etree import ElementTree as ET

pytestmark = pytest.mark.requirement("PM-6")

LIMITS: dict[str, Any] = {
    "gathering_timeout_s": 3_600, "approval_timeout_s": 1_800, "on_timeout": "pause",
}  # fmt: skip
DIGEST = "d" * 64


def step(name: str, risk: str = "low", status: str = "pending", *tools: str) -> dict[str, Any]:
    return {"description": name, "tools": [*tools], "risk": risk, "status": status}


def light(*steps: dict[str, Any], questions: list[Any] | None = None) -> dict[str, Any]:
    return {
        "summary": "Move to ISO dates", "steps": [*steps], "questions": questions or [],
        "context_notes": "",
    }  # fmt: skip


PLAN = light(step("parse"), step("rewrite", "high"))


def mode(folder: Path, plan: dict[str, Any] | None = None, **row: object) -> Mode:
    """Return the mode of an agent that plans in a folder, as its row in the database has it."""
    (folder / ".planner").mkdir()
    database = Database(str(folder / ".planner" / "planner.db"), create=True)
    database.agent = "a session"
    given = {
        "phase": "gathering", "task_description": "Move to ISO dates", "reason": "several files",
        "gathering_start": now(), "plan_json": plan and json.dumps(plan), **LIMITS, **row,
    }  # fmt: skip
    with database:
        database.set_planning("a session", **given)
    return Mode(database, "a session", time.time(), None)


def shown(found: Mode) -> tuple[ET.Element, list[str], list[str]]:
    """Return the block, its next commands each after its outcome, and those of the person."""
    block = Answer(0, render_mode(found), "").block
    following = [f"{n.get('on')}: {_words(n)}" for n in block.iter("next")]
    return block, following, [_words(p) for p in block.iter("person")]


def _words(element: ET.Element) -> str:
    words = words_of(element.text or "")
    return " ".join(words[: words.index("--agent")])


def test_while_it_gathers_the_light_plan_is_written_and_submitted(tmp_path: Path) -> None:
    block, following, person = shown(mode(tmp_path))
    assert following == ["done: mode submit --file answers/light.json"]
    assert person == []
    assert f"{tmp_path}/.planner/answers/light.json" in (block.findtext("task") or "")
    data = {d.get("name"): d.text for d in block.iter("data")}
    assert (data["task"], data["reason"]) == ("Move to ISO dates", "several files")
    assert {"guard", "shell"} <= {*data}
    assert "plan" not in data
    assert (block.get("stage"), block.get("agent")) == ("gathering", "a session")


def test_a_submitted_plan_waits_for_its_person_and_takes_remarks(tmp_path: Path) -> None:
    row = {"phase": "submitted", "digest": DIGEST, "revision": 2, "submitted_at": now()}
    block, following, person = shown(mode(tmp_path, PLAN, **row))
    assert following == ["remarks: mode submit --file answers/light.json"]
    assert person == [f"approve {DIGEST}", f"mode reject {DIGEST}"]
    assert "2" in (block.findtext("task") or "")
    assert block.get("digest") == DIGEST


def test_a_plan_with_an_open_question_cannot_be_approved_yet(tmp_path: Path) -> None:
    row = {"phase": "submitted", "digest": DIGEST, "revision": 1, "submitted_at": now()}
    plan = light(step("parse"), questions=["Is 1904 a year?"])
    block, following, person = shown(mode(tmp_path, plan, **row))
    assert following == ["remarks: mode submit --file answers/light.json"]
    assert person == [f"mode reject {DIGEST}"]
    assert "- Is 1904 a year?" in block.findall("data")[-1].itertext().__next__()


@pytest.mark.parametrize(
    ("first", "second", "command"),
    [
        ("pending", "pending", "step 1 start: mode step 1 start"),
        ("started", "pending", "step 1 done: mode step 1 done"),
        ("done", "pending", "step 2 start: mode step 2 start"),
        ("done", "started", "step 2 done: mode step 2 done"),
    ],
)
def test_an_approved_plan_names_the_first_step_that_is_not_done(
    first: str, second: str, command: str, tmp_path: Path
) -> None:
    plan = light(step("parse", "low", first), step("rewrite", "high", second))
    row = {"phase": "executing", "approved_at": now(), "approved_by": "user"}
    assert shown(mode(tmp_path, plan, **row))[1:] == ([command], [])


def test_a_paused_mode_is_resumed_and_nothing_else(tmp_path: Path) -> None:
    found = mode(tmp_path, PLAN, phase="submitted", digest=DIGEST, paused_at=now())
    block, following, person = shown(found)
    assert (following, person) == (["resume: resume"], [])
    assert status_of(found)["paused"] is True
    assert "paused" in (block.get("stage") or "")


def test_nobody_plans_where_the_mode_is_inactive(tmp_path: Path) -> None:
    found = mode(tmp_path, phase="inactive")
    block, following, person = shown(found)
    assert (following, person, [*block.iter("data")]) == ([], [], [])
    status = status_of(found)
    assert status["stage"] == "inactive"
    assert not any(status[name] for name in ("task", "reason", "remarks", "guarded", "shell"))
    assert Mode(found.database, "nobody", time.time(), None).stage == "inactive"


def test_a_passed_limit_is_said_before_anything_is_stored(tmp_path: Path) -> None:
    found = mode(tmp_path, gathering_start="2000-01-01T00:00:00Z")
    block, following, _ = shown(found)
    assert following == ["resume: resume"]
    assert "Planning is paused by its time limit" in (block.findtext("task") or "")
    assert found.halted
    assert found.database.planning("a session").paused_at is None  # type: ignore[union-attr]
    found.settle()
    assert found.database.planning("a session").paused_at  # type: ignore[union-attr]


def test_the_status_as_json_has_what_the_row_has(tmp_path: Path) -> None:
    row = {"phase": "executing", "approved_at": "2026-01-02T03:04:05Z", "approved_by": "user",
           "digest": DIGEST, "revision": 3}  # fmt: skip
    status = status_of(mode(tmp_path, PLAN, **row))
    expected = {
        "agent": "a session", "stage": "executing", "paused": False, "revision": 3,
        "digest": DIGEST, "task": "Move to ISO dates", "reason": "several files",
        "approved_at": "2026-01-02T03:04:05Z", "approved_by": "user", "plan": PLAN, "run": None,
        "state_dir": None, "remarks": [], "submitted_at": None, "said": None, "shell": None,
    }  # fmt: skip
    assert {name: status[name] for name in expected} == expected


def test_what_was_said_since_the_mode_was_entered_are_the_remarks(tmp_path: Path) -> None:
    found = mode(tmp_path)
    with found.database as database:
        for action, detail in [
            ("enter", ""), ("revise", "old"), ("enter", ""), ("revise", "UTC"), ("pause", "p"),
            ("revise", "no 1904"),
        ]:  # fmt: skip
            database.audit(None, "user", action, detail=detail, agent="a session")
        database.audit(None, "user", "revise", detail="another's", agent="another")
    assert found.remarks == ["UTC", "no 1904"]
    block, _, _ = shown(found)
    [remarks] = [d.text for d in block.iter("data") if d.get("name") == "remarks"]
    assert remarks == "1. UTC\n2. no 1904"


def test_a_light_plan_is_text_with_risks_tools_and_marks() -> None:
    plan = light(
        step("parse", "low", "done", "Edit", "Bash"), step("rewrite", "medium", "started"),
        step("ship", "high"), questions=["Open?", {"question": "Is it?", "answer": "Yes"}],
    )  # fmt: skip
    plan["context_notes"] = "One caller."
    assert render_light(plan).splitlines() == [
        "Plan: Move to ISO dates", "",
        "1. 🟢 low: parse (tools: Edit, Bash) ✓ done",
        "2. 🟡 medium: rewrite ← in progress",
        "3. 🔴 high: ship", "",
        "Questions:", "- Open?", "- Is it? → Yes", "",
        "Found: One caller.",
    ]  # fmt: skip
