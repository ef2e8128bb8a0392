"""Whole rounds of the lane: its states, files, history and commits (RL-1, RL-8, RL-9)."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from orchestrator.requirements import EDGES, STEPS
from shared.resources import ROOT

if TYPE_CHECKING:
    from tests.conftest import Golden
    from tests.requirement_rounds import Rounds


def normal(text: str) -> str:
    """Replace times and ids, which differ from one round to the next."""
    text = re.sub(r"\d{4}(-\d\d){2}_\d\d(-\d\d){2}", "TIME", text)
    text = re.sub(r"\b[0-9a-f]{64}\b", "DIGEST", text)
    return re.sub(r"\d{8}-[0-9a-f]{6}", "RUN", text)


@pytest.mark.quick
@pytest.mark.requirement("RL-1", "RL-3", "RL-8", "RL-9", "RL-10")
def test_two_rounds_leave_the_files_the_history_and_the_commits_of_the_design(
    rounds: Rounds, golden: Golden
) -> None:
    rounds.to_committed()
    assert rounds.state == "new-requirements"
    first = rounds.repository.git("rev-parse", "HEAD")
    rounds.edits = {"src/a.py": "def f(x):\n    return x + 3\n",
                    "tests/test_a.py": "from a import f\n\nassert f(1) == 4\n"}  # fmt: skip
    rounds.to_committed("- f adds three\n")
    assert rounds.repository.git("rev-parse", "HEAD^") == first
    message = rounds.repository.git("log", "-1", "--format=%B")
    files = rounds.repository.git("show", "--stat=200", "--format=", "HEAD")
    parts = [rounds.history(), "\n".join(rounds.names()) + "\n", normal(message), normal(files)]
    golden("requirements_lane/two-rounds.txt", "\n---\n".join(parts) + "\n")
    assert rounds.repository.git("status", "--porcelain") == ""


@pytest.mark.requirement("RL-1")
def test_every_state_is_a_step_and_every_edge_leads_from_one_to_another() -> None:
    names = {step.name for step in STEPS.values()}
    assert {state for state, _ in EDGES} | {*EDGES.values()} == names
    assert [step.name for step in STEPS.values()] == [
        "startup", "new-requirements", "refine", "implement", "complete",
    ]  # fmt: skip


MODULES = (
    "orchestrator/requirements.py", "orchestrator/requirements_steps.py", "cli/requirements.py",
    "cli/lanes.py", "architect/requirements_review.py",
    *(
        str(p.relative_to(ROOT))
        for p in (Path(ROOT) / "orchestrator/requirements_lane").glob("*.py")
    ),
)  # fmt: skip


@pytest.mark.requirement("RL-13")
@pytest.mark.parametrize("module", MODULES)
def test_what_a_model_is_told_to_do_stands_in_prompt_files(module: str) -> None:
    """Each text of a `task` or `rules` comes from a prompt file, by way of a call."""
    tree = ast.parse((Path(ROOT) / module).read_text(encoding="utf-8"))
    told = [
        node.args[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("task", "rules")
    ]
    names = {n.targets[0].id: n.value for n in ast.walk(tree)
             if isinstance(n, ast.Assign) and isinstance(n.targets[0], ast.Name)}  # fmt: skip
    for text in told:
        found = names.get(text.id) if isinstance(text, ast.Name) else text
        assert found is not None, ast.unparse(text)
        assert not "".join(literals(found)).strip(), ast.unparse(text)


def literals(node: ast.AST) -> list[str]:
    """Return the text written in an expression itself, not what its calls are given."""
    if isinstance(node, ast.Call):
        return []
    if isinstance(node, ast.Constant):
        return [node.value] if isinstance(node.value, str) else []
    return [text for child in ast.iter_child_nodes(node) for text in literals(child)]
