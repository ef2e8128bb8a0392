"""Negative controls: with a part of the protocol removed, what the fault tests check breaks."""

from __future__ import annotations

import compileall
import json
import re
import shutil
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from state.errors import Refused
from state.store import load_plan
from tests.faults import strace
from tests.faults.scene import Scene, batch_scene

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = (
    "architect", "bin", "cli", "developer", "orchestrator", "quality_reviewer", "requirements",
    "shared", "state", "technical_writer",
)  # fmt: skip
BATCH = ("plan", "batch", "--file", "answers/edits.json")
WRITE = "            view = view[os.write(descriptor, view) :]\n"
IN_PLACE = """\
def write_atomic(path: str, data: bytes, mode: int | None = None) -> None:
    with open(path, "wb") as file:
        file.write(data)
"""

pytestmark = [
    pytest.mark.skipif(strace.PROGRAM is None, reason="strace is not there to make faults with"),
    pytest.mark.slow,
]


@pytest.fixture
def without(tmp_path: Path) -> Callable[[str, str], str]:
    """Return a function that copies the planner with one text of state/files.py replaced."""

    def copy(old: str, new: str) -> str:
        place = tmp_path / "planner"
        for name in FOLDERS:
            shutil.copytree(ROOT / name, place / name)
        (place / ".deps").symlink_to(ROOT / ".deps")
        files = place / "state" / "files.py"
        text = files.read_text()
        assert text.count(old) == 1, old
        files.write_text(text.replace(old, new))
        # Bytecode that the command under test would write counts as points at which it may fail.
        compileall.compile_dir(place, quiet=2)
        return str(place / "bin" / "planner")

    return copy


def lost_updates(scene: Scene) -> int:
    """Return how many of two decisions are not there when one writer is slow to place its file."""
    words = [strace.PROGRAM or "strace", "-qq", "-o", "/dev/null", "-e", "trace=renameat"]
    slow = subprocess.Popen(
        [*words, "-e", "inject=renameat:delay_enter=3000000", *scene.command(*_add("Slow"))],
        env=strace.environment(),
        stdout=subprocess.DEVNULL,
    )
    while not list(scene.state_dir.glob(".plan.json.*")):
        assert slow.poll() is None
        time.sleep(0.01)
    assert scene.run(*_add("Quick")).code == 0
    slow.wait()
    plan = json.loads(scene.plan_bytes())
    return 2 - len(plan["planning_context"]["decision_log"])


def _add(name: str) -> tuple[str, ...]:
    words = ("plan", "add", "decision", "--decision", name)
    return (*words, "--reasoning-chain", "a fact -> a consequence -> it")


def broken_plans(scene: Scene, folder: Path) -> int:
    """Return after how many of all possible kills plan.json can't be read."""
    tracer = strace.Tracer(folder)
    broken = 0
    for point in tracer.points(scene.command(*BATCH)):
        if point.call == "write":
            scene.restore()
            tracer.fail(point, "KILL", scene.command(*BATCH))
            try:
                load_plan(str(scene.state_dir / "plan.json"))
            except Refused:
                broken += 1
    return broken


def order_of_writing(scene: Scene, log: Path) -> list[str]:
    """Return what was done for plan.json, in order: write, fsync, rename, fsync folder."""
    words = ["-qq", "-y", "-s", "0", "-o", str(log), "-e", "trace=write,fsync,renameat"]
    done = strace.run([strace.PROGRAM or "strace", *words, *scene.command(*BATCH)])
    assert done.code == 0, done.text
    shown = {
        "write": rf"write\(\d+<{scene.state_dir}/\.plan\.json",
        "fsync": rf"fsync\(\d+<{scene.state_dir}/\.plan\.json",
        "rename": r"renameat\(",
        "fsync folder": rf"fsync\(\d+<{scene.state_dir}>",
    }
    lines = log.read_text().splitlines()
    return [name for line in lines for name, form in shown.items() if re.match(form, line)]


def test_two_writers_lose_nothing(tmp_path: Path) -> None:
    assert lost_updates(batch_scene(tmp_path / "scene")) == 0


@pytest.mark.long
def test_without_the_lock_a_writer_loses_what_another_wrote(
    tmp_path: Path, without: Callable[[str, str], str]
) -> None:
    planner = without("fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)", "pass")
    assert lost_updates(batch_scene(tmp_path / "scene", planner)) == 1


@pytest.mark.long
def test_without_the_atomic_rename_a_kill_leaves_a_broken_plan(
    tmp_path: Path, without: Callable[[str, str], str]
) -> None:
    scene = batch_scene(tmp_path / "scene")
    assert broken_plans(scene, tmp_path / "whole") == 0
    scene.restore()
    old = "def write_atomic("
    scene.planner = without(old, f"{IN_PLACE}\n\n{old.replace('write_atomic', '_unused')}")
    assert broken_plans(scene, tmp_path / "trace") > 0


def test_bytes_are_on_disk_before_their_name_and_the_name_before_the_answer(
    tmp_path: Path,
) -> None:
    scene = batch_scene(tmp_path / "scene")
    order = order_of_writing(scene, tmp_path / "log")
    assert order == ["write", "fsync", "rename", "fsync folder"]


@pytest.mark.long
@pytest.mark.parametrize(
    ("old", "new", "missing"),
    [
        (f"{WRITE}        os.fsync(descriptor)\n", WRITE, "fsync"),
        ("    try:\n        os.fsync(folder)\n", "    try:\n        pass\n", "fsync folder"),
    ],
)
def test_without_an_fsync_the_order_shows_it(
    tmp_path: Path, without: Callable[[str, str], str], old: str, new: str, missing: str
) -> None:
    scene = batch_scene(tmp_path / "scene")
    scene.planner = without(old, new)
    assert missing not in order_of_writing(scene, tmp_path / "log")
