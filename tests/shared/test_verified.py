"""What is said of a verify command: where it ran, who chose it, and what came out (VR-4)."""

from __future__ import annotations

from typing import Any

import pytest

from shared.verified import facts_of, lines_for_review
from state.results import VerifyResult
from tests.state.plans import TREE

pytestmark = pytest.mark.requirement("VR-4")


def result(**values: Any) -> VerifyResult:  # noqa: ANN401 – fields of any type
    given = {"command": "make test", "baseline": "fail", "outcome": "pass", "tree": TREE}
    return VerifyResult(**(given | values))


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({}, "in the worktree · from planner.toml"),
        ({"where": "place"}, "confined, at the project's own path · from planner.toml"),
        ({"chosen_by": "candidate"}, "in the worktree · found in the project"),
        ({"chosen_by": "assistant"}, "in the worktree · the assistant's own"),
        ({"chosen_by": "assistant", "exercised": True}, "in the worktree · the assistant's own"),
        (
            {"chosen_by": "assistant", "exercised": False},
            (
                "NOT VERIFIED by it, since it passes with the changed code broken too"
                " · in the worktree · the assistant's own"
            ),
        ),
        ({"exercised": False}, "in the worktree · from planner.toml"),
        ({"seconds": 3}, "in the worktree · from planner.toml · 3 s"),
        (
            {"passed": 7, "failed": 0},
            "in the worktree · from planner.toml · 7 passed, 0 failed",
        ),
        (
            {"passed": 7, "failed": 1, "base_passed": 6, "base_failed": 0},
            "in the worktree · from planner.toml · 7 passed, 1 failed (base: 6, 0)",
        ),
        (
            {"lacks": "gcc", "seconds": 1},
            "in the worktree · from planner.toml · cannot run here: gcc · 1 s",
        ),
        (
            {"passed_over": ("tox: no tox",)},
            (
                "in the worktree · from planner.toml"
                " · passed over, since it fails on the base as well: tox: no tox"
            ),
        ),
    ],
)
def test_the_facts_of_a_result_stand_in_one_line(values: dict[str, Any], said: str) -> None:
    assert facts_of(result(**values)) == said


def test_a_review_is_shown_each_command_by_the_name_that_evidence_cites() -> None:
    assert lines_for_review([]) == []
    results = [
        result(passed_over=("tox: no tox", "nox: no nox")),
        result(command="make lint", baseline="pass", exercised=False, passed=2, failed=0),
        result(command="make docs", outcome="known-failure", exercised=True, lacks="sphinx"),
    ]
    assert lines_for_review(results) == [
        "passed over, since it fails on the base as well: tox: no tox",
        "passed over, since it fails on the base as well: nox: no nox",
        "verify 1: pass (base: fail) · make test",
        (
            "verify 2: pass (base: pass) · 2 passed, 0 failed"
            " · passes with the changed code broken too · make lint"
        ),
        "verify 3: known-failure (base: fail) · cannot run here: sphinx · make docs",
    ]
