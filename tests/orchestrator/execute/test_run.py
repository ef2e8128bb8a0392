"""One command carries out an approved plan, and stops where a person is needed (FC-1)."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from cli.results import MOST_PROOF_CHARS, render_proof, render_ran
from developer.verify.job import Running
from orchestrator.execute.carry_out import Ran
from shared.run import open_state
from state.changes import plan_changes
from state.store import load_plan
from tests.journey import FILES, VERIFIED, Answer, Journey
from tests.orchestrator.execute.waves import at_once, intents
from tests.requirement_rounds import Rounds

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

    Repositories = Callable[..., Repository]

pytestmark = pytest.mark.requirement("FC-1")


@pytest.fixture
def approved(make_repo: Repositories) -> Journey:
    """Return a run whose plan is approved and not applied."""
    return Journey(make_repo(files=FILES)).to("approved")


def commits(journey: Journey) -> str:
    """Return how many commits the branch has."""
    return journey.repository.git("rev-list", "--count", "HEAD")


def run(journey: Journey) -> Answer:
    """Run the command that the approved plan names."""
    return journey.planner("exec", "run")


def test_the_step_after_the_approval_names_it_and_it_ends_with_the_proof(
    approved: Journey,
) -> None:
    assert "exec run" in approved.last.next("done")
    answer = run(approved)
    assert answer.code == 0, answer.text
    assert "src/a.py" in answer.data("proof")
    assert commits(approved) == "2"
    assert approved.repository.git("status", "--porcelain") == ""
    state = open_state(approved.state_dir, "/")
    assert (state.run.status, state.run.stage) == ("COMPLETED", "inactive")


def test_repeated_it_proves_the_same_commit_again(approved: Journey) -> None:
    first = run(approved)
    assert run(approved).text == first.text
    assert commits(approved) == "2"


@pytest.mark.parametrize("part", ["apply", "commit"])
def test_after_each_part_of_it_the_rest_is_done(approved: Journey, part: str) -> None:
    """As after a crash between two parts, or where a person ran one."""
    assert approved.planner("exec", "apply").code == 0
    if part == "commit":
        assert approved.planner("exec", "commit").code == 0
    assert "proof" in run(approved).text
    assert commits(approved) == "2"


def test_what_is_applied_and_not_committed_names_it_too(approved: Journey) -> None:
    applied = approved.planner("exec", "apply")
    assert "exec run" in applied.next("done")
    assert "exec run" in approved.planner("undo").next("again")


def test_without_an_approval_it_is_refused_and_changes_nothing(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files=FILES)).to("submitted")
    assert "exec run" in journey.last.next("approved")
    answer = run(journey)
    assert answer.code == 1
    assert "no person has approved" in answer.text
    assert journey.repository.git("status", "--porcelain") == ""


def test_a_planned_file_that_changed_stops_it_before_anything_is_written(
    approved: Journey,
) -> None:
    approved.repository.write("src/a.py", "def f(x):\n    return x\n")
    answer = run(approved)
    assert answer.code == 1
    assert "src/a.py" in answer.text
    assert approved.repository.git("status", "--porcelain").strip() == "M src/a.py"
    approved.repository.git("checkout", "src/a.py")
    assert "proof" in run(approved).text


def test_a_hook_that_refuses_stops_it_between_apply_and_commit(approved: Journey) -> None:
    hook = approved.repository.path / ".git" / "hooks" / "commit-msg"
    hook.write_text("#!/bin/sh\necho no ticket >&2\nexit 1\n")
    hook.chmod(0o755)
    answer = run(approved)
    assert answer.code == 1
    assert "no ticket" in answer.text
    assert commits(approved) == "1"
    assert "src/a.py" in approved.repository.git("status", "--porcelain")
    hook.unlink()
    assert "proof" in run(approved).text


def test_a_file_that_changed_after_the_apply_stops_it_with_the_way_out(approved: Journey) -> None:
    assert approved.planner("exec", "apply").code == 0
    approved.repository.write("other.txt", "mine\n")
    answer = run(approved)
    assert answer.code == 1
    assert "exec accept --file other.txt" in answer.text
    assert approved.planner("exec", "accept", "--file", "other.txt", "--reason", "mine").code == 0
    assert "proof" in run(approved).text
    assert approved.repository.git("status", "--porcelain").strip() == "?? other.txt"


def test_of_approved_intents_it_starts_the_first_milestones(make_repo: Repositories) -> None:
    journey = intents(make_repo, ((), (), (1, 2)))
    at_once(journey, 2)
    journey.to("approved")
    assert "exec run" in journey.last.next("done")
    answer = run(journey)
    assert [command.split("--milestone ")[1][:5] for command in answer.runs()] == ["M-001", "M-002"]
    assert run(journey).text == answer.text
    assert journey.repository.git("status", "--porcelain") == ""


@pytest.mark.requirement("RL-9")
def test_a_plan_for_requirements_is_applied_and_not_committed(make_repo: Repositories) -> None:
    rounds = Rounds(make_repo(files=FILES))
    plan = rounds.to_plan().to("approved")
    assert "commit" not in plan.last.block.findtext("task", "")
    answer = run(plan)
    assert answer.code == 0, answer.text
    assert "requirements complete" in answer.next("done")
    assert commits(plan) == "1"
    assert "src/a.py" in plan.repository.git("status", "--porcelain")
    assert run(plan).text == answer.text


def test_where_head_has_moved_verify_runs_first_and_the_same_command_goes_on(
    make_repo: Repositories,
) -> None:
    journey = Journey(make_repo(files={**FILES, "planner.toml": VERIFIED})).to("approved")
    text = render_ran(open_state(journey.state_dir, "/"), Ran(Running("verify has run for 9 s")))
    assert "exec run" in Answer(0, text).next("running")
    journey.repository.commit({"elsewhere.txt": "moved\n"})
    assert run(journey).data("proof")
    assert journey.repository.git("show", "--format=", "--name-only", "HEAD").split()[-2:] == [
        "src/a.py", "tests/test_a.py",
    ]  # fmt: skip


def test_the_proof_of_many_files_stays_short_and_counts_the_rest(approved: Journey) -> None:
    assert "proof" in run(approved).text
    state = open_state(approved.state_dir, "/")
    (change, *_) = plan_changes(load_plan(os.path.join(approved.state_dir, "plan.json")))
    many = [change.model_copy(update={"file": f"src/{n}.py"}) for n in range(400)]
    text = render_proof(state, many)
    shown = text.count(" → ")
    assert 0 < shown < len(many)
    assert f"… and {len(many) - shown} more, compared as well" in text
    assert 'files="400"' in text
    assert len(text) < MOST_PROOF_CHARS + 1_200
