"""Measure whole commands, compared with `python3 -c pass` of the same interpreter.

It is started as a user starts it: no virtual environment, no `-I`, no `-S`.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import time
from statistics import median
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple

from benchmarks import interpreter
from benchmarks.figure import Figure, ratio
from benchmarks.interpreter import PYTHON
from benchmarks.plans import make_plan
from cli.demo.driver import Answer
from shared.resources import ROOT
from state.store import load_plan, save_plan

if TYPE_CHECKING:
    from collections.abc import Sequence

PLANNER = os.path.join(ROOT, "bin", "planner")
BARE = ("-c", "pass")
# Whoever reads a step thinks for seconds, so it is written as one writes Python; an edit also reads
# and checks the whole plan.
STEP_BUDGET, EDIT_BUDGET = 5, 16
BARE_RUNS = 3
MANY = 20


class Scene(NamedTuple):
    """What the commands are measured on: a new repository and a run with a plan of 66 kB."""

    folder: str
    state_dir: str
    plan: bytes
    environment: dict[str, str]

    @property
    def plan_path(self) -> str:
        """Return the path of the run's plan."""
        return os.path.join(self.state_dir, "plan.json")

    def restore(self) -> None:
        """Write the original plan again, so that each round of measuring edits the same plan."""
        with open(self.plan_path, "wb") as file:
            file.write(self.plan)


def measure_commands(rounds: int) -> list[Figure]:
    """Return the time of printing a step, of one edit of the plan, and of many edits at once."""
    with TemporaryDirectory(prefix="planner-benchmark-") as folder:
        scene = make_scene(folder)
        commands = {
            "step": planner(scene, "step", "planner"),
            "set": planner(scene, "plan", "set", "DL-001", "--version", "1", "--decision", "B"),
            "one": planner(scene, "plan", "batch", "--file", "answers/one.json"),
            "many": planner(scene, "plan", "batch", "--file", "answers/many.json"),
        }
        samples = sample(scene, commands, rounds)
    bare = samples["bare"]
    step, change = ratio(samples["step"], bare), ratio(samples["set"], bare)
    one, many = ratio(samples["one"], bare), ratio(samples["many"], samples["one"])
    return [
        Figure("python3 -c pass", median(bare) * 1000, "ms", note=interpreter.name()),
        Figure("printed step / python3 -c pass", step, budget=STEP_BUDGET),
        Figure("one mutation (plan set) / python3 -c pass", change, budget=EDIT_BUDGET),
        Figure("one mutation (batch of one) / python3 -c pass", one, budget=EDIT_BUDGET),
        Figure(f"batch of {MANY} / batch of one", many, budget=1.2),
    ]


def sample(
    scene: Scene, commands: dict[str, list[str]], rounds: int, bare_words: Sequence[str] = BARE
) -> dict[str, list[float]]:
    """Return the seconds each command took, by round; for the bare interpreter a median."""
    samples: dict[str, list[float]] = {name: [] for name in (*commands, "bare")}
    order = [*commands, *["bare"] * BARE_RUNS]
    for _ in range(rounds):
        random.shuffle(order)
        bare = []
        for name in order:
            scene.restore()
            if name == "bare":
                bare.append(seconds([PYTHON, *bare_words], scene.environment))
            else:
                samples[name].append(seconds(commands[name], scene.environment))
        samples["bare"].append(sorted(bare)[BARE_RUNS // 2])
    return samples


def seconds(command: Sequence[str], environment: dict[str, str], given: str = os.devnull) -> float:
    """Return the seconds a command takes, its input the file `given`; raise if it fails."""
    # posix_spawn: what subprocess does around a process would be part of either side.
    quiet = [
        (os.POSIX_SPAWN_OPEN, 0, given, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
    ]
    start = time.perf_counter()
    pid = os.posix_spawn(command[0], list(command), environment, file_actions=quiet)
    _, status = os.waitpid(pid, 0)
    took = time.perf_counter() - start
    if status:
        raise AssertionError(f"{' '.join(command)} ended with status {status}")
    return took


def planner(scene: Scene, *words: str) -> list[str]:
    """Return a planner command line for the run that is measured."""
    return [PLANNER, *words, "--state-dir", scene.state_dir]


def make_scene(folder: str) -> Scene:
    """Start a run in a new repository and store a large plan in it."""
    environment = {
        **{k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "PLAN", "GIT_"))},
        "PLANNER_PYTHON": PYTHON, "HOME": folder, "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.path.join(folder, "gitconfig"),
    }  # fmt: skip
    repository = os.path.join(folder, "repository")
    _run(["git", "init", "-q", repository], folder, environment)
    for name, value in (("name", "A Tester"), ("email", "tester@example.invalid")):
        _run(["git", "config", "--global", f"user.{name}", value], folder, environment)
    _run(["git", "commit", "-q", "--allow-empty", "-m", "Begin"], repository, environment)
    started = _run([PLANNER, "start", "Measure", "--depth", "full"], repository, environment)
    scene = Scene(repository, Answer(0, started).state_dir, b"", environment)
    _write(scene, "context.json", {"task_spec": ["measure it"]})
    _run(planner(scene, "context", "set", "--file", "answers/context.json"), folder, environment)
    base = load_plan(scene.plan_path).base
    save_plan(scene.plan_path, make_plan(0, base.model_dump() if base else None))
    _write(scene, "one.json", _edits(1))
    _write(scene, "many.json", _edits(MANY))
    with open(scene.plan_path, "rb") as file:
        return scene._replace(plan=file.read())


def _edits(count: int) -> list[object]:
    fields = {"risk": "It may rain.", "mitigation": "An umbrella."}
    return [{"op": "add", "kind": "risk", "fields": fields} for _ in range(count)]


def _write(scene: Scene, name: str, value: object) -> None:
    with open(os.path.join(scene.state_dir, "answers", name), "w", encoding="utf-8") as file:
        json.dump(value, file)


def _run(command: list[str], folder: str, environment: dict[str, str]) -> str:
    done = subprocess.run(
        command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        raise AssertionError(f"{' '.join(command)}: {done.stdout}{done.stderr}")
    return done.stdout


def measure_demo() -> Figure:
    """Return how long a whole run takes: from request to proven commit, one check failing."""
    with TemporaryDirectory(prefix="planner-benchmark-") as folder:
        environment = {**os.environ, "PLANNER_PYTHON": PYTHON, "HOME": folder}
        start = time.perf_counter()
        _run([PLANNER, "demo"], folder, environment)
        return Figure("planner demo, from request to proof", time.perf_counter() - start, "s", 60)
