"""What printed steps cost, and that they are the same from every folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.conftest import GOLDEN
from tests.journey import FILES, VERIFIED, Journey, at_home, call
from tests.orchestrator.every_step import normalised

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Golden, Repository

    Repositories = Callable[..., Repository]

SMALL_PLAN_TOKENS = 4_000
TOKENS = "tokens.txt"


def tokens(text: str) -> int:
    """Return the size of a text as the budgets count it: characters by four, rounded up."""
    return -(-len(text) // 4)


def test_each_golden_block_costs_what_the_token_table_says(golden: Golden) -> None:
    files = sorted((GOLDEN / "blocks").glob("*.xml"))
    rows = [f"{file.stem:<36} {tokens(file.read_text(encoding='utf-8')):>5}" for file in files]
    assert rows
    golden(TOKENS, "\n".join(rows) + "\n")


@pytest.mark.requirement("PL-2")
def test_a_small_change_without_a_review_costs_less_than_4000_tokens_from_start_to_proof(
    make_repo: Repositories, golden: Golden
) -> None:
    journey = Journey(make_repo(files={**FILES, "planner.toml": VERIFIED})).to("committed")
    printed = sum(tokens(at_home(text, journey)) for text in journey.read)
    assert printed <= SMALL_PLAN_TOKENS
    calls = [c for c in journey.calls if c[0] != "config"]  # where there is no place
    assert [c[:2] for c in calls if c[0] == "approve"]
    shown = sum(tokens(normalised(text, journey)) for text in journey.read)
    golden("small-plan.txt", f"calls {len(calls)}\ntokens {shown}, paths left out\n")


def test_no_block_depends_on_the_folder_it_is_printed_from(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files=FILES)).to("design")
    elsewhere = make_repo("elsewhere").path
    for folder in (elsewhere, journey.repository.path / "src", f"{journey.state_dir}/worktree"):
        printed = call(folder, "step", "planner", "--state-dir", journey.state_dir)
        assert printed.text == journey.last.text
