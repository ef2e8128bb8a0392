"""Measure the hook that runs before each tool call, compared with `python3 -c pass`."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from benchmarks.commands import BARE_RUNS, PYTHON, seconds
from benchmarks.figure import Figure, ratio
from shared.resources import ROOT

if TYPE_CHECKING:
    from collections.abc import Mapping

GUARD = os.path.join(ROOT, "hooks", "guard")
PLANNER = os.path.join(ROOT, "bin", "planner")
SESSION = "measured"
MEGABYTE = "x" * 1_000_000
CALLS: Mapping[str, tuple[str, dict[str, str]]] = {
    "a tool that reads": ("Read", {"file_path": "a"}),
    "a command": ("Bash", {"command": "git log -1 --stat | head -20"}),
    "a loop": ("Bash", {"command": 'for f in *.py; do wc -l "$f"; done | sort -n | tail -3'}),
    "a text of 100 kB": ("Bash", {"command": "python3 - <<'EOF'\n" + "print(1)\n" * 11_000}),
    "4,000 words": ("Bash", {"command": "echo" + " 'a'$b" * 600}),
    "a megabyte to write": ("Write", {"file_path": ".planner/answers/a", "content": MEGABYTE}),
}


def measure_hooks(rounds: int) -> list[Figure]:
    """Return how long the hook takes while a session plans, and while nobody plans."""
    with TemporaryDirectory(prefix="planner-benchmark-") as folder:
        planning = _begin(folder)
        idle = {**planning, "XDG_STATE_HOME": os.path.join(folder, "nobody")}
        hook = ["/bin/sh", GUARD, "claude", "PreToolUse"]
        runs = {name: (hook, planning, _payload(folder, name)) for name in CALLS}
        runs["nobody plans"] = (hook, idle, _payload(folder, "a command"))
        runs["nobody plans, a megabyte"] = (hook, idle, _payload(folder, "a megabyte to write"))
        samples: dict[str, list[float]] = {name: [] for name in (*runs, "bare")}
        order = [*runs, *["bare"] * BARE_RUNS]
        for _ in range(rounds):
            random.shuffle(order)
            bare = []
            for name in order:
                if name == "bare":
                    bare.append(seconds([PYTHON, "-c", "pass"], planning))
                else:
                    samples[name].append(seconds(*runs[name]))
            samples["bare"].append(sorted(bare)[BARE_RUNS // 2])
    return [
        Figure(
            f"hook, {name} / python3 -c pass", ratio(samples[name], samples["bare"]),
            budget=2.5 if name in CALLS else 0.3,
        )
        for name in runs
    ]  # fmt: skip


def _begin(folder: str) -> dict[str, str]:
    """Start planning mode in a new repository; return the environment for the hook."""
    environment = {
        "PATH": os.environ["PATH"], "HOME": folder, "PLANNER_PYTHON": PYTHON,
        "XDG_STATE_HOME": os.path.join(folder, "state"),
    }  # fmt: skip
    subprocess.run(["git", "init", "-q", folder], env=environment, check=True)
    # A user without rules, whose client may run our launcher.
    os.mkdir(os.path.join(folder, ".claude"))
    allowed = {"permissions": {"allow": [f"Bash({PLANNER} *)"]}}
    with open(os.path.join(folder, ".claude", "settings.json"), "w", encoding="utf-8") as file:
        json.dump(allowed, file)
    enter = [PLANNER, "mode", "enter", "--agent", SESSION]
    subprocess.run(enter, cwd=folder, env=environment, stdout=sys.stderr, check=True)
    return environment


def _payload(folder: str, name: str) -> str:
    tool, given = CALLS[name]
    path = os.path.join(folder, name)
    event = {"session_id": SESSION, "cwd": folder, "tool_name": tool, "tool_input": given}
    with open(path, "w", encoding="utf-8") as file:
        json.dump({**event, "hook_event_name": "PreToolUse"}, file)
    return path
