"""Measure `planner validate` on 500 frozen plans, compared with pydantic alone.

Outside of any repository: how long git takes to say that it does not have what these plans name
depends on the one that lies around.
"""

from __future__ import annotations

import os
import random
import time
from contextlib import chdir
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from benchmarks.figure import Figure, ratio
from benchmarks.plans import frozen_plan
from orchestrator.ci.validate import Wanted, validate_files
from shared.builders import problem_text
from state.models import Plan

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

PLANS = 500
ROUNDS = 7
# Beyond pydantic: digest and seals, names that stand twice in JSON, references, and texts that
# cannot be stored. Parsing and the digest alone are 1.2.
BUDGET = 2.8


def measure_validation() -> Figure:
    """Return the time to validate all plans, as a ratio to loading them with pydantic alone."""
    with TemporaryDirectory(prefix="planner-benchmark-") as folder:
        files = [_write(folder, number) for number in range(PLANS)]
        size = sum(map(os.path.getsize, files)) / PLANS
        ways: list[Callable[[Sequence[str]], None]] = [_validate_all, _load_all]
        samples: dict[Callable[[Sequence[str]], None], list[float]] = {way: [] for way in ways}
        with chdir(folder):
            for _ in range(ROUNDS):
                random.shuffle(ways)
                for way in ways:
                    # Nothing waits here, so that the time of the processor is what other work on
                    # the machine disturbs least.
                    start = time.process_time()
                    way(files)
                    samples[way].append(time.process_time() - start)
    figure = ratio(samples[_validate_all], samples[_load_all])
    note = f"{size / 1000:.0f} kB each, {min(samples[_validate_all]):.2f} s"
    name = f"validate {PLANS} frozen plans / pydantic alone"
    return Figure(name, figure, budget=BUDGET, note=note)


def _write(folder: str, number: int) -> str:
    path = os.path.join(folder, f"{number}.json")
    with open(path, "wb") as file:
        file.write(frozen_plan(number))
    return path


def _validate_all(files: Sequence[str]) -> None:
    problems = [p for report in validate_files(files, Wanted(frozen=True)) for p in report.problems]
    if problems:
        raise AssertionError(problem_text(problems[0]))


def _load_all(files: Sequence[str]) -> None:
    for path in files:
        with open(path, "rb") as file:
            Plan.model_validate_json(file.read())
