"""A frozen revision stays what it was: freeze, hand edits, revise (PL-15, PL-16, PL-28)."""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING

import pytest

from orchestrator.submit.plan_md import render_plan
from shared.run import open_state
from state import files, store
from tests.e2e.conftest import set_hook
from tests.journey import FILES, Journey, call, passing

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

    Repositories = Callable[..., Repository]


@pytest.fixture
def frozen(make_repo: Repositories) -> Journey:
    """Return a run whose plan is submitted."""
    return Journey(make_repo(files=FILES)).to("submitted")


def plan_path(journey: Journey) -> str:
    return f"{journey.state_dir}/plan.json"


def read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def test_an_edit_after_the_gates_is_checked_before_the_freeze(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files=FILES)).to("freeze")
    added = journey.planner("plan", "add", "milestone", "--name", "Late", "--file", "src/late.py")
    assert added.code == 0
    refused = journey.planner("plan", "freeze")
    assert refused.code == 1
    assert "M-002" in refused.text
    assert journey.planner("plan", "remove", "M-002", "--version", "1").code == 0
    assert journey.planner("plan", "freeze").code == 0


BY_HAND = (
    ("CI-001", "adds two", "adds six"),
    ("M-001", "f(1) is 3", "f(1) is 4"),
    ("DL-001", "one caller", "two users"),
    ("overview", "Change the constant.", "Change everything.."),
    ("CC-M-001-001|CC-", "return x + 2", "return x + 6"),
)


@pytest.mark.requirement("PL-15")
def test_a_hand_edit_of_a_frozen_plan_is_refused_with_its_place(frozen: Journey) -> None:
    """Whatever is edited; tests/state/test_frozen_run.py has every command."""
    path = plan_path(frozen)
    text = read(path).decode()
    for place, old, new in BY_HAND:
        assert old in text
        with open(path, "w", encoding="utf-8") as file:
            file.write(text.replace(old, new))
        answer = frozen.planner("plan", "add", "milestone", "--name", "x")
        assert answer.code == 1, answer.text
        assert re.search(place, answer.text), answer.text
        found = call(frozen.repository.path, "validate", path)
        assert found.code == 1
        assert re.search(place, found.text)


@pytest.mark.requirement("PL-15")
def test_a_plan_that_was_frozen_again_by_hand_is_not_the_submitted_one(frozen: Journey) -> None:
    from state.freeze import freeze

    path = plan_path(frozen)
    plan = store.load_plan(path)
    changed = plan.model_copy(update={"remarks": ("slipped in",), "digest": None, "seals": {}})
    data, digest = freeze(changed.model_copy(update={"frozen_at": None}), plan.frozen_at or "")
    files.write_atomic(path, data)
    for words in (("approve", digest), ("plan", "freeze"), ("exec", "apply")):
        answer = frozen.planner(*words)
        assert answer.code == 1
        assert "the plan changed after it was submitted" in answer.text


@pytest.mark.requirement("PL-15")
def test_freezing_again_prints_the_same_submission(frozen: Journey) -> None:
    before = read(plan_path(frozen))
    assert frozen.planner("plan", "freeze").text == frozen.last.text
    assert read(plan_path(frozen)) == before


@pytest.mark.requirement("FC-1")
def test_the_command_that_passes_the_last_gate_freezes_and_is_safe_to_repeat(
    frozen: Journey,
) -> None:
    assert frozen.calls[-1][:2] == ("plan", "done")
    before = read(plan_path(frozen))
    again = frozen.planner(*frozen.calls[-1][: frozen.calls[-1].index("--state-dir")])
    assert (again.code, again.text) == (0, frozen.last.text)
    assert read(plan_path(frozen)) == before
    frozen.edit_worktree({"src/a.py": "def f(x):\n    return x + 9\n"})
    late = frozen.planner("plan", "done", "--phase", "plan-code")
    assert [kind for kind, _ in late.problems] == ["frozen"]


@pytest.mark.requirement("FC-1", "SD-7")
def test_a_refused_freeze_keeps_the_gate_and_the_same_command_freezes_then(
    make_repo: Repositories,
) -> None:
    journey = Journey(make_repo(files=FILES))
    set_hook(journey.repository, "commit-msg", "exit 1\n")
    journey.to("code").do_the_work()
    done = journey.last.next("done")
    refused = journey.follow(done)
    assert (refused.code, refused.block.get("partial")) == (1, "true")
    assert refused.data("kept") == "the work: all gates have passed"
    assert "the plan cannot be frozen: the hook" in refused.text
    state = open_state(journey.state_dir, "/")
    assert state.database.phase(state.run, "plan-docs") == ("COMPLETE", 1)
    due = journey.planner("step", "planner")
    assert due.block.get("name") == "freeze"
    set_hook(journey.repository, "commit-msg", "exit 0\n")
    assert journey.planner("mode", "rebase").code == 0
    again = journey.follow(done)
    assert "approve" in again.person(), again.text


