"""The figures of a repository, counted from a database made by hand (PC-15)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.upkeep.stats import costs_by_depth, render_depths, render_stats, stats_of
from state.database import Database

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.requirement("PC-15")

NONE: dict[str, Any] = {"agents": 0, "tokens": 0, "calls": 0, "unknown": 0, "seconds": 0}


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    with Database(str(tmp_path / "planner.db"), create=True) as made:
        yield made


def add(
    database: Database, name: str, depth: str, minutes: int, tokens: int | None = None,
    status: str = "COMPLETED",
) -> None:  # fmt: skip
    """Add a run that was committed so many minutes after it began, with what its agent reported."""
    run = {
        "run_id": name, "request": name, "repository": "/repo", "depth": depth, "status": status,
        "state_dir": f"/repo/.planner/runs/{name}", "stage": "inactive", "workflow": "executor",
        "step": 9,
    }  # fmt: skip
    database.add_run(run)
    set_run = "UPDATE runs SET created_at='2026-01-02T03:00:00Z', commit_id=? WHERE run_id=?"
    database.connection.execute(set_run, ("c" * 40 if status == "COMPLETED" else None, name))
    at = f"2026-01-02T{3 + minutes // 60:02}:{minutes % 60:02}:00Z"
    payloads: list[tuple[str, dict[str, Any]]] = [
        ("PlanStepUpdate", {"new_status": "IN_PROGRESS"}),
        ("PlanStepUpdate", {"new_status": "BLOCKED"}),
        ("PlanCompleted", {"final_status": status}),
    ]
    if tokens is not None:
        payloads.append(
            (
                "SubAgentResult",
                {"subagent_step_id": name, "stats": {"prompt_tokens": tokens, "tool_calls": 2}},
            )
        )
    for kind, payload in payloads:
        row = (at, name, kind, json.dumps(payload))
        database.connection.execute("INSERT INTO events VALUES (NULL,?,?,?,?)", row)


def test_a_repository_without_runs_has_figures_too(database: Database) -> None:
    found = stats_of(database)
    assert (found["runs"], found["median_hours"], found["depths"]) == ({}, None, {})
    assert render_stats(found).splitlines() == [
        "runs: none; 0 revisions",
        "from start to end: unknown (median)",
        "milestones: 0 starts, 0 completed, 0 blocked, 0 asked",
        "agents: 0, 0 tokens, 0 calls",
    ]


def test_what_plans_took_is_the_median_by_depth(database: Database) -> None:
    for number, minutes in enumerate((10, 30, 80)):
        add(database, f"full-{number}", "full", minutes, 1000 * minutes)
    add(database, "intent", "intent", 5)
    add(database, "gone", "full", 500, status="CANCELLED")
    depths = costs_by_depth(database)
    assert depths == {
        "full": {"plans": 3, "minutes": 30.0, "tokens": 30_000},
        "intent": {"plans": 1, "minutes": 5.0, "tokens": 0},
    }
    assert render_depths(depths) == [
        "full: 3 plans, 30.0 minutes, 30,000 tokens of agents (median)",
        "intent: 1 plan, 5.0 minutes (median)",
    ]
    found = stats_of(database)
    assert found["runs"] == {"COMPLETED": 4, "CANCELLED": 1}
    assert found["median_hours"] == 0.33
    assert found["milestones"] == {"starts": 5, "completed": 0, "blocked": 5, "asked": 0}
    assert found["agents"]["tokens"] == 120_000
    lines = render_stats(found).splitlines()
    assert lines[0] == "runs: 4 completed, 1 cancelled; 5 revisions"
    assert lines[1] == "from start to end: 20 minutes (median)"
    assert lines[3:5] == [f"depth {line}" for line in render_depths(depths)]
    assert lines[-1] == "agents: 3, 120,000 tokens, 6 calls"


def test_gates_are_counted_by_phase_with_those_that_passed_at_once(database: Database) -> None:
    add(database, "a", "full", 90)
    run = database.run("a")
    assert run is not None
    outcome = {"computed": "pass", "decided_by": "script", "reason": "", "items": []}
    for phase, iteration, verdict in (
        ("plan-design", 1, "pass"), ("plan-code", 1, "fail"), ("plan-code", 2, "fail"),
        ("plan-code", 3, "pass"),
    ):  # fmt: skip
        database.add_outcome(run, phase, iteration, {"verdict": verdict, **outcome})
    found = stats_of(database)
    assert found["reviews"] == {
        "plan-design": {"gates": 1, "first_time": 1, "rounds": 1},
        "plan-code": {"gates": 1, "first_time": 0, "rounds": 3},
    }
    lines = render_stats(found).splitlines()
    assert "plan-code: 1 gate, 0 passed the first time, 3 rounds at most" in lines
    assert "from start to end: 1.5 hours (median)" in lines


def test_agents_that_did_not_say_are_counted_as_such() -> None:
    found = {
        "runs": {}, "revisions": 1, "median_hours": 0.01, "depths": {}, "milestones": {},
        "reviews": {}, "agents": {**NONE, "agents": 2, "unknown": 1},
    }  # fmt: skip
    lines = render_stats(found).splitlines()
    assert lines[0] == "runs: none; 1 revision"
    assert lines[1] == "from start to end: 1 minute (median)"
    assert lines[-1] == "agents: 2, 0 tokens, 0 calls, 1 did not say"
