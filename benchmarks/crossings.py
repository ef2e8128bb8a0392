"""Count how often real commands call from one file of the program into another.

A crossing is a call whose caller lies in another file of ours. Precisely:

- A call is what `sys.setprofile` reports as "call": functions, methods, properties, lambdas and
  comprehensions of ours, and each resumption of a generator. Functions written in C do not count.
- The caller is the nearest frame of ours up the stack, since click, sqlite3 and `sorted` call back.
- Ours are the Python modules of the product; `bin/planner` chooses what to run and is not counted.
- What runs while a module is imported is left out: it depends on what was loaded before.
- Child processes are left out: git, and commands that verify.

Files entered are those at either end of a crossing. The scene is the smallest whole run: one file,
one decision, one milestone without tests, one intent, no review, nothing to verify, nobody in
planning mode. The guard decides last, for a session that is then in planning mode.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from tempfile import TemporaryDirectory
from typing import NamedTuple
from xml.etree import ElementTree as ET

from benchmarks.figure import Figure
from benchmarks.imports import ROOT

LAUNCHER = os.path.join(ROOT, "bin", "planner")
PROFILED = os.path.join(ROOT, "benchmarks", "profiled.py")
BUDGETS = {"plan add milestone": 40, "plan done, with the freeze": 1_000}
SESSION = "measured"
GUARDED = "git log --oneline -5 | head"
DESIGN = (
    ("overview", "--version", "1", "--title", "Add two", "--problem", "f adds one",
     "--approach", "Change the constant"),
    ("decision", "--decision", "Change it", "--reasoning-chain", "one caller -> no flag"),
    ("milestone", "--name", "Add two", "--file", "a.py", "--requirement", "T-1",
     "--acceptance-criterion", "f(1) is 3"),
    ("intent", "--milestone", "M-001", "--file", "a.py", "--behavior", "adds two",
     "--decision-ref", "DL-001"),
)  # fmt: skip


class Crossings(NamedTuple):
    """How often one command called from one file of the program into another."""

    command: str
    files: int
    crossings: int


class Scene:
    """A temporary repository with one run; `measured` collects the counts of the commands."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.repository = os.path.join(folder, "repository")
        self.measured: list[Crossings] = []
        self.environment = {
            "PATH": os.environ["PATH"], "HOME": folder, "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.path.join(folder, "gitconfig"),
        }  # fmt: skip
        self.state_dir = ""

    def git(self, *words: str) -> None:
        """Run git in the repository."""
        self._run(["git", *words])

    def write(self, name: str, text: str) -> None:
        """Write a file; its name is relative to the repository."""
        with open(os.path.join(self.repository, name), "w", encoding="utf-8") as file:
            file.write(text)

    def planner(self, *words: str, called: str = "", given: str = "") -> str:
        """Run a planner command and return its output; count its calls if `called` gives a name."""
        tally = os.path.join(self.folder, "tally.json")
        words = (*words, "--state-dir", self.state_dir) if self.state_dir else words
        child = [sys.executable, "-I", "-S", "-X", "utf8", PROFILED, tally, LAUNCHER, *words]
        printed = self._run(child, given)
        if called:
            with open(tally, encoding="utf-8") as file:
                rows = json.load(file)
            ends = {end for caller, entered, _ in rows for end in (caller, entered)}
            self.measured.append(Crossings(called, len(ends), sum(calls for *_, calls in rows)))
        return printed

    def _run(self, command: list[str], given: str = "") -> str:
        done = subprocess.run(
            command, cwd=self.repository, env=self.environment, input=given, text=True,
            capture_output=True, check=False,
        )  # fmt: skip
        if done.returncode:
            raise AssertionError(f"{shlex.join(command)}: {done.stdout}{done.stderr}")
        return done.stdout


def measure_crossings() -> list[Crossings]:
    """Run a plan from request to commit, then one guard decision; return the counts of each."""
    with TemporaryDirectory(prefix="planner-benchmark-") as folder:
        scene = Scene(os.path.realpath(folder))
        _start(scene)
        _design(scene)
        scene.write(
            os.path.join(scene.state_dir, "worktree", "a.py"), "def f(x):\n    return x + 2\n"
        )
        words = ("plan", "done", "--phase", "plan-code")
        frozen = scene.planner(*words, called="plan done, with the freeze")
        _execute(scene, shlex.split(_parsed(frozen).findtext("person") or "")[1:])
        _guard(scene)
        return scene.measured


def crossing_figures(measured: list[Crossings]) -> list[Figure]:
    """Return a line of the printed table for each measured command."""
    return [
        Figure(
            f"crossings of {m.command}", m.crossings, unit="", budget=BUDGETS.get(m.command),
            note=f"{m.files} files",
        )
        for m in measured
    ]  # fmt: skip


def _start(scene: Scene) -> None:
    os.mkdir(scene.repository)
    scene.git("init", "-q", "-b", "main")
    scene.git("config", "--global", "user.name", "A Tester")
    scene.git("config", "--global", "user.email", "tester@example.invalid")
    scene.write("a.py", "def f(x):\n    return x + 1\n")
    scene.git("add", "--all")
    scene.git("commit", "-q", "-m", "Begin")
    started = scene.planner("start", "Make f add two", "--review", "none")
    scene.state_dir = _parsed(started).get("state_dir", "")
    answer = os.path.join(scene.state_dir, "answers", "context.json")
    scene.write(answer, '{"task_spec": ["f adds two"]}')
    scene.planner("context", "set", "--file", answer)
    scene.planner("step", "planner", "3", called="step planner 3")


def _design(scene: Scene) -> None:
    for kind, *words in DESIGN:
        if kind == "overview":
            scene.planner("plan", "set", kind, *words)
        else:
            called = "plan add milestone" if kind == "milestone" else ""
            scene.planner("plan", "add", kind, *words, called=called)
    fields = os.path.join(scene.state_dir, "answers", "milestone.json")
    scene.write(fields, '{"tests": {"skip_reason": "one constant"}}')
    scene.planner("plan", "set", "M-001", "--version", "1", "--json", fields)
    scene.planner("plan", "done", "--phase", "plan-design", called="plan done --phase plan-design")


def _execute(scene: Scene, approve: list[str]) -> None:
    """Approve the plan with the command that was printed for the person; then apply and commit."""
    printed_for, scene.state_dir = scene.state_dir, ""
    scene.planner(*approve, called="mode approve")
    scene.state_dir = printed_for
    scene.planner("exec", "apply", called="exec apply")
    scene.planner("exec", "commit", called="exec commit")


def _guard(scene: Scene) -> None:
    scene.state_dir = ""
    scene.planner("mode", "enter", "--agent", SESSION, "--reason", "to measure")
    event = {
        "hook_event_name": "PreToolUse", "session_id": SESSION, "cwd": scene.repository,
        "tool_name": "Bash", "tool_input": {"command": GUARDED},
    }  # fmt: skip
    hook = ("hook", "claude", "PreToolUse")
    scene.planner(*hook, called=f"guard: {GUARDED}", given=json.dumps(event))


def _parsed(block: str) -> ET.Element:
    return ET.fromstring(block)  # noqa: S314 – our own output
