"""Sub-agents by mode: what they are told, what holds them, what they hand on (PC-5, PC-6)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from state.modes import MODES
from tests.orchestrator.execute.waves import (
    NEW,
    at_once,
    hand_in,
    intents,
    milestone_agent,
    opened,
    status_of,
    writing,
)
from tests.shared.execution.scene import OPTIONS, Scene, milestone
from tests.shared.guard.client import SESSION
from tests.shared.guard.test_milestones import Agent

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.conftest import Repository
    from tests.journey import Journey

    Repositories = Callable[..., Repository]


def researching(make_repo: Repositories) -> Journey:
    """Return a run whose first milestone answers a question that the second one needs."""
    journey = intents(make_repo, ((), (1,)), mode="research", files=[], tests={})
    edits = journey.answers["design.json"]
    first = next(e for e in edits if e.get("kind") == "intent")
    journey.answers["design.json"] = [e for e in edits if e is not first]
    journey.edits = {"src/m2_1.py": NEW}
    at_once(journey, 2)
    return journey


@pytest.mark.requirement("PC-5")
def test_who_plans_for_agents_reads_what_each_mode_is_for(make_repo: Repositories) -> None:
    journey = intents(make_repo)
    journey.to("design")
    task = journey.planner("step", "plan-design", "2")
    told = task.data("`mode` of a milestone, code unless set")
    assert told.splitlines() == [f"{n}: {m.planner_guidance}" for n, m in MODES.items()]


@pytest.mark.requirement("PC-5", "PC-6")
def test_a_research_milestone_plans_no_file_and_hands_on_what_it_found(
    make_repo: Repositories,
) -> None:
    journey = researching(make_repo).to("writing")
    task = milestone_agent(journey, "M-001")
    part = task.data("your part")
    assert part.startswith("Research Strategist: Read and search; change nothing.")
    assert part.endswith("not: write")
    found = "f is called from nowhere else"
    assert hand_in(journey, "M-001", {}, status="success", output=found).code == 0
    journey.follow(journey.last.next("done"))
    later = milestone_agent(journey, "M-002")
    assert later.data("found before") == f"M-001: {found}"
    assert hand_in(journey, "M-002", {"src/m2_1.py": NEW}).code == 0
    journey.last = journey.planner("step", "executor")
    assert journey.to("committed").last.block.get("commit")


@pytest.mark.requirement("PC-6")
def test_an_agent_reads_its_tools_and_its_budget(make_repo: Repositories) -> None:
    limits: dict[str, Any] = {"max_tokens": 5000, "max_turns": 3, "allowed_tools": ["Read", "Edit"]}
    journey = writing(make_repo, **limits)
    part = milestone_agent(journey, "M-001").data("your part")
    assert part.splitlines() == [
        f"Implementation Specialist: {MODES['code'].guidance}",
        "tools: edit, read", "tokens at most: 5000", "turns at most: 3",
    ]  # fmt: skip


@pytest.mark.requirement("PC-5", "PL-9")
def test_an_agent_asks_before_it_destroys_or_runs_what_lasts(make_repo: Repositories) -> None:
    task = milestone_agent(writing(make_repo), "M-001").block.findtext("task") or ""
    assert "Ask also before you delete or rewrite what no intent names" in task
    assert "a command whose effect outlasts this worktree" in task
    assert task.index("questions-M-001.json") < task.index("Ask also before")


@pytest.mark.requirement("PC-6")
def test_an_agent_gets_no_more_turns_than_planned_and_may_still_hand_in(
    make_repo: Repositories, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", SESSION)
    journey = writing(make_repo, max_turns=2)
    agent = Agent(journey, "a1")
    agent.begins(journey, "M-001")
    home = journey.state_dir
    source = f"{home}/milestones/M-001/src/m1_1.py"
    for _ in range(2):
        assert agent.asks("Edit", file_path=source) == {}
    assert "gives the agent of M-001 2 turns" in agent.denial("Edit", file_path=source)
    assert agent.asks("Write", file_path=f"{home}/answers/result-M-001-1.json") == {}
    assert agent.begins(journey, "M-001") == {}, "our own commands are no turns"
    other = Agent(journey, "a2")
    other.begins(journey, "M-001")
    assert other.asks("Edit", file_path=source) == {}, "another agent has turns of its own"
    state = opened(journey)
    assert state.database.progress(state.run)["M-001"].turns == 1


@pytest.mark.requirement("PC-6")
def test_a_milestone_that_writes_nothing_may_write_its_result_alone(
    make_repo: Repositories, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", SESSION)
    journey = researching(make_repo).to("writing")
    agent = Agent(journey, "a1")
    agent.begins(journey, "M-001")
    home = journey.state_dir
    denied = agent.denial("Write", file_path=f"{home}/milestones/M-001/src/m1_1.py")
    assert "does not allow Write for M-001" in denied
    assert agent.asks("Write", file_path=f"{home}/answers/result-M-001-1.json") == {}


@pytest.mark.requirement("PC-6")
def test_a_hook_that_comes_late_does_not_take_back_what_a_command_has_stored(
    tmp_path: Path,
) -> None:
    scene = Scene(tmp_path, [milestone(1, "a.py"), milestone(2, "b.py")], max_parallel_steps=2)
    scene.do("begin")
    scene.do("start", "M-001", "a1")
    scene.do("start", "M-002", "a2")
    scene.do("succeed", "M-001")
    state = scene.state()
    with state.database as database:
        for name in ("M-001", "M-002"):
            database.count_turn(state.run, name, "a2")
            database.bind_agent(state.run, name, "a3")
            database.count_turn(state.run, name, "a2")
            database.count_turn(state.run, name, "a3")
    rows = scene.view().progress
    assert [(r.status, r.agent, r.turns) for r in rows.values()] == [
        ("COMPLETED", "", 0), ("IN_PROGRESS", "a3", 1)
    ]  # fmt: skip


@pytest.mark.requirement("PC-6")
def test_a_question_of_an_agent_names_it(tmp_path: Path) -> None:
    scene = Scene(tmp_path, [milestone(1, "a.py")])
    scene.do("begin")
    scene.do("start", "M-001")
    scene.do("ask", "M-001", [{"question": "Which?", "options": OPTIONS}])
    (told,) = scene.events("PlanDecision")
    assert (told["step_id"], told["subagent_id"]) == ("M-001", "M-001-1")


@pytest.mark.requirement("PC-6")
def test_every_event_of_an_agent_names_it_and_its_milestone(make_repo: Repositories) -> None:
    journey = writing(make_repo, max_tokens=1000)
    result = {"status": "success", "output": "done", "stats": {"prompt_tokens": 990}}
    assert hand_in(journey, "M-001", {"src/m1_1.py": NEW}, **result).code == 0
    assert status_of(journey)["M-001"] == "COMPLETED"
    state = opened(journey)
    rows = [(r["kind"], r["payload"]) for r in state.database.event_rows(state.run)]
    agents = {
        kind: p["subagent_id"] for kind, p in rows
        if "M-001" in (p.get("step_id"), p.get("subagent_step_id"))
    }  # fmt: skip
    assert agents == dict.fromkeys(
        ("PlanStepUpdate", "SubAgentResult", "PlanResourceWarning"), "M-001-1"
    )
