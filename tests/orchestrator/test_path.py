"""A run's own path is counted: what lies ahead of it, not all steps of the tables (FC-4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.journey import FILES, Journey, parsed

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


def test_a_small_plan_has_six_steps(make_repo: Repositories) -> None:
    found = walked(Journey(make_repo(files=FILES)), "--review", "small")
    assert found == [
        ("context-verify", "1 of 6"), ("plan-design-execute", "2 of 6"),
        ("plan-code-execute", "3 of 6"), ("plan-code-qr", "4 of 6"),
        ("init", "5 of 6"), ("load-verify", "6 of 6"),
    ]  # fmt: skip


def test_without_reviewers_it_has_five(make_repo: Repositories) -> None:
    found = walked(Journey(make_repo(files=FILES)), "--review", "none")
    assert [path for _, path in found][-1] == "5 of 5"
    assert ("plan-code-execute", "3 of 5") in found


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
    assert found[:5] == [
        ("context-verify", "1 of 7"), ("plan-design-execute", "2 of 7"), ("init", "3 of 7"),
        ("load-verify", "4 of 7"), ("impl-execute", "5 of 7"),
    ]  # fmt: skip
    assert found[-2:] == [("init", "6 of 7"), ("load-verify", "7 of 7")]


def test_a_fix_goes_back_on_the_same_path(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files=FILES))
    journey.verdicts = lambda block: [
        {"id": item, "status": "FAIL", "finding": "wrong"} for item in block.asked()
    ]
    journey.start("--review", "small")
    block = journey.to("gate").follow(journey.last.next("fail")).block
    shown = (block.get("name"), block.get("iteration"), block.get("path"))
    assert shown == ("plan-code-execute", "2", "3 of 6")
