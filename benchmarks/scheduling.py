"""Measure what can run now of 1,000 milestones (PC-4), compared with reading them from JSON."""

from __future__ import annotations

import json
import random
import time
from statistics import median
from typing import TYPE_CHECKING, Any

from benchmarks.figure import Figure, ratio
from state.execution import COMPLETED, PENDING, runnable
from state.plan_table import Milestone
from state.rows import Progress
from state.shape import read

if TYPE_CHECKING:
    from collections.abc import Callable

MILESTONES, FILES = 1_000, 400
ROUNDS = 21
BUDGET_MS, BUDGET = 10, 0.5
NOW = "2026-01-02T03:04:05Z"


def measure_scheduling() -> list[Figure]:
    """Return the time that `runnable` takes in process, in milliseconds and as a ratio."""
    stored, progress = make_run(1)
    milestones, text = [read(one, Milestone)[0] for one in stored], json.dumps(stored)
    ways: list[Callable[[], object]] = [
        lambda: runnable(milestones, progress, MILESTONES, NOW), lambda: json.loads(text)
    ]  # fmt: skip
    samples: list[list[float]] = [[], []]
    for _ in range(ROUNDS):
        for way, taken in zip(ways, samples, strict=True):
            start = time.process_time()
            way()
            taken.append(time.process_time() - start)
    ours, theirs = samples
    what = f"runnable of {MILESTONES:,} milestones"
    return [
        Figure(what, 1000 * median(ours), "ms", BUDGET_MS),
        Figure(f"{what} / json.loads of them", ratio(ours, theirs), budget=BUDGET),
    ]


def make_run(seed: int) -> tuple[list[dict[str, Any]], dict[str, Progress]]:
    """Return milestones of a plan, every second one of which is completed."""
    chance = random.Random(seed)  # noqa: S311 – nothing secret about it
    milestones, progress = [], {}
    for number in range(1, MILESTONES + 1):
        name, earlier = f"M-{number:03}", range(1, number)
        before = chance.sample(earlier, min(3, len(earlier)))
        files = [f"src/{chance.randrange(FILES)}.py" for _ in range(3)]
        milestones.append({
            "id": name, "number": number, "name": name, "files": files,
            "tests": {"files": [f"tests/{number}.py"]},
            "documentation": {"module_comment": None, "docstrings": [], "algorithm_blocks": [],
                              "inline_comments": [], "changes": []},
            "code_intents": [{"id": name, "file": file, "behavior": ""} for file in files],
            "code_changes": [],
            "depends_on": [f"M-{one:03}" for one in before],
        })  # fmt: skip
        # Every second one is done, so that all dependencies of all milestones are looked at.
        progress[name] = Progress(name, status=COMPLETED if number % 2 else PENDING)
    return milestones, progress
