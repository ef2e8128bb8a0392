"""`planner status --watch` in a real terminal: it draws, rings when its person is due, ends."""

from __future__ import annotations

import os
import pty
import subprocess
from typing import TYPE_CHECKING

import pytest

from shared.resources import launcher
from tests.shared.execution.scene import Scene, checkpoint, milestone

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.requirement("PC-16")
def test_a_terminal_rings_when_the_run_waits_for_its_person_and_is_left_at_its_end(
    tmp_path: Path,
) -> None:
    scene = Scene(tmp_path, [milestone(1, "a", waits_for=["CP-001"])], [checkpoint(1)])
    scene.do("begin")
    ours, theirs = pty.openpty()
    words = [launcher(), "status", "--watch", "--state-dir", scene.state_dir]
    with subprocess.Popen(words, stdin=theirs, stdout=theirs, stderr=theirs) as watching:
        os.close(theirs)
        seen = b""
        while b"\a" not in seen:
            seen += os.read(ours, 1 << 16)
        scene.move("cancel")
        while b"ended CANCELLED" not in seen:
            seen += os.read(ours, 1 << 16)
        assert watching.wait(timeout=30) == 0
    os.close(ours)
    assert seen.count(b"\a") == 1
    assert b"needs the decision CP-001" in seen
