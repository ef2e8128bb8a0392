"""A run's own path is counted: what lies ahead of it, not all steps of the tables (FC-4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.journey import FILES, Answer, Journey, parsed, passing
from tests.orchestrator.paths import faults_of_path

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

    Repositories = Callable[..., Repository]

pytestmark = pytest.mark.requirement("FC-4")


def walked(journey: Journey, *options: str) -> list[tuple[str, str]]:
    """Go to the proof, and return each step that was printed to the host, with its path.

    Gates, and the command that freezes, count with the step before them.
    """
    if not journey.state_dir:
        journey.start(*options)
    journey.to("committed")
    blocks = [parsed(text) for text in journey.read]
    steps = [(b.get("name", ""), b.get("path", "")) for b in blocks if b.get("path")]
    assert not faults_of_path(journey.read)
    return list(dict.fromkeys(s for s in steps if not s[0].endswith(("gate", "freeze"))))


def test_a_small_plan_has_five_steps(make_repo: Repositories) -> None:
    found = walked(Journey(make_repo(files=FILES)), "--review", "small")
    assert found == [
        ("context-verify", "1 of 5"), ("plan-code-execute", "2 of 5"), ("plan-code-qr", "3 of 5"),
        ("init", "4 of 5"), ("load-verify", "5 of 5"),
    ]  # fmt: skip


def test_without_reviewers_it_has_four(make_repo: Repositories) -> None:
    found = walked(Journey(make_repo(files=FILES)), "--review", "none")
    assert [path for _, path in found][-1] == "4 of 4"
    assert ("plan-code-execute", "2 of 4") in found


def test_documents_of_their_own_count_with_the_review_before_them(
    make_repo: Repositories,
) -> None:
    journey = Journey(make_repo(files=FILES))
    journey.promises_document = True
    found = dict(walked(journey, "--review", "full"))
    assert found["plan-design-qr"] == "3 of 7"
    assert found["plan-code-qr"] == "5 of 7"
    assert found["plan-docs-execute"] == "5 of 7"
    assert found["init"] == "6 of 7"
    assert found["load-verify"] == "7 of 7"


def test_intents_are_approved_twice(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files=FILES))
    found = walked(journey, "--review", "none", "--depth", "intent")
    assert found[:4] == [
        ("context-verify", "1 of 6"), ("init", "2 of 6"), ("load-verify", "3 of 6"),
        ("impl-execute", "4 of 6"),
    ]  # fmt: skip
    assert found[-2:] == [("init", "5 of 6"), ("load-verify", "6 of 6")]


def failing(block: Answer) -> list[dict[str, Any]]:
    return [{"id": item, "status": "FAIL", "finding": "wrong"} for item in block.asked()]


def test_what_comes_back_is_counted_on_and_the_block_says_why(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files=FILES))
    journey.verdicts = failing
    journey.start("--review", "small")
    block = journey.to("gate").follow(journey.last.next("fail")).block
    shown = (block.get("name"), block.get("iteration"), block.get("path"))
    assert shown == ("plan-code-execute", "2", "4 of 7 (plan-code failed)")
    journey.verdicts = passing
    assert [path for _, path in walked(journey)][-1] == "7 of 7"
    assert not faults_of_path(journey.read)


def test_a_revision_is_counted_on_and_the_block_says_which(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files=FILES)).to("submitted")
    journey.write_answer("remarks.md", "Make it three\n")
    revised = journey.follow(journey.last.next("remarks")).block
    assert revised.get("path") == "4 of 7 (revision 2)"


def test_a_remark_in_time_takes_the_run_back_and_is_counted_on(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files=FILES)).to("code")
    journey.write_answer("remarks.md", "Make it three\n")
    assert journey.planner("plan", "revise", "--file", "answers/remarks.md").code == 0
    assert journey.planner("step", "planner").block.get("path") == "3 of 6 (RM-001)"


def test_a_plan_that_turns_out_larger_makes_the_path_no_longer(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files=FILES))
    (milestone,) = (
        e["fields"] for e in journey.answers["design.json"] if e.get("kind") == "milestone"
    )
    milestone["flags"] = ["high-risk"]
    journey.review, journey.verdicts = "auto", passing
    found = walked(journey)
    assert ("plan-design-qr", "1 of 5") in found
    assert {path.partition(" of ")[2] for _, path in found} == {"5"}


def test_a_host_without_sub_agents_has_context_and_design_in_one_step(
    make_repo: Repositories,
) -> None:
    journey = Journey(make_repo(files=FILES))
    journey.verdicts = passing
    found = walked(journey, "--review", "full", "--alone")
    assert found[:3] == [
        ("context-verify", "1 of 5"), ("plan-code-execute", "2 of 5"), ("plan-code-qr", "3 of 5"),
    ]  # fmt: skip


def test_the_own_path_is_read_before_the_place_in_the_table(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files=FILES))
    text = journey.start().text
    assert text.startswith('<step workflow="planner" path="1 of ')
    assert '" number="2" of="11">' in text
