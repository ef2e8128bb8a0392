"""Scenes of depth intent: just before agents start, before one hands in, before all is ended."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from shared.run import open_state
from state.files import read_json, write_json
from tests.e2e.drive import design
from tests.faults.scene import Scene

if TYPE_CHECKING:
    from pathlib import Path

RESULT = {"status": "success", "output": "done"}


def waves_scene(folder: Path, point: str) -> tuple[Scene, list[str]]:
    """Return a scene at depth intent and the command that comes next at `point`."""
    scene = Scene(folder)
    host = scene.host
    host.answers["design.json"] = design(["changed.txt", "new/file.txt"], ["gone.txt"])
    host.start("--depth", "intent", "--review", "none")
    host.to("approved")
    path = str(scene.state_dir / "config.json")
    config = read_json(path)
    config["config"]["max_parallel_steps"] = 2
    write_json(path, config)
    for command in ("exec apply", "exec done", "exec next"):
        words = command.split()
        if command == "exec done":
            words += _written(scene, "M-001")
        if command == point:
            scene.user_works() if point == "exec done" else None
            scene.keep()
            return scene, words
        assert scene.run(*words).code == 0
        if command == "exec done":
            assert scene.run("exec", "done", *_written(scene, "M-002")).code == 0
    raise AssertionError(point)


def _written(scene: Scene, name: str) -> list[str]:
    """Write a milestone as its agent does; return the words with which it is handed in."""
    tree = scene.state_dir / "milestones" / name
    if name == "M-001":
        (tree / "changed.txt").write_text("one\nzwei\n")
        (tree / "new").mkdir()
        (tree / "new" / "file.txt").write_text("new\n")
    else:
        (tree / "gone.txt").unlink()
    result = f"answers/result-{name}-1.json"
    (scene.state_dir / result).write_text(json.dumps(RESULT))
    return ["--milestone", name, "--attempt", "1", "--file", result, "--role", "developer"]


def progress(scene: Scene) -> dict[str, object]:
    """Return all that a wave changes: the run's step, each milestone, each written file."""
    state = open_state(str(scene.state_dir), "/")
    run, worktree = state.run, scene.state_dir / "worktree"
    rows = state.database.progress(run)
    found: dict[str, object] = {
        "run": (run.workflow, run.step, run.revision, run.depth, run.stage),
        "milestones": {name: (row.status, row.attempts) for name, row in rows.items()},
        "written": {
            str(path.relative_to(worktree)): path.read_bytes()
            for path in worktree.rglob("*")
            if path.is_file() and path.name != ".git"
        },
        "events": sorted(
            row["kind"] for row in state.database.event_rows(run) if row["kind"] != "PlanDecision"
        ),
    }
    state.database.close()
    return found
