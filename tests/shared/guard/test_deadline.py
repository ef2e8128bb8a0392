"""hooks/guard when what decides is stopped, killed or slow: the call is denied in a few seconds.

A client runs the command as it is when its hook takes too long. Only what decides is replaced here,
by interpreters that misbehave; the shell part is the one that clients run.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from tests.forms import part
from tests.hook_entries import hooks_of
from tests.journey import LAUNCHER
from tests.shared.guard.client import GUARD, SESSION

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.requirement("PP-6")

DEADLINE_S = 3
MOST_S = 60  # on a busy machine; clients wait for longer
PATIENT_S = 45  # the deadline where a test is about what is in time, however busy the machine is
LATE, FAILED = f"did not decide within {DEADLINE_S} s", "could not be started, or it failed"
ALLOW = json.dumps({"hookSpecificOutput": {"permissionDecision": "allow"}})
# What the interpreter does in place of deciding.
ENDING = {
    "is killed": "os.kill(os.getpid(), signal.SIGKILL)",
    "answers and is killed": "print(ALLOW, flush=True); os.kill(os.getpid(), signal.SIGKILL)",
    "answers and fails": "print(ALLOW, flush=True); sys.exit(1)",
    "prints lines without end": "[os.write(1, b'y\\n' * 999) for _ in iter(int, 1)]",
    "runs out of memory": (
        "resource.setrlimit(resource.RLIMIT_AS, (1 << 28, 1 << 28)); found = bytearray(1 << 30)"
    ),
}
HANGING = {
    "is stopped": "os.kill(os.getpid(), signal.SIGSTOP)",
    "spins in one pattern": "re.match('(a|aa)+$', 'a' * 90 + 'b')",
    "closes its output": "os.close(1); os.close(2); signal.pause()",
    "answers and hangs": "print(ALLOW, flush=True); signal.pause()",
    "stops within a line": "os.write(1, b'x' * 5000); os.kill(os.getpid(), signal.SIGSTOP)",
    "ignores signals": (
        "[signal.signal(s, signal.SIG_IGN) for s in (1, 2, 15)]; [signal.pause() for _ in range(9)]"
    ),
    "leaves it to another": "subprocess.run(['sleep', '1000'])",
    "has a child that answers": "os.fork() or print(ALLOW, flush=True); signal.pause()",
}
ENDING_TRIED, HANGING_TRIED = part([*ENDING], 2), part([*HANGING], 2)
SLOW = "cat" + " *" * 1_992  # each pattern is compared with each file


class Ended(NamedTuple):
    """How a hook ended, and what of it was still there a moment later."""

    code: int
    stdout: str
    stderr: str
    seconds: float
    left: list[str]


class Desk:
    """A repository in which a session plans, among many files."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.tree = folder / "tree"
        self.tree.mkdir()
        self.environment = {
            "PATH": os.environ["PATH"], "HOME": str(folder), "PLANNER_PYTHON": sys.executable,
            "XDG_STATE_HOME": str(folder / "state"),
        }  # fmt: skip
        self.run("git", "init", "--quiet")
        self.run(LAUNCHER, "mode", "enter", "--agent", SESSION)
        for number in range(2_900):
            (self.tree / f"{number}.txt").touch()
        self.patient = str(folder / "patient" / "hooks" / "guard")
        for made in ("hooks", "bin"):
            (folder / "patient" / made).mkdir(parents=True)
        (folder / "patient" / "bin" / "planner").symlink_to(LAUNCHER)
        text = Path(GUARD).read_text(encoding="utf-8")
        patient = text.replace(f"\ndeadline_s={DEADLINE_S}\n", f"\ndeadline_s={PATIENT_S}\n")
        assert patient != text
        Path(self.patient).write_text(patient, encoding="utf-8")

    def run(self, *command: str) -> None:
        subprocess.run(
            command, cwd=self.tree, env=self.environment, stdout=subprocess.DEVNULL, check=True
        )

    def python(self, code: str) -> str:
        """Write an interpreter that runs `code`, whatever it is asked to."""
        path = self.folder / f"python-{len(os.listdir(self.folder))}"
        imports = "import os, re, resource, signal, subprocess, sys"
        path.write_text(f"#!{sys.executable}\n{imports}\nALLOW = {ALLOW!r}\n{code}\n")
        path.chmod(0o755)
        return str(path)

    def asks(
        self, command: str, python: str, event: str = "PreToolUse", host: str = "claude",
        by: tuple[str, ...] = ("/bin/sh", GUARD), path: str = "",
    ) -> Ended:  # fmt: skip
        """Ask about a command as a client does, `by` this shell with this guard."""
        mark = f"MARK={self.folder}/{time.monotonic_ns()}"
        given = {"session_id": SESSION, "cwd": str(self.tree), "hook_event_name": event,
                 "tool_name": "Bash", "tool_input": {"command": command}}  # fmt: skip
        began = time.monotonic()
        hook = subprocess.Popen(
            [*by, host, event], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, cwd=self.tree,
            env={**self.environment, "PLANNER_PYTHON": python, "MARK": mark.partition("=")[2],
                 "PATH": path or self.environment["PATH"]},
        )  # fmt: skip
        try:
            found = hook.communicate(json.dumps(given), timeout=MOST_S)
        except subprocess.TimeoutExpired:
            hook.kill()
            end(_running(mark))
            found = hook.communicate()
        seconds = time.monotonic() - began
        return Ended(hook.returncode, *found, seconds, left(mark))


