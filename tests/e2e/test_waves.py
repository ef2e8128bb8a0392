"""Several milestones: their waves are computed, and one command applies them all."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.e2e.drive import Host, design

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Repository


@pytest.mark.requirement("PL-27")
def test_one_command_applies_the_milestones_of_all_waves(project: Repository) -> None:
    """At depth full nothing waits: a wave orders the plan, not the writing."""

    def edit(tree: Path) -> None:
        for name in ("one", "two", "three"):
            (tree / f"{name}.py").write_text(f"{name} = 1\n")

    host = Host(project.path, edit, processes=True)
    host.answers["design.json"] = design(["one.py"], ["two.py"], ["three.py"], after={3: 1})
    assert host.to("committed").last.data("proof")
    plan = json.loads(host.planner("plan", "show", "--json").text)
    waves = [w["milestones"] for w in plan["milestone_dependencies"]["waves"]]
    assert waves == [["M-001", "M-002"], ["M-003"]]
    changed = project.git("diff", "--name-only", "HEAD^", "HEAD", "--", "*.py").split()
    assert changed == ["one.py", "three.py", "two.py"]
