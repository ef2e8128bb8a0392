"""What blocks in which iteration, and that every walk through a gate ends (PL-20, PL-21, PL-25)."""

from __future__ import annotations

import subprocess
import sys
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quality_reviewer.items import (
    ROUNDS_BEFORE_USER,
    carry_over,
    count_items,
    count_round,
    for_user,
    next_number,
)
from shared.qr import types
from shared.qr.types import (
    FAIL,
    MUST,
    NOT_CHECKED,
    PASS,
    SEVERITIES,
    STATUSES,
    TODO,
    Item,
    LoopState,
    blocking,
    blocking_severities,
    computed_verdict,
)
from shared.resources import ROOT
from state import fields
from state.errors import Refused
from state.phases import PHASES


def item(number: int = 1, **fields: object) -> Item:
    return Item(**{"id": f"qa-{number:03d}", "scope": "*", "check": "a-check", **fields})  # type: ignore[arg-type]


@pytest.mark.requirement("PL-21")
@pytest.mark.parametrize(
    ("iteration", "severities"),
    [
        (1, {"MUST", "SHOULD", "COULD"}),
        (2, {"MUST", "SHOULD", "COULD"}),
        (3, {"MUST", "SHOULD"}),
        (4, {"MUST", "SHOULD"}),
        (5, {"MUST"}),
        (6, {"MUST"}),
        (7, {"MUST"}),
    ],
)
def test_later_iterations_are_held_up_by_less(iteration: int, severities: set[str]) -> None:
    assert set(blocking_severities(iteration)) == severities
    for severity in SEVERITIES:
        failed = item(severity=severity, status=FAIL, finding="wrong")
        assert blocking([failed], iteration) == ([failed] if severity in severities else [])
        expected = "fail" if severity in severities else "pass"
        assert computed_verdict([failed], iteration) == expected


@pytest.mark.requirement("PL-18", "PL-21")
@pytest.mark.parametrize("iteration", range(1, 8))
def test_what_passed_was_accepted_or_could_not_be_checked_never_blocks(iteration: int) -> None:
    items = [
        item(1, status=PASS),
        item(2, status=NOT_CHECKED, finding="no parser"),
        item(3, status=FAIL, finding="wrong", accepted="it is meant so"),
    ]
    assert computed_verdict(items, iteration) == "pass"


@pytest.mark.requirement("PL-21")
def test_an_unanswered_item_allows_no_pass_whatever_its_severity() -> None:
    for iteration in range(1, 8):
        assert computed_verdict([item(severity="COULD", status=TODO)], iteration) == "fail"


def test_no_items_are_a_pass() -> None:
    assert computed_verdict([], 1) == "pass"


@pytest.mark.requirement("PL-20")
def test_a_failed_gate_leads_to_retry_and_a_passed_one_completes() -> None:
    assert LoopState.INITIAL.after("fail") is LoopState.RETRY
    assert LoopState.RETRY.after("fail") is LoopState.RETRY
    assert LoopState.INITIAL.after("pass") is LoopState.COMPLETE
    assert LoopState.RETRY.after("pass") is LoopState.COMPLETE


@pytest.mark.requirement("PL-20")
def test_a_complete_loop_takes_no_further_verdict() -> None:
    with pytest.raises(Refused, match="has already passed its quality review"):
        LoopState.COMPLETE.after("fail")


@pytest.mark.requirement("PL-20")
@given(st.lists(st.sampled_from(["pass", "fail"])))
def test_the_loops_state_follows_from_the_stored_iteration_alone(verdicts: list[str]) -> None:
    state, iteration = LoopState.INITIAL, 1
    for verdict in verdicts:
        state = state.after(verdict)  # type: ignore[arg-type]
        if state is LoopState.COMPLETE:
            assert LoopState.of(iteration, passed=True) is state
            break
        iteration += 1
        assert LoopState.of(iteration, passed=False) is state


@pytest.mark.requirement("PL-25", "PL-20")
@given(
    st.lists(st.sampled_from(SEVERITIES), max_size=5),
    st.lists(st.lists(st.sampled_from(STATUSES), min_size=5, max_size=5), max_size=20),
)
def test_every_walk_ends_since_the_user_is_asked_after_three_rounds(
    severities: list[types.Severity], answers: list[list[types.Status]]
) -> None:
    """A user who accepts what keeps failing ends every walk, however the reviewers answer."""
    items = [item(n, severity=s) for n, s in enumerate(severities, start=1)]
    state, iteration = LoopState.INITIAL, 1
    while state is not LoopState.COMPLETE:
        assert iteration <= 1 + ROUNDS_BEFORE_USER * 5 + len(answers)
        row = answers[iteration - 1] if iteration <= len(answers) else [FAIL] * 5
        items = [i._replace(status=s, finding="wrong") for i, s in zip(items, row, strict=False)]
        verdict = computed_verdict(items, iteration)
        state = state.after(verdict)
        if verdict == "fail":
            items = count_round(items, iteration)
            iteration += 1
            stuck = for_user(items, iteration)
            accepted = [i._replace(accepted="go on") if i in stuck else i for i in items]
            assert all(i.rounds <= ROUNDS_BEFORE_USER for i in items)
            items = accepted


