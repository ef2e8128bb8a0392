"""What agents report to have used, and the warnings before a limit (PC-12, PC-13)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.run.panel import panel, ticker
from shared.execution.costs import Cost, warning
from tests.shared.execution.scene import Scene, milestone

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.requirement(name) for name in ("PC-12", "PC-13")]


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    """Return a run of a milestone with a limit of 1,000 tokens, and one without."""
    made = Scene(tmp_path, [milestone(1, "a.py", max_tokens=1000), milestone(2, "b.py")])
    made.do("begin")
    return made


@pytest.mark.parametrize(
    ("tokens", "percent", "notes"),
    [(699, None, None), (700, 70, ""), (869, 86, ""),
     (950, 95, "compact the context, or split the milestone"),
     (2000, 200, "compact the context, or split the milestone")],
)  # fmt: skip
def test_a_warning_comes_at_70_85_and_95_percent(
    tokens: int, percent: int | None, notes: str | None
) -> None:
    found = warning(tokens, 1000)
    assert (found and found["percent"], found and found["notes"]) == (percent, notes)


def test_a_report_near_the_limit_is_an_event_and_stands_in_the_line(scene: Scene) -> None:
    scene.do("spend", "M-001", {"prompt_tokens": 800, "completion_tokens": 100})
    (told,) = scene.events("PlanResourceWarning")
    assert (told["step_id"], told["used"], told["limit"]) == ("M-001", 900, 1000)
    assert ticker(scene.state(), scene.view()).endswith(" · ⚠ M-001 used 90 % of its tokens")


@pytest.mark.parametrize(
    ("name", "stats"),
    [("M-001", {}), ("M-001", {"tool_calls": 3}), ("M-002", {"prompt_tokens": 10**9})],
)
def test_nothing_is_guessed_where_nothing_is_reported_or_limited(
    scene: Scene, name: str, stats: dict[str, Any]
) -> None:
    scene.do("spend", name, stats)
    assert scene.events("PlanResourceWarning") == []


def test_what_is_unknown_is_said() -> None:
    known = {"stats": {"prompt_tokens": 1200, "completion_tokens": 34, "tool_calls": 7}}
    assert Cost([]).text() == ""
    assert Cost([known]).text() == "1,234 tokens, 7 calls"
    assert Cost([{"stats": {}}]).text() == "tokens unknown"
    assert Cost([known, {"stats": {}}]).text() == "1,234 tokens, 7 calls, 2 agents, 1 of 2 unknown"


def test_costs_stand_behind_their_milestone(scene: Scene) -> None:
    state = scene.state()
    stats = {"prompt_tokens": 500, "tool_calls": 2}
    payload = {"plan_id": state.plan.plan_id, "subagent_step_id": "M-002", "stats": stats}
    with state.database as database:
        database.event(state.run, "SubAgentResult", payload)
    assert panel(scene.view())[-2:] == [
        "  · M-002 Part 2 · 500 tokens, 2 calls",
        "in all 500 tokens, 2 calls",
    ]
