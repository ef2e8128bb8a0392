"""A criterion is borne out by a test, a run or its document; else who approves is told."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from quality_reviewer.criterion_evidence import claimed_criteria
from quality_reviewer.questions import CRITERIA
from shared.run import open_state
from shared.tree_runs import TreeRun, captured_tree, record
from state import store
from state.results import Answer, Outcome
from tests.journey import FILES, Journey

if TYPE_CHECKING:
    from collections.abc import Callable

    from shared.run import State
    from state.models import Plan
    from tests.conftest import Repository

pytestmark = [pytest.mark.requirement("RV-7"), pytest.mark.requirement("SD-4")]

TESTS = """\
import pytest
from a import f

def test_f():
    assert f(1) == 3

def test_text():
    with pytest.raises(TypeError):
        f("x")

def test_many():
    assert f(64) == 66

def test_same():
    assert f(2) == f(2)

def test_holds(self):
    self.assertTrue(f(2) == 4)
"""
NO_TEST = "no test or run shows it"
# A criterion, what is named for it, and what is said of that; '' where nothing is.
CASES = [
    ("f(1) is 3", "src/a.py:2", NO_TEST),
    ("f(1) is 3", "src/a.py: return x + 2", NO_TEST),
    ("f(1) is 3", "src/a.py:2; tests/test_a.py:5", ""),
    ("f(1) is 3", "tests/test_a.py:5 calls it", ""),
    ("f(1) is 3", "run 1: 3 passed", ""),
    ("f raises TypeError for a text", "src/a.py:2", NO_TEST),
    ("f raises TypeError for a text", "tests/test_a.py:8", ""),
    ("f raises TypeError for a text", "tests/test_a.py:5", "holds nothing of what it names"),
    ("f takes numbers up to 64", "tests/test_a.py:5", "holds nothing of what it names (64)"),
    ("f takes numbers up to 65", "tests/test_a.py:12", ""),
    ("f(2) is 4", "tests/test_a.py:15", "tests/test_a.py:15 compares a thing with itself"),
    ("f(2) is 4", "tests/test_a.py:18", ""),
    ("The constant stands in one place", "src/a.py:2", ""),
    ("README.md says that f adds two", "README.md:3", ""),
    ("The README says that f adds two", "README.md:3", ""),
    ("README.md says that f adds two", "src/a.py:2", "no line of README.md shows it"),
    ("The README names the sum", "tests/test_a.py:5", "no line of README.md shows it"),
    ("README.md explains rounding", "README.md:3", "README.md:3 shares no word with it"),
    ("f reads no file such as README.md", "tests/test_a.py:5", ""),
]


@pytest.fixture
def frozen(make_repo: Callable[..., Repository]) -> tuple[State, Plan]:
    """Return a run and its plan, ready to freeze, with tests and a document in the change."""
    journey = Journey(make_repo(files=FILES))
    journey.edits |= {"tests/test_a.py": TESTS, "README.md": "# Sample\n\n`f` adds two.\n"}
    for edit in journey.answers["design.json"]:
        if edit.get("kind") == "milestone":
            edit["fields"]["files"].append("README.md")
    also = {"milestone": "$m", "file": "README.md", "behavior": "says it", "decision_refs": ["$d"]}
    journey.answers["design.json"].append({"op": "add", "kind": "intent", "fields": also})
    journey.to("freeze")
    state = open_state(journey.state_dir, "/")
    tree = captured_tree(state.state_dir)
    with state.lock("test"):
        record(state.state_dir, TreeRun("python3 -m pytest", tree, 0, 1, "3 passed", passed=3))
    return state, store.load_plan(state.plan_path)


def judged(plan: Plan, criteria: list[str], evidence: list[str]) -> Plan:
    """Return a plan with these criteria, and a review that names this evidence for them."""
    (milestone,) = plan.milestones
    milestone = milestone.model_copy(update={"acceptance_criteria": tuple(criteria)})
    answer = Answer(
        check=CRITERIA, scope=milestone.id, severity="MUST", status="PASS", by="assistant",
        evidence="\n".join(evidence),
    )  # fmt: skip
    outcome = Outcome(phase="plan-code", iteration=1, by="host", answers=(answer,))
    return plan.model_copy(update={"milestones": (milestone,), "reviews": (outcome,)})


def test_evidence_shows_what_it_is_named_for_or_is_told(frozen: tuple[State, Plan]) -> None:
    state, plan = frozen
    for criterion, evidence, said in CASES:
        found = [*claimed_criteria(state, judged(plan, [criterion], [evidence]))]
        assert len(found) == bool(said), (criterion, evidence, found)
        for name, text in found:
            assert name == "M-001"
            assert text.startswith(f"M-001 “{criterion}” is claimed: ")
            assert said in text


def test_one_line_shows_only_the_criteria_whose_words_it_shares(
    frozen: tuple[State, Plan],
) -> None:
    state, plan = frozen
    criteria = ["f adds two to 1", "f raises TypeError for a text", "f rounds"]
    for lines, named in (
        (["tests/test_a.py:8"] * 3, ["f adds two to 1", "f rounds"]),
        (["tests/test_a.py:5", "tests/test_a.py:8", "tests/test_a.py:12"], []),
    ):
        found = [text for _, text in claimed_criteria(state, judged(plan, criteria, lines))]
        assert [c for c in criteria if any(f"“{c}”" in text for text in found)] == named, found


def test_what_nobody_has_judged_is_not_claimed(frozen: tuple[State, Plan]) -> None:
    state, plan = frozen
    assert not [*claimed_criteria(state, plan.model_copy(update={"reviews": ()}))]
    assert not [*claimed_criteria(state, judged(plan, ["f(1) is 3"], []))]
