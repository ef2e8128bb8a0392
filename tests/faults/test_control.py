"""Every system call of a command that steers a run fails in turn; repeating it recovers (90)."""

from __future__ import annotations

import os
import shutil
import sqlite3
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.faults import strace
from tests.faults.trial import KILLED, chosen
from tests.forms import part
from tests.journey import LAUNCHER
from tests.shared.execution.scene import Scene, checkpoint, milestone

if TYPE_CHECKING:
    from collections.abc import Callable

    Say = Callable[[str], None]

pytestmark = [
    pytest.mark.skipif(strace.PROGRAM is None, reason="strace is not there to make faults with"),
    pytest.mark.slow,
    pytest.mark.requirement("PC-8", "PC-10"),
]
WANTED = 3
COMMANDS = {
    "decide": ("decide", "CP-001", "jwt"),
    "retry": ("retry", "M-001"),
    "limited": ("exec", "limited", "M-003"),
    "pause": ("pause",),
    "resume": ("resume",),
    "take over": ("resume", "--take-over"),
    "cancel": ("cancel",),
    "auto on": ("auto", "on"),
    "auto off": ("auto", "off"),
}
# What a command stores, times left out.
TABLES = {
    "runs": "status, stage", "milestones": "milestone, status, note, waits, agent, attempts",
    "answers": "checkpoint, choices", "auto": "most_files, risk", "events": "kind, payload",
    "holders": "instance", "audit": "action, from_state, to_state, detail",
}  # fmt: skip


def prepared(folder: Path, name: str) -> Scene:
    """Return a run of which one milestone is blocked, one waits for an answer, one is at work."""
    scene = Scene(
        folder,
        [milestone(1, "a"), milestone(2, "b", waits_for=["CP-001"]), milestone(3, "c")],
        [checkpoint(1)], max_parallel_steps=3,
    )  # fmt: skip
    scene.do("begin")
    scene.do("start", "M-001")
    scene.do("start", "M-003", "agent-3")
    scene.do("block", "M-001", "no disk")
    state = scene.state()
    with state.database as database:
        database.set_holder(state.run, "one", "gone", 0, "")
        if name == "auto off":
            database.set_auto(state.run, 5, "low", "person", "terminal")
    state.database.connection.execute("UPDATE holders SET at='2000-01-01T00:00:00Z'")
    if name == "resume":
        scene.move("pause")
    return scene


def stored(scene: Scene) -> dict[str, list[tuple[object, ...]]]:
    """Return all that the database holds of the run."""
    path = Path(scene.state_dir).parents[1] / "planner.db"
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        rows = {t: connection.execute(f"SELECT {c} FROM {t}").fetchall() for t, c in TABLES.items()}  # noqa: S608
    connection.close()
    return rows


@pytest.mark.parametrize("name", part([*COMMANDS], 5, outer=True))
def test_a_command_that_steers_is_done_once_whatever_fails_on_the_way(
    tmp_path: Path, say: Say, name: str
) -> None:
    live, kept = tmp_path / "live", tmp_path / "kept"
    scene = prepared(live, name)
    python = [sys.executable, "-I", "-S", "-X", "utf8", LAUNCHER]
    command = [*python, *COMMANDS[name], "--state-dir", scene.state_dir]
    shutil.copytree(live, kept)
    before = stored(scene)

    def restore() -> None:
        shutil.rmtree(live)
        shutil.copytree(kept, live)

    assert strace.run(command).code == 0
    after = stored(scene)
    assert after != before
    tracer = strace.Tracer(tmp_path / "trace")
    restore()
    points = tracer.points(command)
    faults = chosen(points, WANTED)
    for point, fault in faults:
        restore()
        ended = tracer.fail(point, fault, command)
        where = f"{fault} at {tuple(point)}: {ended.text[:300]}{ended.errors[-300:]}"
        assert ended.code in {0, 1, *KILLED}, where
        assert "Traceback" not in ended.errors, where
        assert stored(scene) in (before, after), where
        again = strace.run(command)
        assert again.code == 0, where + again.text
        assert stored(scene) == after, where
        assert not [f for f in os.listdir(scene.state_dir) if f.endswith(".tmp")], where
    say(f"{name}: {len(points)} points, {len(faults)} faults, all recovered")
