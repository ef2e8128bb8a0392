"""What is said of a run that has ended, and the command for it (FC-4)."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from orchestrator.run.outcome import outcome_of
from shared.execution.progress import View
from shared.resources import journal_path
from tests.shared.execution.scene import Scene, milestone
from tests.state.plans import CHANGE

COMMIT = "c" * 40
NOTHING = "your files: nothing of this run is in them"
KEPT = "logs and answers of the run: kept until you run `planner prune` on "


def changes(*files: str) -> dict[str, Any]:
    ids = {file: f"CC-{ord(file[0]):03}" for file in files}
    return {"code_changes": [{**CHANGE, "id": ids[file], "file": file} for file in files]}


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path, [
        milestone(1, "a.py", **changes("a.py")),
        milestone(2, "b.py c.py", **changes("b.py", "c.py")),
    ])  # fmt: skip


def said(scene: Scene, **row: object) -> tuple[list[str], str, bool]:
    """Return the lines but that on what is kept, the command after the launcher, what is there."""
    state = scene.place(**row)
    found = outcome_of(state, View(state))
    *lines, kept = found.lines
    assert re.fullmatch(re.escape(KEPT) + r"\d{4}-\d\d-\d\d or later", kept)
    return lines, found.command.partition("bin/planner ")[2], found.is_there


def test_a_cancelled_run_left_nothing_and_can_be_started_again(scene: Scene) -> None:
    scene.move("cancel")
    assert said(scene) == ([NOTHING], "start 'Parse dates'", False)


def test_what_was_applied_and_not_committed_stays_and_can_be_undone(scene: Scene) -> None:
    scene.move("cancel")
    Path(journal_path(scene.state_dir)).mkdir()
    Path(journal_path(scene.state_dir), "journal.json").write_text(
        '{"version": 1, "state": "applied", "digest": "", "x_bits": true, "moves": [],'
        ' "folders": {}}'
    )
    lines, command, is_there = said(scene)
    assert lines == ["your files: they hold what was applied; it is not committed"]
    assert command.startswith("undo ")
    assert is_there


def test_a_committed_run_names_commit_branch_files_and_its_proof(scene: Scene) -> None:
    scene.move("cancel")  # the end is in the audit
    lines, command, is_there = said(scene, status="COMPLETED", commit_id=COMMIT)
    assert lines == [
        f"commit: {COMMIT} on no branch any more, 3 files",
        "proved: the commit holds exactly what was approved",
    ]
    assert command.startswith("undo ")
    assert is_there
    state = scene.state()
    assert outcome_of(state, None).lines[0].endswith(", 0 files")


def test_a_commit_of_one_file_is_counted_in_the_singular(tmp_path: Path) -> None:
    scene = Scene(tmp_path, [milestone(1, "a.py", **changes("a.py"))])
    scene.move("cancel")
    assert said(scene, status="COMPLETED", commit_id=COMMIT)[0][0].endswith(", 1 file")


def test_a_commit_that_was_taken_back_names_the_last_that_did(scene: Scene) -> None:
    scene.move("cancel")
    state = scene.place(commit_id=COMMIT)
    with state.database:
        for detail in ("d" * 40, "e" * 40):
            state.database.audit(state.run, "host", "revert", detail=detail)
    lines, command, is_there = said(scene)
    assert lines == [
        f"commit: {COMMIT} on no branch any more, 3 files", f"taken back by: {'e' * 40}", NOTHING
    ]  # fmt: skip
    assert (command, is_there) == ("start 'Parse dates'", False)


@pytest.mark.parametrize(
    ("workflow", "status", "command"),
    [
        ("strategy", "COMPLETED", ""), ("strategy", "CANCELLED", "start 'Parse dates'"),
        ("requirements", "COMPLETED", ""), ("requirements", "CANCELLED", ""),
    ],
)  # fmt: skip
def test_a_run_that_only_weighed_or_refined_names_no_change(
    scene: Scene, workflow: str, status: str, command: str
) -> None:
    found = outcome_of(scene.place(workflow=workflow, status=status), None)
    assert (found.lines, found.command.partition("bin/planner ")[2]) == ([], command)
