"""Measure what a run costs in a large repository, compared with `git status` there.

`python3 -m benchmarks.growth [FILES]`: one changed file among so many tracked ones, 100,000 unless
told; `--milestones N` measures instead what capture and freeze of a plan of N milestones take.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from statistics import median
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

from benchmarks.commands import PLANNER, PYTHON
from benchmarks.figure import Figure

if TYPE_CHECKING:
    from collections.abc import Sequence

FILES = 100_000
MILESTONES = 1_000
BUDGET = 6.0
START_BUDGET = 1.2
MILESTONES_BUDGET_S = 6.0
ROUNDS = 3
_IN_A_FOLDER = 100


class Run:
    """A run in a repository of many files; `took` has the seconds of each command by name."""

    def __init__(self, folder: str, files: int, planned: Sequence[str]) -> None:
        self.root = os.path.join(folder, "repository")
        self.environment = {
            **{k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "PLAN", "GIT_"))},
            "PLANNER_PYTHON": PYTHON, "HOME": folder, "GIT_CONFIG_NOSYSTEM": "1",
            "XDG_STATE_HOME": os.path.join(folder, "state"),
        }  # fmt: skip
        self.planned, self.state_dir = planned, ""
        self.took: dict[str, float] = {}
        self._make_tree(files)

    def _make_tree(self, files: int) -> None:
        for number in range(0, files, _IN_A_FOLDER):
            at = os.path.join(self.root, f"part{number // 10_000}", f"folder{number}")
            os.makedirs(at)
            for one in range(min(_IN_A_FOLDER, files - number)):
                with open(os.path.join(at, f"file{one}.txt"), "w", encoding="utf-8") as file:
                    file.write(f"{number + one}\n")
        for name in self.planned:
            os.makedirs(os.path.dirname(os.path.join(self.root, name)), exist_ok=True)
            with open(os.path.join(self.root, name), "w", encoding="utf-8") as file:
                file.write("old\n")
        for key, value in (("name", "A Tester"), ("email", "tester@example.invalid")):
            self.git("config", "--global", f"user.{key}", value)
        self.git("init", "-q")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "Begin")
        self.git("status")  # refreshes the index

    def git(self, *words: str) -> float:
        """Run git and return the seconds that it took."""
        return self._timed(["git", *words])[0]

    def planner(self, name: str, *words: str) -> str:
        """Run a command of the planner, note its seconds under `name`, return what it printed."""
        given = ["--state-dir", self.state_dir] if self.state_dir else []
        self.took[name], said = self._timed([PLANNER, *words, *given])
        return said

    def _timed(self, command: list[str]) -> tuple[float, str]:
        start = time.perf_counter()
        done = subprocess.run(
            command, cwd=self.root, env=self.environment, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        took = time.perf_counter() - start
        if done.returncode:
            raise AssertionError(f"{' '.join(command)}: {done.stdout}{done.stderr}")
        return took, done.stdout

    def answer(self, name: str, value: object) -> str:
        """Write an answer file and return the word that names it."""
        with open(os.path.join(self.state_dir, "answers", name), "w", encoding="utf-8") as file:
            json.dump(value, file)
        return f"answers/{name}"

    def to_code(self) -> None:
        """Go to the code step, with every planned file changed in the worktree."""
        options = ("--depth", "full", "--review", "none")
        started = self.planner("start", "start", "Measure", *options)
        self.state_dir = ET.fromstring(started).get("state_dir", "")  # noqa: S314 – our own output
        context = self.answer("context.json", {"task_spec": ["measure it"]})
        self.planner("context", "context", "set", "--file", context)
        self.planner("batch", "plan", "batch", "--file", self.answer("design.json", self._design()))
        self.planner("design done", "plan", "done", "--phase", "plan-design")
        for name in self.planned:
            place = os.path.join(self.state_dir, "worktree", name)
            with open(place, "w", encoding="utf-8") as file:
                file.write("new\n")

    def _design(self) -> list[dict[str, Any]]:
        overview = {"title": "Measure", "problem": "It is old.", "approach": "Make it new."}
        rows: list[dict[str, Any]] = [
            {"op": "set", "id": "overview", "version": 1, "fields": overview}
        ]
        for number, name in enumerate(self.planned):
            milestone = {
                "name": f"Change {name}", "files": [name], "requirements": ["T-1"],
                "acceptance_criteria": ["it is new"], "tests": {"skip_reason": "a text"},
            }  # fmt: skip
            intent = {"milestone": f"$m{number}", "file": name, "behavior": "is new"}
            rows += [
                {"op": "add", "kind": "milestone", "as": f"$m{number}", "fields": milestone},
                {"op": "add", "kind": "intent", "fields": intent},
            ]
        return rows

    def to_the_end(self) -> None:
        """Capture, freeze, approve, apply, commit, and take it back."""
        self.planner("capture", "plan", "capture")
        self.planner("code done", "plan", "done", "--phase", "plan-code")
        self.planner("freeze", "plan", "freeze")
        with open(os.path.join(self.state_dir, "plan.json"), encoding="utf-8") as file:
            digest = json.load(file)["digest"]
        self.planner("approve", "approve", digest)
        self.planner("apply", "exec", "apply")
        self.planner("commit", "exec", "commit")
        self.planner("undo", "undo")


def measure_growth(files: int = FILES) -> list[Figure]:
    """Return what each command costs for one changed file, as ratios to git in the same run."""
    with TemporaryDirectory(prefix="planner-benchmark-") as folder:
        run = Run(folder, files, ["src/a.txt"])
        added = [_worktree(run, folder, number) for number in range(ROUNDS)]
        status = [run.git("--no-optional-locks", "status", "--porcelain") for _ in range(ROUNDS)]
        run.to_code()
        run.to_the_end()
        status += [run.git("--no-optional-locks", "status", "--porcelain") for _ in range(ROUNDS)]
    base, made = median(status), median(added)
    note = f"git status: {base * 1000:.0f} ms"
    what = f"one changed of {files:,} files"
    figures = [
        Figure(f"{what}, start / git worktree add", run.took["start"] / made, budget=START_BUDGET,
               note=f"git worktree add: {made * 1000:.0f} ms")
    ]  # fmt: skip
    for name in ("capture", "freeze", "approve", "apply", "commit", "undo"):
        ratio = run.took[name] / base
        figures.append(Figure(f"{what}, {name} / git status", ratio, budget=BUDGET, note=note))
    return figures


def _worktree(run: Run, folder: str, number: int) -> float:
    path = os.path.join(folder, f"tree{number}")
    took = run.git("worktree", "add", "-q", "--detach", path)
    shutil.rmtree(path)
    run.git("worktree", "prune")
    return took


def measure_milestones(milestones: int = MILESTONES) -> list[Figure]:
    """Return the seconds that capture and freeze take for a plan of so many milestones."""
    with TemporaryDirectory(prefix="planner-benchmark-") as folder:
        run = Run(folder, 0, [f"src/part{n}/file.txt" for n in range(milestones)])
        run.to_code()
        run.planner("capture", "plan", "capture")
        run.planner("code done", "plan", "done", "--phase", "plan-code")
        run.planner("freeze", "plan", "freeze")
    both = run.took["capture"] + run.took["freeze"]
    note = f"capture {run.took['capture']:.1f} s, freeze {run.took['freeze']:.1f} s"
    name = f"{milestones:,} milestones, capture and freeze"
    return [Figure(name, both, "s", MILESTONES_BUDGET_S, note)]


def main() -> int:
    """Measure, print the figures, and return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("files", nargs="?", type=int, default=FILES, help="tracked files")
    parser.add_argument("--milestones", type=int, default=0, help="a plan of so many instead")
    options = parser.parse_args()
    figures = (
        measure_milestones(options.milestones)
        if options.milestones
        else measure_growth(options.files)
    )
    for f in figures:
        print(f"{f.name:<58} ≤ {f.budget:<4} {f.figure:>8.2f} {f.unit} {f.verdict:<5} {f.note}")
    return 1 if any(f.verdict == "over" for f in figures) else 0


if __name__ == "__main__":
    sys.exit(main())
