"""A plan that does not fit into one block: the block says how to see the rest of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from shared.builders import visible
from tests.journey import FILES, Journey, words_of
from tests.larger_tasks import larger

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

    Repositories = Callable[..., Repository]

ALL = "all of request"

LONG = "f adds two, and says so in a text that is long. " * 80


def long_design(make_repo: Repositories) -> Journey:
    """Return a run whose design is far longer than a block and waits for its review."""
    journey = larger(make_repo, "long", [3, 3, 3], {})
    journey.review = "full"
    for edit in journey.answers["design.json"]:
        if edit.get("kind") == "intent":
            edit["fields"]["behavior"] = LONG
    journey.start("--depth", "full")
    return journey.to("design review")


def test_a_plan_that_is_cut_names_the_command_for_one_milestone(make_repo: Repositories) -> None:
    journey = long_design(make_repo)
    shown = journey.planner("plan", "show")
    assert "characters left out" in shown.data("plan")
    task = shown.block.findtext("task") or ""
    one = journey.run(*words_of(task.partition("`")[2].partition("`")[0]))
    assert one.data("plan").count(LONG.strip()) == 3
    assert one.block.find("task") is None


def test_a_reviewer_of_a_long_plan_is_told_how_to_see_all_of_it(make_repo: Repositories) -> None:
    journey = long_design(make_repo)
    asked = journey.run(*words_of(journey.last.runs()[0]))
    assert "plan show M-001" in (asked.block.findtext("task") or "")
    assert asked.data("plan").startswith("M-001 ")


@pytest.mark.requirement("SD-1")
@pytest.mark.parametrize("sign", ["ä", "]]>", "\x1b"])
@pytest.mark.parametrize("depth", [("--depth", "full"), ()])
def test_of_a_request_that_no_block_holds_nothing_is_lost(
    make_repo: Repositories, sign: str, depth: tuple[str, ...]
) -> None:
    """Each block that cuts it names the command that prints it, part after part.

    Without a depth that is the block in which a strategy is chosen.
    """
    request = "".join(f"{n}{sign}," for n in range(9_000))
    journey = Journey(make_repo(files=FILES), request)
    journey.last = journey.run("start", request, *depth)
    assert "characters left out" in journey.last.data("request")
    shown = journey.follow(journey.last.next(ALL))
    parts = [shown.data("request").partition(" … [")[0]]
    while rest := [n.text or "" for n in shown.block.iter("next")]:
        shown = journey.follow(rest[0])
        parts.append(shown.data("request").partition(" … [")[0])
    assert "".join(parts) == visible(request)
    assert len(parts) > 1
