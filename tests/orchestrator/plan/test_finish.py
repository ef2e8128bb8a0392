"""The end of a work step: what it stores, what it refuses, what it returns (PL-20, PL-24)."""

from __future__ import annotations

import json
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

import pytest

from developer.verification import verify_plan
from orchestrator.plan import finish
from orchestrator.plan.finish import finish_phase
from shared.candidates import chosen_commands
from shared.qr.schema import read_review
from shared.resources import plan_path, review_path
from shared.run import open_state
from state import store
from state.errors import Refused
from tests.developer.verify.conftest import until
from tests.journey import FILES, VERIFIED, Journey, call, words_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from developer.verify.job import Done, Running
    from shared.run import State
    from state.models import Plan
    from tests.conftest import Repository
    from tests.journey import Answer

    Repositories = Callable[..., Repository]


def test_a_design_without_findings_passes_its_gate_by_script(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files=FILES)).to("design")
    journey.write_answers()
    state = open_state(journey.state_dir, "/")
    finished = finish_phase(state, "plan-design", "answers/design.json", None)
    assert (finished.running, finished.handed_in) == (None, False)
    assert (state.run.workflow, state.run.step) == ("planner", 6)
    (outcome,) = store.load_plan(plan_path(state.state_dir)).reviews
    assert (outcome.phase, outcome.by, outcome.tree) == ("plan-design", "script", None)


@pytest.mark.requirement("SD-6")
def test_the_example_sent_back_as_it_stands_is_no_design(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files=FILES)).to("design")
    task = journey.run("step", "planner", "3").text
    example = task[task.index("[{") : task.index("}}]\n") + 3]
    journey.write_answer("design.json", json.loads(example))
    state = open_state(journey.state_dir, "/")
    with pytest.raises(Refused, match="placeholder") as caught:
        finish_phase(state, "plan-design", "answers/design.json", None)
    assert len(caught.value.problems) == example.count('"…')
    assert not store.load_plan(plan_path(state.state_dir)).milestones


def test_the_code_that_passed_is_stored_with_its_tree_and_documents_pass_with_it(
    make_repo: Repositories,
) -> None:
    journey = Journey(make_repo(files=FILES)).to("code")
    journey.edit_worktree(journey.edits)
    state = open_state(journey.state_dir, "/")
    assert finish_phase(state, "plan-code", None, None).running is None
    plan = store.load_plan(plan_path(state.state_dir))
    assert [o.phase for o in plan.reviews] == ["plan-design", "plan-code", "plan-docs"]
    assert {c.file for m in plan.milestones for c in m.code_changes} == set(journey.edits)
    _, code, docs = plan.reviews
    assert code.tree == docs.tree
    assert code.tree
    assert state.run.step == 11


def test_the_end_of_a_step_may_be_repeated(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files=FILES)).to("code")
    journey.edit_worktree(journey.edits)
    state = open_state(journey.state_dir, "/")
    finish_phase(state, "plan-code", None, None)
    before = store.load_plan(plan_path(state.state_dir))
    finish_phase(state, "plan-code", None, None)
    assert store.load_plan(plan_path(state.state_dir)) == before
    assert len(state.database.outcomes(state.run, "plan-code")) == 1


@pytest.mark.requirement("PL-20")
def test_a_plan_that_is_changed_while_its_code_is_verified_is_not_passed_as_it_was(
    make_repo: Repositories,
) -> None:
    repository = make_repo(files=FILES)
    changed = repository.path / "__pycache__" / "changed"
    wait = f"for i in $(seq 60); do test -e {changed} && exit; sleep 1; done; exit 1"
    verify = f"PYTHONPATH=src python3 tests/test_a.py && {wait}"
    repository.commit({"planner.toml": f'[verify]\ncommands = ["{verify}"]\n'}, "Verify")
    journey = Journey(repository).to("code")
    journey.edit_worktree(journey.edits)
    state = open_state(journey.state_dir, "/")
    added: list[Answer] = []

    def add() -> None:
        until(Path(journey.state_dir, "verify/progress.json").exists)
        added.append(journey.planner("plan", "add", "risk", "--risk", "a caller counts on one"))
        changed.parent.mkdir()
        changed.touch()

    other = Thread(target=add)
    other.start()
    with pytest.raises(Refused, match="another command changed the plan") as caught:
        finish_phase(state, "plan-code", None, None)
    other.join()
    assert added[0].code == 0, added[0].text
    (problem,) = caught.value.problems
    assert problem.kind == "conflict"
    again = call(journey.repository.path, *words_of(problem.retry))
    assert again.code == 0, again.text
    plan = store.load_plan(plan_path(state.state_dir))
    assert [risk.risk for risk in plan.planning_context.known_risks] == ["a caller counts on one"]
    assert "plan-code" in [outcome.phase for outcome in plan.reviews]


