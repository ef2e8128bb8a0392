"""A run's own path is counted: what lies ahead of it, not all steps of the tables (FC-4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.journey import FILES, Journey, parsed, passing

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

    Repositories = Callable[..., Repository]

pytestmark = pytest.mark.requirement("FC-4")


def walked(journey: Journey, *options: str) -> list[tuple[str, str]]:
    """Go to the proof, and return each step that was printed to the host, with its path.

    Gates, and the command that freezes, count with the step before them.
    """
    journey.start(*options)
    journey.to("committed")
    blocks = [parsed(text) for text in journey.read]
    steps = [(b.get("name", ""), b.get("path", "")) for b in blocks if b.get("path")]
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


def test_a_full_review_and_documents_of_their_own_are_counted_once_they_are_due(
    make_repo: Repositories,
) -> None:
    journey = Journey(make_repo(files=FILES))
    journey.promises_document = True
    found = dict(walked(journey, "--review", "full"))
    assert found["plan-design-qr"] == "3 of 7"
    assert found["plan-code-qr"] == "5 of 9"
    assert found["plan-docs-execute"] == "6 of 9"
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


def test_a_fix_goes_back_on_the_same_path(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files=FILES))
    journey.verdicts = lambda block: [
        {"id": item, "status": "FAIL", "finding": "wrong"} for item in block.asked()
    ]
    journey.start("--review", "small")
    block = journey.to("gate").follow(journey.last.next("fail")).block
    shown = (block.get("name"), block.get("iteration"), block.get("path"))
    assert shown == ("plan-code-execute", "2", "2 of 5")


def test_a_host_without_sub_agents_has_context_and_design_in_one_step(
    make_repo: Repositories,
) -> None:
    journey = Journey(make_repo(files=FILES))
    journey.verdicts = passing
    found = walked(journey, "--review", "full", "--alone")
    assert found[:3] == [
        ("context-verify", "1 of 6"), ("plan-design-qr", "2 of 6"), ("plan-code-execute", "3 of 6"),
    ]  # fmt: skip


def test_the_own_path_is_read_before_the_place_in_the_table(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files=FILES))
    text = journey.start().text
    assert text.startswith('<step workflow="planner" path="1 of ')
    assert '" number="2" of="11">' in text
