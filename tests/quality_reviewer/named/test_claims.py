"""What a plan claims of itself is borne out, or is listed for who approves it (SD-1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from shared.tree_runs import TreeRun, record
from tests.quality_reviewer.named.test_statements import frozen, listed

if TYPE_CHECKING:
    from shared.run import State
    from state.models import Plan

    Frozen = tuple[State, Plan]

__all__ = ("frozen",)
pytestmark = pytest.mark.requirement("SD-1")


def decided(text: str) -> dict[str, object]:
    log = [{"id": "DL-001", "decision": text, "reasoning_chain": "it is so"}]
    return {"planning_context": {"decision_log": log}}


def test_words_that_the_user_has_not_said_are_listed(frozen: Frozen) -> None:
    for quote in ("Wait 90 seconds", "give the cache … 250 values"):
        assert listed(frozen, context={"user_quotes": [quote]}) == []
    [sentence] = listed(frozen, context={"user_quotes": ["drop the tests"]})
    assert sentence.startswith("the assistant says that these are your words")


def test_a_name_that_the_overview_or_an_intent_promises_is_in_the_touched_files(
    frozen: Frozen,
) -> None:
    about = {"title": "A limit", "problem": "It grows."}
    assert listed(frozen, overview={**about, "approach": "`clear` and PLACES use get()."}) == []
    assert listed(frozen, overview={**about, "approach": "evict_newest() does it"}) == [
        "the overview promises evict_newest, which no touched file holds"
    ]


def test_a_number_that_nobody_has_said_is_listed(frozen: Frozen) -> None:
    state, plan = frozen
    state.run.request = "Give the cache a limit"
    assert listed((state, plan)) == ["WAIT_S = 90 (src/cache.py:5): nobody was asked"]
    assert listed((state, plan), context={"assumptions": ["1.5 minutes are enough"]}) == []
    assert len(listed((state, plan), context={"assumptions": ["1.5 places are enough"]})) == 1


def test_a_claimed_figure_is_one_that_a_recorded_run_has_printed(frozen: Frozen) -> None:
    state, _ = frozen
    text = "A dict, measured at 37 ms"
    assert listed(frozen, **decided(text)) == [
        f"DL-001 claims {text!r}, and no recorded run prints 37 ms"
    ]
    assert listed(frozen, **decided("A dict, not measured: 37 ms is a guess")) == []
    assert listed(frozen, **decided("A miss takes up to 90 s")) == []
    assert listed(frozen, **decided("A dict with a pause of 37 ms")) == []
    record(state.state_dir, TreeRun("bench", "0" * 40, 0, 1, "mean 37.0 ms"))
    assert listed(frozen, **decided(text)) == []