@pytest.mark.requirement("FC-1")
def test_at_depth_intent_the_design_gate_freezes(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files=FILES))
    journey.start("--depth", "intent")
    journey.to("submitted")
    assert journey.calls[-1][:4] == ("plan", "done", "--phase", "plan-design")
    again = journey.planner(
        "plan", "done", "--phase", "plan-design", "--batch", "answers/design.json"
    )
    assert (again.code, again.text) == (0, journey.last.text)


@pytest.mark.requirement("FC-1")
def test_a_reviewer_that_passes_the_last_gate_ends_and_its_host_meets_the_refusal(
    make_repo: Repositories,
) -> None:
    journey = Journey(make_repo(files=FILES))
    set_hook(journey.repository, "commit-msg", "exit 1\n")
    journey.review, journey.verdicts = "small", passing
    block = journey.to("code review").last
    reviewer = journey.follow(block.runs()[0])
    name = reviewer.reads()
    journey.write_answer(name, passing(reviewer))
    journey.repository.write("notes.txt", "mine\n")
    said = journey.follow(reviewer.next("done"))
    assert said.code == 1, "the gate itself compares the tree"
    (journey.repository.path / "notes.txt").unlink()
    said = journey.follow(reviewer.next("done"))
    assert (said.code, said.block.tag) == (0, "result")
    assert journey.planner("step", "planner").block.get("name") == "freeze"
    assert "the hook commit-msg" in journey.planner("plan", "freeze").text


@pytest.mark.requirement("PL-16")
def test_the_readable_plan_is_made_again_byte_for_byte(frozen: Journey) -> None:
    path = f"{frozen.state_dir}/plan.md"
    before = read(path)
    os.unlink(path)
    assert frozen.planner("plan", "render").code == 0
    assert read(path) == before
    text = before.decode()
    assert "NOT VERIFIED" in text
    assert "out of scope" in text
    assert "+    return x + 2" in text
    assert "DL-001: Change the constant" in text
    assert json.loads(read(plan_path(frozen)))["digest"] in text


@pytest.mark.requirement("PL-16")
def test_a_patch_cannot_end_its_own_fence(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files=FILES))
    journey.edits["src/a.py"] = (
        'def f(x):\n    return x + 2\n\n\nDOC = """\n````\n# Approved\n"""\n'
    )
    journey.to("submitted")
    text = render_plan(store.load_plan(plan_path(journey)), {})
    assert "`````diff" in text


@pytest.mark.requirement("PL-28")
def test_revising_keeps_the_frozen_file_and_goes_back_with_the_remarks(frozen: Journey) -> None:
    before = read(plan_path(frozen))
    frozen.write_answers()
    answer = frozen.follow(frozen.last.next("remarks"))
    assert frozen.point == "planner 3"
    assert "Say why in a comment." in answer.data("plan")
    assert read(f"{frozen.state_dir}/plan.r1.json") == before
    plan = store.load_plan(plan_path(frozen))
    assert (plan.revision, plan.frozen_at, plan.digest, plan.reviews) == (2, None, None, ())
    state = open_state(frozen.state_dir, os.sep)
    assert state.database.phase(state.run, "plan-code") == ("INITIAL", 1)
    frozen.answers["design.json"] = []
    frozen.to("submitted")
    assert "revision 2" in frozen.last.data("summary")
    assert call(frozen.repository.path, "validate", f"{frozen.state_dir}/plan.r1.json").code == 0


@pytest.mark.requirement("PL-26", "PL-28")
def test_an_approval_holds_for_its_digest_and_no_other(frozen: Journey) -> None:
    frozen.to("approved").write_answer("remarks.md", "Otherwise.")
    old = open_state(frozen.state_dir, os.sep).run.digest
    frozen.last = frozen.planner("plan", "revise", "--file", "answers/remarks.md")
    frozen.answers["design.json"] = []
    frozen.to("submitted")
    assert open_state(frozen.state_dir, os.sep).run.digest != old
    assert frozen.planner("exec", "apply").code == 1
    assert frozen.planner("approve", str(old)).code == 1
    frozen.to("committed")


def test_a_run_that_has_ended_is_not_revised(frozen: Journey) -> None:
    assert frozen.planner("cancel").code == 0
    answer = frozen.planner("plan", "revise")
    assert answer.code == 1
    assert "the run is cancelled" in answer.text


def test_a_worktree_that_changed_after_its_check_is_not_frozen(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files=FILES)).to("freeze")
    journey.edit_worktree({"src/a.py": "def f(x):\n    return x + 9\n"})
    refused = journey.planner("plan", "freeze")
    assert refused.code == 1
    assert "changed after they were checked" in refused.text
