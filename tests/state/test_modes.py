"""The catalogue of modes: six specialists, each with guidance and usual tools (PC-5)."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest

from shared.resources import ROOT
from state import plan_table
from state.models import Milestone
from state.modes import MODES, tools_of

pytestmark = pytest.mark.requirement("PC-5")


def test_the_catalogue_has_the_modes_that_a_plan_may_name() -> None:
    assert tuple(MODES) == get_args(Milestone.model_fields["mode"].annotation)
    assert {name: mode.title for name, mode in MODES.items()} == {
        "code": "Implementation Specialist", "test": "Validation Specialist",
        "research": "Research Strategist", "design": "Design Architect",
        "docs": "Documentation Specialist", "run": "Execution Specialist",
    }  # fmt: skip


def test_each_mode_has_a_badge_of_its_own_and_is_explained_to_who_plans() -> None:
    assert len({mode.icon for mode in MODES.values()}) == len(MODES)
    assert all(mode.planner_guidance for mode in MODES.values())
    assert all(mode.guidance for mode in MODES.values())


@pytest.mark.parametrize(
    ("mode", "files", "own", "tools"),
    [
        ("code", [], {}, (set(), set())),
        ("research", [], {}, (set(), {"write"})),
        ("run", [], {}, (set(), {"write"})),
        ("research", ["notes.md"], {}, (set(), set())),
        ("research", [], {"denied_tools": ["Bash"]}, (set(), {"bash"})),
        ("run", [], {"allowed_tools": ["Write", "Bash"]}, ({"write", "bash"}, set())),
    ],
)
def test_the_tools_of_a_mode_count_where_a_milestone_names_none_and_writes_no_file(
    mode: str, files: list[str], own: dict[str, list[str]], tools: tuple[set[str], set[str]]
) -> None:
    assert tools_of(plan_table.Milestone(mode=mode, files=files, **own)) == tools


def test_the_guide_has_the_catalogue() -> None:
    guide = Path(ROOT, "docs", "control.md").read_text()
    for name, mode in MODES.items():
        assert f"| {name} | {mode.title} | {mode.planner_guidance} |" in guide