@pytest.mark.requirement("VR-4")
def test_what_is_edited_while_it_is_verified_is_captured_and_verified_anew(
    make_repo: Repositories, monkeypatch: pytest.MonkeyPatch
) -> None:
    journey = Journey(make_repo(files={**FILES, "planner.toml": VERIFIED})).to("code")
    journey.edit_worktree(journey.edits)
    late: dict[str, str | bytes] = {"tests/test_a.py": "from a import f\n\nassert f(2) == 4\n"}

    def edited_first(state: State, plan: Plan) -> Done | Running:
        journey.edit_worktree(late)
        return verify_plan(state, plan)

    monkeypatch.setattr(finish, "verify_plan", edited_first)
    state = open_state(journey.state_dir, "/")
    finished = finish_phase(state, "plan-code", None, None)
    assert (finished.running, finished.blocks) == (None, [])
    plan = store.load_plan(plan_path(state.state_dir))
    assert {r.tree for r in plan.verify} == {plan.reviews[-1].tree}
    (change,) = (c for m in plan.milestones for c in m.code_changes if c.file == "tests/test_a.py")
    assert "+assert f(2) == 4" in (change.patch or "")


def test_an_agent_of_a_full_review_only_hands_in(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files=FILES))
    journey.review = "full"
    journey.to("design")
    journey.write_answer("design.json", journey.answers["design.json"])
    state = open_state(journey.state_dir, "/")
    finished = finish_phase(state, "plan-design", "answers/design.json", "architect")
    assert finished.handed_in
    assert "--role architect" in finished.again


def test_a_phase_that_is_not_due_is_refused(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files=FILES)).to("design")
    state = open_state(journey.state_dir, "/")
    with pytest.raises(Refused, match="plan-code is not due"):
        finish_phase(state, "plan-code", None, None)


@pytest.mark.requirement("PL-24")
def test_all_failing_musts_are_said_at_once_and_nothing_is_stored(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files=FILES)).to("design")
    journey.write_answer("design.json", [
        {"op": "add", "kind": "milestone", "fields": {"name": "One", "files": ["src/a.py"]}},
        {"op": "add", "kind": "milestone", "fields": {"name": "Two"}},
    ])  # fmt: skip
    with open(f"{journey.state_dir}/plan.json", "rb") as file:
        before = file.read()
    words = ("plan", "done", "--phase", "plan-design", "--batch", "answers/design.json")
    answer = journey.planner(*words)
    assert answer.code == 1
    assert len(answer.problems) > 3
    with open(f"{journey.state_dir}/plan.json", "rb") as file:
        assert file.read() == before
    assert journey.planner("step", "planner").text == journey.last.text


@pytest.mark.requirement("PL-21", "PL-24")
def test_a_design_with_bare_reasons_and_odd_spelling_comes_to_the_gate_and_is_fixed(
    make_repo: Repositories,
) -> None:
    journey = Journey(make_repo(files=FILES)).to("design")
    sound = journey.answers["design.json"]
    milestone = {**sound[2]["fields"], "files": ["SRC/a.py"]}
    faulty = [
        sound[0],
        {"op": "add", "kind": "decision", "fields": {"decision": "Change it"}},
        {"op": "add", "kind": "risk", "fields": {"risk": "a caller counts on one"}},
        {"op": "add", "kind": "milestone", "as": "$m", "fields": milestone},
        {"op": "add", "kind": "intent", "fields": {**sound[3]["fields"], "decision_refs": []}},
    ]
    journey.answers["design.json"] = faulty
    gate = journey.advance()
    assert gate.block.get("number") == "5", gate.text
    items = read_review(review_path(journey.state_dir, "plan-design")).items
    assert [(i.check, i.scope) for i in items if i.status == "FAIL"] == [
        ("design-decisions-reasoned", "DL-001"),
        ("design-risks-mitigated", "R-001"),
        ("design-files-intended", "M-001"),
        ("design-intents-listed", "CI-001"),
        ("design-files-spelled", "M-001"),
    ]
    assert journey.follow(gate.next("fail")).block.get("number") == "3"
    fixes = [
        ("DL-001", {"reasoning_chain": "one caller -> no flag needed"}),
        ("R-001", {"mitigation": "there is one caller, and its test is changed"}),
        ("M-001", {"files": ["src/a.py", "tests/test_a.py"]}),
    ]
    journey.answers["design.json"] = [
        {"op": "set", "id": entity, "version": 1, "fields": fields} for entity, fields in fixes
    ]
    assert journey.advance().block.get("number") == "6", journey.last.text


@pytest.mark.requirement("SD-7")
def test_a_refused_end_of_the_work_chooses_no_command_either(make_repo: Repositories) -> None:
    """An error means that nothing has changed."""
    journey = Journey(make_repo(files=FILES)).to("code")
    journey.write_answer("verify.txt", "true")
    journey.write_answer("bad.json", [{"op": "remove", "id": "M-009", "version": 1}])
    words = ("plan", "done", "--phase", "plan-code", "--command-file", "answers/verify.txt")
    assert journey.planner(*words, "--batch", "answers/bad.json").block.tag == "error"
    assert chosen_commands(journey.state_dir) == []
