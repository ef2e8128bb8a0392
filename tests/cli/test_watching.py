"""`planner status --watch` in a real terminal: it draws, rings when its person is due, ends."""

from __future__ import annotations

import os
import pty
import subprocess
from typing import TYPE_CHECKING

import pytest

from cli.whole_run import notification
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
    env = {**os.environ, "TERM": "xterm-256color"}
    with subprocess.Popen(words, stdin=theirs, stdout=theirs, stderr=theirs, env=env) as watching:
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
    assert seen.count(b"\x1b]9;planner: ") == 1
    assert b"1 decision\x1b\\" in seen.partition(b"\x1b]9;")[2]


@pytest.mark.requirement("PC-16")
@pytest.mark.parametrize(
    ("terminal", "start"),
    [("xterm-kitty", "\x1b]9;planner: "), ("foot", "\x1b]777;notify;planner;"),
     ("rxvt-unicode-256color", "\x1b]777;notify;planner;")],
)  # fmt: skip
def test_a_notification_ends_where_it_should_whatever_the_request_holds(
    terminal: str, start: str
) -> None:
    text = notification("Do\x1b]0;x\x07 it \x9c · waits for your approval", terminal)
    assert text.startswith(start)
    assert text.endswith("waits for your approval\x1b\\")
    assert not set("\x07\x9c\x1b") & set(text.removeprefix(start).removesuffix("\x1b\\"))


@pytest.mark.requirement("PC-16")
@pytest.mark.parametrize("terminal", ["", "dumb", "linux"])
def test_a_terminal_that_could_print_it_gets_the_bell_alone(terminal: str) -> None:
    assert notification("Do it", terminal) == ""