@pytest.mark.requirement("PL-25")
def test_only_items_that_block_count_a_round() -> None:
    items = [item(1, status=FAIL, finding="x", severity="COULD"), item(2, status=FAIL, finding="y")]
    assert [i.rounds for i in count_round(items, 3)] == [0, 1]


@pytest.mark.requirement("PL-25")
def test_the_user_is_asked_when_an_item_blocks_after_its_third_round() -> None:
    failed = item(status=FAIL, finding="wrong", severity=MUST)
    rounds = []
    for iteration in range(1, 5):
        rounds.append(for_user([failed], iteration) == [failed])
        failed = count_round([failed], iteration)[0]
    assert rounds == [False, False, False, True]


def test_the_figures_count_by_status_and_say_what_blocks() -> None:
    items = [
        item(1, status=PASS),
        item(2, status=FAIL, finding="x", severity="COULD"),
        item(3, status=FAIL, finding="y", accepted="fine"),
        item(4),
    ]
    assert count_items(items, 3) == {
        "TODO": 1, "PASS": 1, "FAIL": 2, "NOT_CHECKED": 0, "blocking": 0, "accepted": 1,
    }  # fmt: skip


@pytest.mark.requirement("PL-25")
def test_a_scripts_item_keeps_id_and_rounds_when_it_is_made_again() -> None:
    previous = [
        item(1, by="script", scope="a.py", status=FAIL, finding="line 1", rounds=2),
        item(2, by="script", check="other", status=PASS)._replace(id="qs-002"),
        item(3, by="reviewer", scope="b.py", status=FAIL, finding="line 9", rounds=1),
    ]
    fresh = [
        item(1, by="script", scope="b.py", status=FAIL, finding="line 9"),
        item(2, by="script", scope="a.py", status=FAIL, finding="line 7"),
        item(3, by="reviewer", scope="c.py"),
    ]
    kept = carry_over(previous, fresh)
    assert [(i.id, i.scope, i.rounds) for i in kept] == [
        ("qs-003", "b.py", 0),  # numbered apart from the reviewers' questions
        ("qa-001", "a.py", 2),  # as it was called before that
        ("qa-004", "c.py", 0),
    ]


@pytest.mark.requirement("PL-25")
def test_an_acceptance_holds_for_the_finding_that_was_seen_and_no_other() -> None:
    seen = item(1, by="script", scope="a.py", status=FAIL, finding="line 1", accepted="a sample")
    same, other = (
        carry_over([seen], [item(5, by="script", scope="a.py", status=FAIL, finding=finding)])[0]
        for finding in ("line 1", "line 2")
    )
    assert (same.id, same.accepted) == ("qa-001", "a sample")
    assert (other.id, other.accepted) == ("qa-001", None)


@given(
    st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from(["*", "f"]), st.sampled_from("xy")))
)
def test_carrying_over_never_gives_an_id_twice(rows: list[tuple[str, str, str]]) -> None:
    items = [
        item(n, by="script", check=c, scope=s, status=FAIL, finding=f)
        for n, (c, s, f) in enumerate(rows, start=1)
    ]
    kept = carry_over(items[: len(items) // 2], items)
    assert len({i.id for i in kept}) == len(items)
    assert [(i.check, i.scope, i.finding) for i in kept] == rows_with_findings(items)
    assert next_number(kept, "script") <= len(items) + 1


def rows_with_findings(items: list[Item]) -> list[tuple[str, str, str | None]]:
    return [(i.check, i.scope, i.finding) for i in items]


def test_severities_and_phases_are_those_of_the_plan() -> None:
    assert get_args(fields.Severity) == types.SEVERITIES
    assert get_args(fields.__dict__["Phase"]) == PHASES


def test_reading_a_review_imports_no_package() -> None:
    code = (
        f"import sys; sys.path.insert(0, {ROOT!r}); import shared.qr.schema; "
        "import quality_reviewer.items; "
        "print(*{'argparse', 'pydantic', 'jsonschema'} & {*sys.modules})"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code], check=True, capture_output=True, text=True
    )
    assert done.stdout == "\n"
