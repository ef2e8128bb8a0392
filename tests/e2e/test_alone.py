"""A host without sub-agents: one file for context and design, no dispatch, no step in between."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from shared.qr.schema import read_review
from shared.qr.types import REVIEWER
from shared.resources import review_path
from shared.run import open_state
from tests.journey import FILES, VERIFIED, Journey, passing, words_of
from tests.larger_tasks import larger

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

    Repositories = Callable[..., Repository]

pytestmark = pytest.mark.requirement("FC-2")


@pytest.fixture
def alone(make_repo: Repositories) -> Journey:
    """Return a small run of a host that starts no sub-agents."""
    journey = Journey(make_repo(files={**FILES, "planner.toml": VERIFIED}))
    journey.review, journey.verdicts = "auto", passing
    journey.start("--alone")
    return journey


def commands(journey: Journey) -> list[str]:
    """Return the commands of the host, without those that a person types."""
    return [" ".join(c[:2]) for c in journey.calls if c[0] not in ("approve", "config")]


def test_a_small_plan_is_written_in_one_file_and_the_end_of_work_asks_the_questions(
    alone: Journey,
) -> None:
    alone.to("submitted")
    assert alone.run(*words_of(alone.last.person())).code == 0
    alone.follow(alone.last.next("approved"))
    assert commands(alone)[1:] == ["plan done", "plan done", "qr set", "exec run"]
    assert alone.agents == []
    tasks = open_state(alone.state_dir, "/").plan.task_spec
    assert [task.text for task in tasks] == alone.answers["context.json"]["task_spec"]


def test_a_plan_in_full_starts_no_agent_and_hands_nothing_in(make_repo: Repositories) -> None:
    journey = larger(make_repo, "repo", (2, 2), {"planner.toml": VERIFIED})
    journey.edits["tests/test_a.py"] = FILES["tests/test_a.py"]
    journey.review, journey.verdicts = "full", passing
    journey.start("--alone")
    journey.to("committed")
    assert journey.agents == []
    assert "<dispatch" not in "".join(journey.read)
    assert "step" not in [c[0] for c in journey.calls]
    state = open_state(journey.state_dir, "/")
    assert {o.by for o in state.plan.reviews} <= {"host", "script"}


@pytest.mark.requirement("RV-9")
def test_all_questions_about_a_large_plan_come_in_one_list_once_there_is_code(
    make_repo: Repositories,
) -> None:
    journey = larger(make_repo, "repo", (1, 1, 1, 1), {})
    journey.review = "full"
    journey.start("--alone")
    journey.to("code review")
    items = read_review(review_path(journey.state_dir, "plan-code")).items
    questions = [item.id for item in items if item.by == REVIEWER]
    assert len(questions) == 6, "the criteria of each milestone, a try, the plan's words"
    assert journey.last.asked() == questions


def test_a_design_without_the_context_is_refused_and_nothing_is_stored(alone: Journey) -> None:
    alone.write_answer("design.json", alone.answers["design.json"])
    refused = alone.follow(alone.last.next("done"))
    assert refused.code == 1
    assert '{"op": "context"' in refused.text
    assert open_state(alone.state_dir, "/").plan.milestones == ()


def test_context_and_design_are_stored_together_or_not_at_all(alone: Journey) -> None:
    first, *rest = alone.answers["design.json"]
    alone.answers["design.json"] = [first]  # no milestone cites T-1
    block = alone.last
    alone.write_answers()
    refused = alone.follow(block.next("done"))
    assert refused.code == 1
    assert open_state(alone.state_dir, "/").plan.task_spec == ()
    assert open_state(alone.state_dir, "/").run.step == 2
    alone.last = block
    alone.answers["context.json"] = {"task_spec": ["f adds two, for each number"]}
    alone.answers["design.json"] = [first, *rest]
    alone.write_answers()
    done = alone.follow(block.next("done"))
    assert done.block.get("number") == "6", done.text
    again = alone.follow(block.next("done"))
    assert again.text == done.text


def test_a_context_that_is_stored_is_changed_by_no_design(alone: Journey) -> None:
    alone.to("code")
    alone.write_answer("design.json", [{"op": "context", "task_spec": ["something else"]}])
    words = ("plan", "done", "--phase", "plan-design", "--batch", "answers/design.json")
    refused = alone.planner(*words)
    assert [kind for kind, _ in refused.problems] == ["frozen"]
    assert "add-quote" in refused.text


@pytest.mark.parametrize("review", ["auto", "small", "none"])
def test_a_small_plan_is_one_file_and_one_command_of_any_host(
    make_repo: Repositories, review: str
) -> None:
    journey = Journey(make_repo(files={**FILES, "planner.toml": VERIFIED}))
    journey.review, journey.verdicts = review, passing
    begun = journey.start()
    assert "answers/design.json" in begun.next("done")
    assert "entry_points" not in begun.text
    journey.to("submitted")
    assert commands(journey)[1:3] == ["plan done", "plan done"]
    assert "context set" not in commands(journey)
    assert open_state(journey.state_dir, "/").plan.task_spec[0].id == "T-1"


def test_a_host_with_agents_writes_the_context_for_an_architect_in_a_review_in_full(
    make_repo: Repositories,
) -> None:
    journey = Journey(make_repo(files=FILES))
    begun = journey.start("--review", "full")
    assert "context set" in begun.next("done")


def test_intents_are_written_and_their_gaps_judged_without_an_agent(
    make_repo: Repositories,
) -> None:
    journey = larger(make_repo, "repo", (1, 1), {})
    milestones = [e["fields"] for e in journey.answers["design.json"] if "fields" in e]
    next(m for m in milestones if "files" in m)["files"].append("CHANGES.md")
    journey.review, journey.verdicts = "full", passing
    journey.start("--alone", "--depth", "intent")
    journey.to("applied")
    assert "exec reconcile" in journey.last.next("done")
    gaps = [
        {"gap": line, "verdict": "covered", "reason": "nobody calls it"}
        for line in journey.last.data("gaps").splitlines()
    ]
    journey.write_answer("reconcile.json", gaps)
    journey.follow(journey.last.next("done"))
    assert journey.point == "executor 1", journey.last.text
    assert journey.agents == []
    assert "<dispatch" not in "".join(journey.read)
