"""Several milestones: their waves are computed, and one command applies them all."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.e2e.drive import Host

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Repository


def milestone(name: str, file: str, after: str | None = None) -> list[dict[str, object]]:
    """Return the edits for a milestone with one file."""
    fields = {
        "name": name,
        "files": [file],
        "requirements": ["T-1"],
        "acceptance_criteria": ["it is there"],
        "tests": {"skip_reason": "sample"},
        "depends_on": [after] if after else [],
    }
    intent = {"milestone": f"${name}", "file": file, "behavior": "holds a value"}
    return [
        {"op": "add", "kind": "milestone", "as": f"${name}", "fields": fields},
        {"op": "add", "kind": "intent", "fields": intent},
    ]


@pytest.mark.requirement("PL-27")
def test_one_command_applies_the_milestones_of_all_waves(project: Repository) -> None:
    """At depth full nothing waits: a wave orders the plan, not the writing."""

    def edit(tree: Path) -> None:
        for name in ("one", "two", "three"):
            (tree / f"{name}.py").write_text(f"{name} = 1\n")

    host = Host(project.path, edit, ["one.py", "two.py", "three.py"], processes=True)
    overview = {"title": "Three values", "problem": "none is there", "approach": "add them"}
    edits = [
        {"op": "set", "id": "overview", "version": 1, "fields": overview},
        *milestone("first", "one.py"),
        *milestone("second", "two.py"),
        *milestone("third", "three.py", after="$first"),
    ]
    host.answers["design.json"] = edits
    assert host.to("committed").last.data("proof")
    plan = json.loads(host.planner("plan", "show", "--json").text)
    waves = [w["milestones"] for w in plan["milestone_dependencies"]["waves"]]
    assert waves == [["M-001", "M-002"], ["M-003"]]
    changed = project.git("diff", "--name-only", "HEAD^", "HEAD", "--", "*.py").split()
    assert changed == ["one.py", "three.py", "two.py"]
