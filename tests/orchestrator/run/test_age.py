"""How long an age is, and when a run ended."""

from __future__ import annotations

import pytest

from orchestrator.run.age import DEFAULT_AGE, seconds_of
from tests.state.plans import refusal


@pytest.mark.parametrize(
    ("age", "seconds"),
    [("1h", 3_600), ("12h", 43_200), ("1d", 86_400), (DEFAULT_AGE, 2_592_000), ("2w", 1_209_600),
     ("0d", 0), ("999999h", 3_599_996_400)],
)  # fmt: skip
def test_an_age_is_a_number_with_its_unit(age: str, seconds: int) -> None:
    assert seconds_of(age) == seconds


@pytest.mark.parametrize("age", ["", "d", "30", "30m", "-1d", "1.5d", "1 d", "30d ", "1000000h"])
def test_what_is_no_age_is_refused_with_an_example(age: str) -> None:
    [problem] = refusal(seconds_of, age)
    assert (problem.kind, problem.at) == ("invalid", "--older-than")
    assert problem.problem == f"{age!r} is not an age"
    assert problem.allowed == "a number with h, d or w, such as 30d"
    assert problem.retry == "planner prune --dry-run"