def left(mark: str) -> list[str]:
    """Return the programs that have this in their environment still after 30 s, and end them."""
    until = time.monotonic() + 30
    while (found := _running(mark)) and time.monotonic() < until:
        time.sleep(0.02)
    end(found)
    return list(found.values())


def end(running: dict[int, str]) -> None:
    for pid in running:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def _running(mark: str) -> dict[int, str]:
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (folder / "environ").read_bytes().split(b"\0"):
                found[int(folder.name)] = (folder / "cmdline").read_bytes().decode()
        except OSError:
            continue
    return found


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    return Desk(tmp_path_factory.mktemp("desk"))


def together(calls: dict[str, Callable[[], Ended]]) -> dict[str, Ended]:
    """Make the calls at the same time, since most of them wait."""
    with ThreadPoolExecutor(len(calls)) as pool:
        running = {name: pool.submit(found) for name, found in calls.items()}
        return {name: future.result() for name, future in running.items()}


def shells() -> dict[str, tuple[str, ...]]:
    """Return the shells of this machine that may be a /bin/sh."""
    names = {"dash": (), "bash": ("--posix",), "busybox": ("sh",), "mksh": ()}
    found = {name: shutil.which(name) for name in names}
    return {name: (path, *names[name]) for name, path in found.items() if path}


@pytest.fixture(scope="module")
def ended(desk: Desk) -> dict[str, Ended]:
    """Return how each hook ended: those that end by themselves first, then those that never do."""

    def case(code: str, guard: str) -> Callable[[], Ended]:
        python = desk.python(code)
        return lambda: desk.asks("touch made", python, by=("/bin/sh", guard))

    found = together({name: case(ENDING[name], desk.patient) for name in ENDING_TRIED})
    calls = {name: case(HANGING[name], GUARD) for name in HANGING_TRIED}
    stopped = desk.python(HANGING["is stopped"])
    for shell, words in shells().items():
        calls[shell] = lambda words=words: desk.asks("touch made", stopped, by=(*words, GUARD))  # type: ignore[misc]
    for host, event in (("vibe", "pre_tool"), ("codex", "PreToolUse")):
        calls[host] = lambda h=host, e=event: desk.asks("touch made", stopped, e, h)  # type: ignore[misc]
    hangs = desk.python(HANGING["answers and hangs"])
    for event in ("SessionStart", "UserPromptSubmit", "UserPromptExpansion"):
        calls[event] = lambda e=event: desk.asks("", hangs, e)  # type: ignore[misc]
    return found | together(calls)


