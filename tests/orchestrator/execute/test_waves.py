"""Approved intents: agents write milestones at once, and the program brings it together (PL-27)."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from shared.resources import plan_path
from state.files import read_json
from tests.hostile_json import cases, is_refused
from tests.journey import way_out, words_of
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

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

    Repositories = Callable[..., Repository]


@pytest.mark.requirement("PL-3", "PL-4", "PL-27")
def test_two_agents_write_at_once_and_a_third_starts_from_what_both_wrote(
    make_repo: Repositories,
) -> None:
    journey = writing(make_repo, ((), (), (1, 2)))
    before = journey.repository.git("status", "--porcelain")
    assert journey.last.block.find("dispatch").get("parallel") == "true"  # type: ignore[union-attr]
    assert [words_of(run)[:4] for run in journey.last.runs()] == [
        ["step", "exec-implement", "--milestone", name] for name in ("M-001", "M-002")
    ]
    assert hand_in(journey, "M-001", {"src/m1_1.py": NEW}).code == 0
    assert hand_in(journey, "M-002", {"src/m2_1.py": NEW}).code == 0
    assert journey.repository.git("status", "--porcelain") == before
    journey.follow(journey.last.next("done"))
    assert [words_of(run)[3] for run in journey.last.runs()] == ["M-003"]
    third = Path(journey.state_dir, "milestones", "M-003", "src")
    assert [(third / f"m{n}_1.py").read_text() for n in (1, 2)] == [NEW, NEW]
    assert not os.path.exists(f"{journey.state_dir}/milestones/M-001")
    assert journey.to("committed").last.block.get("commit")
    changed = journey.repository.git("show", "--name-only", "--format=", "HEAD").split()
    assert changed[-3:] == ["src/m1_1.py", "src/m2_1.py", "src/m3_1.py"]
    assert not os.path.exists(f"{journey.state_dir}/milestones")
    state = opened(journey)
    done = [row[0] for row in state.database.connection.execute(
        "SELECT name FROM steps WHERE workflow='executor' ORDER BY number")]  # fmt: skip
    assert done[2:8] == [
        "impl-execute", "impl-code-qr", "impl-code-qr-gate",
        "impl-docs-execute", "impl-docs-qr", "impl-docs-qr-gate",
    ]  # fmt: skip


@pytest.mark.requirement("PL-14", "PL-20")
def test_two_milestones_that_share_a_file_write_it_one_after_the_other(
    make_repo: Repositories,
) -> None:
    journey = intents(make_repo)
    add = {"op": "add", "kind": "intent", "fields": {
        "milestone": "$m2", "file": "src/m1_1.py", "behavior": "g adds three"}}  # fmt: skip
    edits = journey.answers["design.json"]
    edits.append(add)
    next(e for e in edits if e.get("as") == "$m2")["fields"]["files"].append("src/m1_1.py")
    at_once(journey, 2)
    journey.to("writing")
    assert read_json(plan_path(journey.state_dir))["depth"] == "intent"
    assert [words_of(run)[3] for run in journey.last.runs()] == ["M-001"]
    assert hand_in(journey, "M-001", {"src/m1_1.py": NEW}).code == 0
    journey.follow(journey.last.next("done"))
    both = f"{NEW}\n\ndef g(x):\n    return x + 3\n"
    assert hand_in(journey, "M-002", {"src/m1_1.py": both, "src/m2_1.py": NEW}).code == 0
    journey.follow(journey.last.next("done"))
    assert journey.to("committed").last.block.get("commit")
    assert journey.repository.git("show", "HEAD:src/m1_1.py") == both.strip()


@pytest.mark.requirement("PL-27")
def test_an_agent_is_shown_its_milestone_in_full_and_the_others_by_their_files(
    make_repo: Repositories,
) -> None:
    journey = writing(make_repo, prompt_suffix="Mind the callers.")
    task = milestone_agent(journey, "M-001")
    assert f"{journey.state_dir}/milestones/M-001" in (task.block.findtext("task") or "")
    assert task.data("for this milestone") == "Mind the callers."
    plan = task.data("plan")
    assert "CI-001 src/m1_1.py" in plan
    assert "M-002 Add two in layer 2, not yours: src/m2_1.py" in plan
    assert "CI-002" not in plan
    refused = milestone_agent(journey, "M-009")
    assert "in progress: M-001, M-002" in refused.problems[0][1]


@pytest.mark.requirement("PL-27")
def test_an_agent_reads_its_own_milestone_whole_however_long_the_plan_is(
    make_repo: Repositories,
) -> None:
    journey = intents(make_repo)
    why = "one thing follows from another, which follows from a third. " * 60
    journey.answers["design.json"] += [
        {"op": "add", "kind": "decision", "fields": {
            "decision": f"Choice {n}", "reasoning_chain": f"{why}-> it -> {n}"}}
        for n in range(8)
    ]  # fmt: skip
    own = next(e for e in journey.answers["design.json"] if e.get("kind") == "intent")
    own["fields"]["behavior"] = "f adds two, for each of many cases. " * 100 + "The end."
    journey.to("writing")
    plan = milestone_agent(journey, "M-001").data("plan")
    assert "The end." in plan
    assert "Choice 7" in plan
    assert plan.count(why.strip()) == 0


@pytest.mark.requirement("PL-28")
def test_a_file_that_nobody_planned_is_reported_accepted_and_approved(
    make_repo: Repositories,
) -> None:
    journey = writing(make_repo)
    extra = {"src/m1_1.py": NEW, "src/extra.py": "EXTRA = 1\n"}
    refused = hand_in(journey, "M-001", extra)
    assert "src/extra.py was changed, and M-001 does not plan it" in refused.problems[0][1]
    assert status_of(journey)["M-001"] == "IN_PROGRESS"
    journey.write_answer("deviation-M-001.md", "f needs a constant of its own")
    report = way_out(refused.problems[0][1])
    assert journey.run(*words_of(report)).code == 0
    assert hand_in(journey, "M-001", extra).code == 0
    assert hand_in(journey, "M-002", {"src/m2_1.py": NEW}).code == 0
    waits = journey.planner("exec", "next")
    assert "src/extra.py deviates from the plan: f needs a constant" in waits.problems[0][1]
    assert journey.planner("exec", "accept", "--file", "src/other.py").code == 1
    assert journey.planner("exec", "accept", "--file", "src/extra.py").code == 0
    journey.follow(journey.last.next("done"))
    intent = read_json(plan_path(journey.state_dir))["milestones"][0]["code_intents"][-1]
    assert (intent["file"], intent["behavior"]) == ("src/extra.py", "f needs a constant of its own")
    assert "src/extra.py" in journey.to("submitted").last.data("summary")
    journey.to("committed")
    assert journey.repository.git("show", "HEAD:src/extra.py") == "EXTRA = 1"


@pytest.mark.requirement("PL-28")
def test_a_file_of_another_milestone_is_refused_and_cannot_be_reported_away(
    make_repo: Repositories,
) -> None:
    journey = writing(make_repo)
    both = {"src/m1_1.py": NEW, "src/m2_1.py": "taken = 1\n"}
    words = ("exec", "deviate", "M-001", "--file", "src/m2_1.py", "--reason", "I want it")
    journey.planner(*words)
    refused = hand_in(journey, "M-001", both)
    assert "it belongs to M-002, not to M-001" in refused.problems[0][1]
    assert "taken" not in Path(journey.state_dir, "worktree/src/m2_1.py").read_text()


def test_two_agents_that_report_the_same_file_are_not_both_merged(make_repo: Repositories) -> None:
    journey = writing(make_repo)
    for name in ("M-001", "M-002"):
        words = ("exec", "deviate", name, "--file", "src/both.py", "--reason", "needed")
        assert journey.planner(*words).code == 0
    assert hand_in(journey, "M-001", {"src/m1_1.py": NEW, "src/both.py": "1\n"}).code == 0
    refused = hand_in(journey, "M-002", {"src/m2_1.py": NEW, "src/both.py": "2\n"})
    assert refused.problems[0][0] == "conflict"
    assert "src/both.py" in refused.problems[0][1]
    merged = Path(journey.state_dir, "worktree/src")
    assert (merged / "both.py").read_text() == "1\n"
    assert (merged / "m2_1.py").read_text() != NEW, "all of a milestone or nothing"


MALFORMED: list[tuple[object, str]] = [
    ("not JSON", "{path}"), ([], "{path}"), ({}, "status"), ({"status": "done"}, "status"),
    ({"status": "success", "outptu": "x"}, "outptu"), ({"status": "failure"}, "error"),
    ({"status": "success", "error": "it failed"}, "error"),
    ({"status": "success", "output": 3}, "output"),
    ({"status": "success", "stats": {"tool_calls": -1}}, "stats"),
    ({"status": "success", "stats": [1]}, "stats"),
    ({"status": "success", "artifacts": "a.py"}, "artifacts"),
    ({"status": "success", "milestone": "M-002"}, "milestone"),
]  # fmt: skip


@pytest.mark.requirement("PL-27")
def test_a_malformed_result_is_refused_and_nothing_is_lost(make_repo: Repositories) -> None:
    journey = writing(make_repo)
    words = words_of(milestone_agent(journey, "M-001").next("done"))
    journey.edit_worktree({"src/m1_1.py": NEW}, "milestones/M-001")
    for result, at in MALFORMED:
        journey.write_answer("result-M-001-1.json", result)
        refused = journey.planner(*words[:-2])
        assert refused.code == 1, refused.text
        places = [p.get("at", "") for p in refused.block.iter("problem")]
        assert any(at in place or at == "{path}" for place in places), (result, places)
        assert status_of(journey)["M-001"] == "IN_PROGRESS"
        assert Path(journey.state_dir, "milestones/M-001/src/m1_1.py").read_text() == NEW


def test_a_hand_in_that_is_repeated_changes_nothing(make_repo: Repositories) -> None:
    journey = writing(make_repo)
    words = words_of(milestone_agent(journey, "M-001").next("done"))[:-2]
    first = hand_in(journey, "M-001", {"src/m1_1.py": NEW})
    kept = Path(journey.state_dir, "worktree/src/m1_1.py").stat().st_mtime_ns
    assert journey.planner(*words).text == first.text
    assert Path(journey.state_dir, "worktree/src/m1_1.py").stat().st_mtime_ns == kept
    assert status_of(journey)["M-001"] == "COMPLETED"


def test_a_file_may_be_removed_renamed_and_made_executable(make_repo: Repositories) -> None:
    names = ["src/m1_1.py", "src/new.py", "bin/run"]
    journey = writing(make_repo, ((), ()), files=names)
    tree = Path(journey.state_dir, "milestones", "M-001")
    (tree / "src/m1_1.py").rename(tree / "src/new.py")
    (tree / "bin").mkdir()
    (tree / "bin/run").write_text("#!/bin/sh\n")
    (tree / "bin/run").chmod(0o755)
    edited = hand_in(journey, "M-001", {})
    assert edited.code == 0, edited.text
    merged = Path(journey.state_dir, "worktree")
    assert not (merged / "src/m1_1.py").exists()
    assert (merged / "src/new.py").is_file()
    assert os.access(merged / "bin/run", os.X_OK)


def test_what_the_user_changes_meanwhile_is_noticed_before_the_next_wave(
    make_repo: Repositories,
) -> None:
    journey = writing(make_repo, ((), (1,)))
    assert hand_in(journey, "M-001", {"src/m1_1.py": NEW}).code == 0
    place = journey.repository.path / "src" / "m2_1.py"
    for change in (lambda: place.write_text("mine = 1\n"), place.unlink):
        change()
        refused = journey.planner("exec", "next")
        assert refused.problems[0][0] == "refused"
        assert "src/m2_1.py" in refused.text
        assert status_of(journey) == {"M-001": "COMPLETED", "M-002": "PENDING"}
        journey.repository.git("checkout", "--", "src/m2_1.py")
    place.chmod(0o755)
    assert "src/m2_1.py" in journey.planner("exec", "next").text
    place.chmod(0o644)
    assert journey.planner("exec", "next").code == 0


def test_a_paused_run_takes_in_what_is_written_and_starts_nothing(make_repo: Repositories) -> None:
    journey = writing(make_repo, ((), (1,)))
    words = words_of(milestone_agent(journey, "M-001").next("done"))[:-2]
    journey.edit_worktree({"src/m1_1.py": NEW}, "milestones/M-001")
    journey.write_answer("result-M-001-1.json", {"status": "success", "output": "done"})
    assert journey.planner("pause").code == 0
    assert journey.planner(*words).code == 0
    assert status_of(journey)["M-001"] == "COMPLETED"
    refused = journey.planner("exec", "next")
    assert "the run is paused" in refused.problems[0][1]
    assert journey.planner("resume").code == 0
    assert journey.planner("exec", "next").runs()


def test_the_result_of_an_agent_is_an_event_with_its_figures(make_repo: Repositories) -> None:
    journey = writing(make_repo)
    stats = {"prompt_tokens": 900, "completion_tokens": 80, "tool_calls": 4}
    result: dict[str, Any] = {"status": "success", "output": "adds two", "stats": stats}
    assert hand_in(journey, "M-001", {"src/m1_1.py": NEW}, **result).code == 0
    state = opened(journey)
    rows = [r["payload"] for r in state.database.event_rows(state.run)
            if r["kind"] == "SubAgentResult"]  # fmt: skip
    assert [(r["subagent_step_id"], r["status"], r["stats"]) for r in rows] == [
        ("M-001", "success", stats)
    ]
    assert json.dumps(rows)


@pytest.mark.requirement("PL-4", "PL-29")
def test_a_planned_file_that_nobody_touched_is_judged_before_the_approval(
    make_repo: Repositories,
) -> None:
    journey = writing(make_repo, files=["src/m1_1.py", "README.md"])
    journey.to("applied")
    assert [words_of(run)[:2] for run in journey.last.runs()] == [["step", "exec-reconcile"]]
    asked = journey.run(*words_of(journey.last.runs()[0]))
    assert asked.data("gaps") == "M-001 README.md"
    done = words_of(asked.next("done"))[:-2]
    gap = {"gap": "M-001 README.md", "reason": "it shows no constant"}
    wrongs: list[object] = [[], [gap], [{**gap, "verdict": "covered", "reason": ""}], {}]
    for wrong in wrongs:
        journey.write_answer("reconcile.json", wrong)
        assert journey.planner(*done).code == 1
    for text, said in cases("a list"):
        journey.write_answer("reconcile.json", text)
        is_refused(journey.planner(*done), said)
    journey.write_answer("reconcile.json", [{**gap, "verdict": "missing"}])
    assert journey.planner(*done).code == 0
    journey.last = journey.planner("step", "executor")
    assert journey.last.block.get("name") == "impl-execute"
    task = journey.planner("step", "exec-implement")
    assert "planned and untouched; it shows no constant" in task.data("findings")
    journey.to("applied")
    journey.write_answer("reconcile.json", [{**gap, "verdict": "covered"}])
    assert journey.planner(*done).code == 0
    journey.last = journey.planner("step", "executor")
    summary = journey.to("submitted").last.data("summary")
    assert "M-001 README.md: planned and untouched; it shows no constant" in summary
