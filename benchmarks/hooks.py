"""Measure the hook that runs before each tool call, compared with `python3 -c pass`."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from statistics import median
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from benchmarks.commands import BARE_RUNS, seconds
from benchmarks.figure import Figure, ratio
from benchmarks.interpreter import PYTHON
from shared.resources import ROOT

if TYPE_CHECKING:
    from collections.abc import Mapping

GUARD = os.path.join(ROOT, "hooks", "guard")
PLANNER = os.path.join(ROOT, "bin", "planner")
SESSION = "measured"
MEGABYTE = "x" * 1_000_000
MOST = 10_000_000
ANSWER_BUDGET_S = 1.0
# It runs before each call of a tool. Where nobody plans, it is a shell that finds no file.
HOOK_BUDGET, IDLE_BUDGET = 3.5, 0.3
# The largest payloads that a client may hand over, by what is large in them.
LARGE: Mapping[str, str] = {
    "a text to write": '{"tool_name": "Write", "tool_input": {"file_path": "a", "content": "%s"}}',
    "a command": '{"tool_name": "Bash", "tool_input": {"command": "echo %s"}}',
    "a path": '{"tool_name": "Read", "tool_input": {"file_path": "%s"}}',
    "the name of a tool": '{"tool_name": "%s", "tool_input": {}}',
    "a folder": '{"cwd": "/%s", "tool_name": "Bash", "tool_input": {"command": "ls"}}',
    "a session": '{"session_id": "%s", "tool_name": "Bash", "tool_input": {"command": "ls"}}',
    "no JSON": "%s",
}
# Of what they are made: one word, words, lines, folders, globs, quotes, and nesting.
PIECES = ("x", "x ", "a\\n", "a/", "*/", "'a'$b ", "$(")
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
    note = f"python3 -c pass: {median(samples['bare']) * 1000:.1f} ms"
    return [
        Figure(
            f"hook, {name} / python3 -c pass", ratio(samples[name], samples["bare"]),
            budget=HOOK_BUDGET if name in CALLS else IDLE_BUDGET, note=note,
        )
        for name in runs
    ]  # fmt: skip


def measure_large_payloads() -> Figure:
    """Return the longest time of an answer to a payload of 10 MB."""
    with TemporaryDirectory(prefix="planner-benchmark-") as folder:
        planning = _begin(folder)
        hook = ["/bin/sh", GUARD, "claude", "PreToolUse"]
        path = os.path.join(folder, "payload")
        slowest, name = 0.0, ""
        for what, form in LARGE.items():
            for piece in PIECES:
                with open(path, "w", encoding="utf-8") as file:
                    file.write(_large(form, piece, folder))
                took = min(seconds(hook, planning, path) for _ in range(2))
                slowest, name = max((slowest, name), (took, f"{what} of {piece!r}"))
    return Figure("hook, the slowest of payloads of 10 MB", slowest, "s", ANSWER_BUDGET_S, name)


def _large(form: str, piece: str, folder: str) -> str:
    """Return a payload of 10 MB; `form` says where in it the many pieces stand."""
    given = {"session_id": SESSION, "cwd": folder, "hook_event_name": "PreToolUse"}
    text = form.replace("%s", piece * (MOST // len(piece)))
    if not text.startswith("{"):
        return text
    rest = {name: value for name, value in given.items() if f'"{name}"' not in form}
    return json.dumps(rest)[:-1] + ", " + text[1:]


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