@pytest.mark.parametrize("case", ENDING_TRIED)
def test_a_guard_that_ends_without_deciding_denies(ended: dict[str, Ended], case: str) -> None:
    found = ended[case]
    assert (found.code, found.stdout, found.left) == (2, "", [])
    assert FAILED in found.stderr


def test_a_guard_is_not_made_slow_by_patterns(desk: Desk) -> None:
    """Counted is what the processor does: other programs make the clock run on."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    found = desk.asks(SLOW, sys.executable, by=("/bin/sh", desk.patient))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert (found.code, found.stderr, found.left) == (0, "", [])
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < DEADLINE_S


@pytest.mark.parametrize(
    "case", [*HANGING_TRIED, "vibe", "codex", *shells()]
)  # fmt: skip
def test_a_guard_that_does_not_decide_in_time_denies_and_is_ended(
    ended: dict[str, Ended], case: str
) -> None:
    found = ended[case]
    assert (found.code, found.stdout, found.left) == (2, "", [])
    assert LATE in found.stderr
    assert "nothing was run" in found.stderr
    assert "Instead: " in found.stderr
    assert f"{LAUNCHER} doctor" in found.stderr
    assert found.seconds >= DEADLINE_S


@pytest.mark.parametrize("event", ["SessionStart", "UserPromptSubmit", "UserPromptExpansion"])
def test_after_the_deadline_other_events_end_without_a_word(
    ended: dict[str, Ended], event: str
) -> None:
    found = ended[event]
    assert (found.code, found.stdout, found.stderr, found.left) == (0, "", "", [])


@pytest.mark.parametrize("shell", shells())
def test_an_answer_in_time_arrives_whole_and_leaves_no_clock_behind(desk: Desk, shell: str) -> None:
    command = "cat '0.txt' | grep -F 'a\\nb%s\\\\'"
    asks = functools.partial(desk.asks, by=(*shells()[shell], desk.patient))
    found = asks(command, sys.executable)
    assert (found.code, found.stderr, found.left) == (0, "", [])
    run = json.loads(found.stdout)["hookSpecificOutput"]["updatedInput"]["command"]
    assert "a\\nb%s\\\\" in run
    denied = asks("touch made", sys.executable)
    assert (denied.code, denied.stderr, denied.left) == (0, "", [])
    assert json.loads(denied.stdout)["hookSpecificOutput"]["permissionDecision"] == "deny"


def only(folder: Path, *programs: str) -> str:
    """Return a PATH on which there are these alone."""
    for name in programs:
        (folder / name).symlink_to(shutil.which(name) or "")
    return str(folder)


def test_without_a_clock_every_tool_is_denied(desk: Desk, tmp_path: Path) -> None:
    """The guard itself could run, but nothing would end it."""
    path = only(tmp_path, "readlink")
    denied = desk.asks("pwd", desk.python("signal.pause()"), path=path)
    assert (denied.code, denied.stdout, denied.left) == (2, "", [])
    assert FAILED in denied.stderr


def test_where_no_setsid_is_the_guard_is_ended_too(desk: Desk, tmp_path: Path) -> None:
    """As on macOS."""
    path = only(tmp_path, "readlink", "sleep")
    found = desk.asks("touch made", sys.executable, by=("/bin/sh", desk.patient), path=path)
    assert json.loads(found.stdout)
    denied = desk.asks("pwd", desk.python(HANGING["spins in one pattern"]), path=path)
    assert (denied.code, denied.stdout, denied.left) == (2, "", [])
    assert LATE in denied.stderr


def test_every_client_waits_for_longer_than_the_deadline() -> None:
    text = Path(GUARD).read_text(encoding="utf-8")
    assert re.search(r"^deadline_s=(\d+)$", text, re.MULTILINE)
    waits = []
    for host in ("claude", "codex"):
        found = json.loads(hooks_of(host))["hooks"]
        hooks = [hook for groups in found.values() for g in groups for hook in g["hooks"]]
        waits += [hook["timeout"] for hook in hooks if "timeout" in hook]
    vibe = tomllib.loads(hooks_of("vibe"))["hooks"]
    waits += [hook["timeout"] for hook in vibe]
    assert min(waits) >= 5 * DEADLINE_S
