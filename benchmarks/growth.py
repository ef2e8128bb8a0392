"""Measure what a run costs in a large repository, compared with `git status` there.

`python3 -m benchmarks.growth [FILES]`: one changed file among so many tracked ones, 100,000 unless
told, and how both grow from a tenth of the files; `--rounds N` takes medians of N runs.
`--milestones N` measures instead what capture and freeze of a plan of N milestones take.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import time
from statistics import median
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from benchmarks.figure import Figure, ratio
from benchmarks.interpreter import PYTHON
from cli.demo.driver import Answer
from shared.resources import ROOT

if TYPE_CHECKING:
    from collections.abc import Sequence

PLANNER = os.path.join(ROOT, "bin", "planner")
FILES = 100_000
MILESTONES = 1_000
BUDGET = 6.0
START_BUDGET = 1.2
MILESTONES_BUDGET_S = 6.0
ROUNDS = 3
COMMANDS = ("capture", "freeze", "approve", "apply", "commit", "undo")
_IN_A_FOLDER = 100


class Run:
    """A run in a repository of many files."""

    def __init__(self, folder: str, files: int, planned: Sequence[str]) -> None:
        self.root = os.path.join(folder, "repository")
        self.environment = {
            **{k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "PLAN", "GIT_"))},
            "PLANNER_PYTHON": PYTHON, "HOME": folder, "GIT_CONFIG_NOSYSTEM": "1",
            "XDG_STATE_HOME": os.path.join(folder, "state"),
        }  # fmt: skip
        self.planned, self.state_dir = planned, ""
        # The seconds of each command by name.
        self.took: dict[str, float] = {}
        # The seconds of a processor instead, which tell more where others use the machine.
        self.worked: dict[str, float] = {}
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
        return self._timed("git", ["git", *words])[0]

    def status(self) -> float:
        """Run `git status` and return the seconds that it took."""
        command = ["git", "--no-optional-locks", "status", "--porcelain"]
        return self._timed("status", command)[0]

    def planner(self, name: str, *words: str, refused: bool = False) -> str:
        """Run a command of the planner, note its seconds under `name`, return what it printed."""
        given = ["--state-dir", self.state_dir] if self.state_dir else []
        self.took[name], said = self._timed(name, [PLANNER, *words, *given], int(refused))
        return said

    def _timed(self, name: str, command: list[str], code: int = 0) -> tuple[float, str]:
        before, start = _worked(), time.perf_counter()
        done = subprocess.run(
            command, cwd=self.root, env=self.environment, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        took = time.perf_counter() - start
        self.worked[name] = _worked() - before
        if done.returncode != code:
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
        self.state_dir = Answer(0, started).state_dir
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

    def to_approval(self) -> None:
        """Capture and freeze."""
        self.planner("capture", "plan", "capture")
        # The command that passes the last gate freezes too: kept from it, to time the freeze alone.
        lock = os.path.join(self.root, ".git", "index.lock")
        with open(lock, "x", encoding="utf-8"):
            self.planner("code done", "plan", "done", "--phase", "plan-code", refused=True)
        os.unlink(lock)
        self.planner("freeze", "plan", "freeze")

    def to_the_end(self) -> None:
        """Approve, apply, commit, and take it back."""
        with open(os.path.join(self.state_dir, "plan.json"), encoding="utf-8") as file:
            digest = json.load(file)["digest"]
        self.planner("approve", "approve", digest)
        self.planner("apply", "exec", "apply")
        self.planner("commit", "exec", "commit")
        self.planner("undo", "undo")


# The seconds of each command, and of `git status`, by name; one for each round.
_Samples = dict[str, list[float]]


def measure_growth(files: int = FILES, rounds: int = 1) -> list[Figure]:
    """Return what each command costs for one changed file, as ratios to git in the same run.

    And what it costs more than with a tenth of the files, as a ratio to what git does.
    """
    took, worked = _measure(files, rounds)
    fewer, _ = _measure(files // 10, rounds)
    made, base = median(took["worktree"]), median(took["status"])
    what = f"one changed of {files:,} files"
    figures = [
        Figure(f"{what}, start / git worktree add", ratio(took["start"], took["worktree"]),
               budget=START_BUDGET, note=f"git worktree add: {made * 1000:.0f} ms")
    ]  # fmt: skip
    for name in COMMANDS:
        figure = ratio(took[name], took["status"])
        note = f"git status: {base * 1000:.0f} ms; "
        note += f"of processor time ×{ratio(worked[name], worked['status']):.1f}"
        figures.append(Figure(f"{what}, {name} / git status", figure, budget=BUDGET, note=note))
    more = base - median(fewer["status"])
    for name in COMMANDS:
        figure = (median(took[name]) - median(fewer[name])) / more
        grown = f"{what}, {name}, more than with {files // 10:,}"
        figures.append(
            Figure(grown, figure, budget=BUDGET, note=f"git status: {more * 1000:.0f} ms")
        )
    return figures


def _measure(files: int, rounds: int) -> tuple[_Samples, _Samples]:
    """Return the seconds that each command took in each round, and those of a processor."""
    took: _Samples = {}
    worked: _Samples = {}
    with TemporaryDirectory(prefix="planner-benchmark-") as folder:
        run = Run(folder, files, ["src/a.txt"])
        for number in range(rounds):
            trees = [_worktree(run, folder, number) for _ in range(ROUNDS)]
            status = [run.status() for _ in range(ROUNDS)]
            run.state_dir = ""
            run.to_code()
            run.to_approval()
            run.to_the_end()
            status += [run.status() for _ in range(ROUNDS)]
            found = run.took | {"status": median(status), "worktree": median(trees)}
            for name, seconds in found.items():
                took.setdefault(name, []).append(seconds)
            for name, seconds in run.worked.items():
                worked.setdefault(name, []).append(seconds)
    return took, worked


def _worked() -> float:
    """Return the seconds of a processor that ended processes of ours have used."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


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
        run.to_approval()
    both = run.took["capture"] + run.took["freeze"]
    worked = run.worked["capture"] + run.worked["freeze"]
    note = f"capture {run.took['capture']:.1f} s, freeze {run.took['freeze']:.1f} s; "
    note += f"of processor time {worked:.1f} s"
    name = f"{milestones:,} milestones, capture and freeze"
    return [Figure(name, both, "s", MILESTONES_BUDGET_S, note)]


def main() -> int:
    """Measure, print the figures, and return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("files", nargs="?", type=int, default=FILES, help="tracked files")
    parser.add_argument("--milestones", type=int, default=0, help="a plan of so many instead")
    parser.add_argument("--rounds", type=int, default=1, help="runs to take medians of")
    options = parser.parse_args()
    figures = (
        measure_milestones(options.milestones)
        if options.milestones
        else measure_growth(options.files, options.rounds)
    )
    for f in figures:
        print(f"{f.name:<58} ≤ {f.budget:<4} {f.figure:>8.2f} {f.unit} {f.verdict:<5} {f.note}")
    return 1 if any(f.verdict == "over" for f in figures) else 0


if __name__ == "__main__":
    sys.exit(main())
