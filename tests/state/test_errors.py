"""The refusal: every reason, in the words of the error contract."""

from __future__ import annotations

import pytest

from shared.builders import problem_text
from shared.resources import launcher
from state.errors import Problem, Refused

pytestmark = pytest.mark.requirement("PL-11")


def test_a_problem_says_what_is_wrong_then_what_is_allowed_then_what_to_run() -> None:
    assert problem_text(Problem("invalid", "x", "is wrong")) == "is wrong"
    assert problem_text(Problem("invalid", "x", "is wrong", "a, b")) == "is wrong · allowed: a, b"
    whole = Problem("invalid", "x", "is wrong", "a, b", "planner status")
    assert problem_text(whole) == f"is wrong · allowed: a, b · retry: {launcher()} status"


@pytest.mark.requirement("SD-7")
@pytest.mark.parametrize(
    ("command", "label"),
    [
        ("planner status", "retry"),
        ("'/a b/bin/planner' plan done --phase plan-code", "retry"),
        ("planner cancel --state-dir /x", "person"),
        ("/opt/p/bin/planner exec accept src/a.py --reason x", "person"),
        ("planner cancel --help", "retry"),
        ("planner prune --older-than 3d --dry-run", "retry"),
        ("git switch -c work", "user"),
        ("git -C /x commit --allow-empty -m 'a planner'", "user"),
    ],
)
def test_a_way_out_is_named_for_who_may_run_it(command: str, label: str) -> None:
    text = problem_text(Problem("refused", "x", "is wrong", retry=command))
    if command.startswith("planner "):
        command = launcher() + command.removeprefix("planner")
    assert text == f"is wrong · {label}: {command}"


def test_a_refusal_carries_every_problem_and_shows_them_all() -> None:
    problems = [Problem("invalid", "a", "one"), Problem("not_found", "b", "two")]
    refused = Refused.of(iter(problems))
    assert refused.problems == tuple(problems)
    assert str(refused) == "a: one; b: two"
    assert str(Refused("locked", "lock", "is held")) == "lock: is held"
    assert repr(problems[0]) == "Problem('invalid', 'a', 'one')"
