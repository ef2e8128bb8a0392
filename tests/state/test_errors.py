"""The refusal: every reason, in the words of the error contract."""

from __future__ import annotations

import pytest

from state.errors import Problem, Refused

pytestmark = pytest.mark.requirement("PL-11")


def test_a_problem_says_what_is_wrong_then_what_is_allowed_then_what_to_run() -> None:
    assert Problem("invalid", "x", "is wrong").text() == "is wrong"
    assert Problem("invalid", "x", "is wrong", "a, b").text() == "is wrong · allowed: a, b"
    whole = Problem("invalid", "x", "is wrong", "a, b", "planner status")
    assert whole.text() == "is wrong · allowed: a, b · retry: planner status"


def test_a_refusal_carries_every_problem_and_shows_them_all() -> None:
    problems = [Problem("invalid", "a", "one"), Problem("not_found", "b", "two")]
    refused = Refused.of(iter(problems))
    assert refused.problems == tuple(problems)
    assert str(refused) == "a: one; b: two"
    assert str(Refused("locked", "lock", "is held")) == "lock: is held"
    assert repr(problems[0]) == "Problem('invalid', 'a', 'one')"
