"""The plans in examples/ are what our own program writes, and CI accepts them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from cli.demo.command import play, play_rounds
from state.models import Plan
from tests.journey import FILES, Journey, call

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "examples"
NAMES = ("small.json", "full.json", "moved.json")

pytestmark = pytest.mark.requirement("HO-7")


def changes(plan: dict[str, Any]) -> list[dict[str, Any]]:
    return [change for milestone in plan["milestones"] for change in milestone["code_changes"]]


def moved(make_repo: Callable[..., Repository]) -> Path:
    """Plan to move one file and to remove another; return the plan's path."""
    old = "def g(x):\n    return x\n"
    journey = Journey(make_repo(files={**FILES, "src/old.py": old, "src/names.py": "A = 1\n" * 9}))
    journey.request = "Move the names and remove what nobody calls"
    milestone = {
        "name": "Move the names, remove g",
        "files": ["src/names.py", "src/constants.py", "src/old.py"],
        "requirements": ["T-1"],
        "acceptance_criteria": ["`git grep 'old import'` prints nothing"],
        "tests": {"skip_reason": "nothing imports either file"},
    }
    overview = {
        "title": journey.request, "problem": "names.py says nothing, old.py is dead",
        "approach": "Move the file as it is; delete the other.",
    }  # fmt: skip
    journey.answers["context.json"] = {"task_spec": ["names.py is constants.py, old.py is gone"]}
    journey.answers["design.json"] = [
        {"op": "set", "id": "overview", "version": 1, "fields": overview},
        {"op": "add", "kind": "milestone", "as": "$m", "fields": milestone},
        *(
            {"op": "add", "kind": "intent", "fields": {
                "milestone": "$m", "file": file, "behavior": behavior}}
            for file, behavior in (
                ("src/constants.py", "holds what names.py held"),
                ("src/names.py", "is moved to constants.py"), ("src/old.py", "is removed"))
        ),
    ]  # fmt: skip
    journey.edits = {"src/constants.py": "A = 1\n" * 9}
    journey.to("code")
    for name in ("names.py", "old.py"):
        (Path(journey.state_dir) / "worktree" / "src" / name).unlink()
    journey.to("submitted")
    return Path(journey.state_dir) / "plan.json"


def play_into(folder: Path, player: Callable[[str], object]) -> Path:
    """Play a demo in a folder and return the path of its last plan."""
    player(str(folder))
    plans = folder.glob("repository/.planner/runs/*/plan.json")
    return max(plans, key=lambda path: json.loads(path.read_bytes())["frozen_at"])


def test_each_example_is_a_frozen_plan_of_todays_form(
    request: pytest.FixtureRequest, tmp_path: Path, make_repo: Callable[..., Repository]
) -> None:
    """`--update-golden` makes them again, by the demos and a journey of the tests."""
    if request.config.getoption("--update-golden"):
        shutil.copyfile(play_into(tmp_path / "small", play_rounds), EXAMPLES / "small.json")
        shutil.copyfile(play_into(tmp_path / "full", play), EXAMPLES / "full.json")
        shutil.copyfile(moved(make_repo), EXAMPLES / "moved.json")
    answer = call(ROOT, "validate", "--require-frozen", *(f"examples/{name}" for name in NAMES))
    assert answer.code == 0, answer.text
    for name in NAMES:
        plan = json.loads((EXAMPLES / name).read_bytes())
        assert set(plan) == set(Plan.model_fields)


def test_the_examples_show_what_their_names_say() -> None:
    small, full, other = (json.loads((EXAMPLES / name).read_bytes()) for name in NAMES)
    assert len(small["milestones"]) == 1
    assert len(full["milestones"]) >= 3
    assert len(full["milestone_dependencies"]["waves"]) >= 2
    assert full["planning_context"]["decision_log"]
    assert full["checkpoints"]
    assert {row["outcome"] for row in full["verify"]} == {"pass"}
    found = changes(other)
    assert [c["file"] for c in found if c["old_file"]] == ["src/constants.py"]
    assert [c["file"] for c in found if c["after"] is None] == ["src/old.py"]


def test_an_example_that_somebody_edits_is_a_finding(tmp_path: Path) -> None:
    for name in NAMES:
        plan = json.loads((EXAMPLES / name).read_bytes())
        plan["overview"]["title"] = "Something else"
        (tmp_path / name).write_text(json.dumps(plan), encoding="utf-8")
        answer = call(tmp_path, "validate", "--require-frozen", name)
        assert answer.code == 1
        assert "overview differs" in answer.text
