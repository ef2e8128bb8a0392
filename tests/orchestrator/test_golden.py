"""What each step prints, byte for byte; each block is a prompt, so its diff is the review."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.conftest import GOLDEN
from tests.journey import FILES, VERIFIED, Journey, at_home, call
from tests.orchestrator.every_step import TOURS, normalised

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.conftest import Golden, Repository
    from tests.orchestrator.every_step import Stop

    Repositories = Callable[..., Repository]

LONGEST_BLOCK = 30_000
SMALL_PLAN_TOKENS = 4_000
TOKENS = "tokens.txt"


def tokens(text: str) -> int:
    """Return the size of a text as the budgets count it: characters by four, rounded up."""
    return -(-len(text) // 4)


@pytest.mark.requirement("PL-1", "PL-2", "PL-7", "PL-13", "PL-22")
@pytest.mark.parametrize("tour", TOURS, ids=lambda tour: tour.__name__)
def test_every_step_prints_its_golden_block(
    make_repo: Repositories, golden: Golden, tour: Callable[[Repositories], Iterator[Stop]]
) -> None:
    failures = []
    for name, journey, answer in tour(make_repo):
        assert answer.code == 0, answer.text
        assert answer.block.tag in ("step", "result")
        assert len(answer.text) < LONGEST_BLOCK
        try:
            golden(f"blocks/{name}.xml", normalised(answer.text, journey))
        except pytest.fail.Exception as failure:
            failures.append(str(failure))
    assert not failures, "\n".join(failures)


@pytest.mark.requirement("PL-1")
@pytest.mark.parametrize("tour", TOURS, ids=lambda tour: tour.__name__)
def test_a_step_is_printed_twice_alike_and_changes_nothing(
    make_repo: Repositories, tour: Callable[[Repositories], Iterator[Stop]]
) -> None:
    for _name, journey, answer in tour(make_repo):
        if answer.block.tag != "step" or answer.block.get("number") is None:
            continue
        before = snapshot(journey)
        words: tuple[str, ...] = ("step", str(answer.block.get("workflow")))
        if answer is journey.last and journey.calls[-1][0] == "step":
            words = journey.calls[-1]  # an agent's step and group
        again = [journey.planner(*words) for _ in range(2)]
        assert again[0] == again[1]
        assert snapshot(journey) == before
        if answer.block.get("number") == journey.last.block.get("number"):
            assert again[0].text == journey.last.text


def snapshot(journey: Journey) -> dict[str, bytes]:
    """Return every file of the run's folder and the database, content included."""
    folder = journey.repository.path / ".planner"
    return {str(p): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


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
