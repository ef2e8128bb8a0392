"""Measure what entering the place adds to a command, in a small and in a big repository."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from benchmarks.figure import Figure, ratio
from shared.resources import ROOT

if TYPE_CHECKING:
    from collections.abc import Mapping

SMALL, BIG = 100, 100_000
FILES_IN_A_FOLDER = 100
# Besides Python's start: three processes, the mounts, the walk for secrets.
ENTER_BUDGET = 4.5
SIZE_BUDGET = 1.5
# What a command may take longer in the place, by the fastest run of each: a quiet machine's.
BEYOND_BUDGET_MS = 25.0
# As bin/planner does: no collection of garbage, and an end without taking the interpreter down.
_BARE = "import gc, os; gc.disable(); os.spawnlp(os.P_WAIT, 'true', 'true'); os._exit(0)"
_ENTER = (
    "import gc, os, sys; gc.disable(); sys.path.insert(0, sys.argv[1]);"
    "from shared.place.enter import run; from shared.place.planning import planning_place as place;"
    "os._exit(run(place(sys.argv[2], sys.argv[2]), ['true']).code)"
)


def measure_place(rounds: int) -> list[Figure]:
    """Return the time of `true` in the place against that in a bare Python, for two sizes."""
    with TemporaryDirectory(prefix="planner-benchmark-") as folder:
        environment = {**os.environ, "XDG_STATE_HOME": os.path.join(folder, "state")}
        python = [sys.executable, "-I", "-S", "-X", "utf8", "-c"]
        ways = {"bare": [*python, _BARE]}
        for files in (SMALL, BIG):
            root = os.path.join(folder, str(files))
            _make_repository(root, files)
            ways[str(files)] = [*python, _ENTER, ROOT, root]
        samples = _measure(ways, environment, rounds)
    bare = min(samples["bare"])
    return [
        Figure(
            f"true in the place, {files:,} files / in bare Python",
            ratio(samples[str(files)], samples["bare"]), budget=ENTER_BUDGET,
        )
        for files in (SMALL, BIG)
    ] + [
        Figure(
            f"true in the place, {files:,} files, beyond bare Python",
            (min(samples[str(files)]) - bare) * 1000, "ms", budget=BEYOND_BUDGET_MS,
        )
        for files in (SMALL, BIG)
    ] + [
        Figure(
            f"true in the place, {BIG:,} files / {SMALL:,} files",
            ratio(samples[str(BIG)], samples[str(SMALL)]), budget=SIZE_BUDGET,
        )
    ]  # fmt: skip


def _measure(
    ways: Mapping[str, list[str]], environment: Mapping[str, str], rounds: int
) -> dict[str, list[float]]:
    samples: dict[str, list[float]] = {name: [] for name in ways}
    for number in range(rounds + 1):
        for name in random.sample(sorted(ways), len(ways)):
            start = time.perf_counter()
            subprocess.run(ways[name], env=dict(environment), check=True)
            if number:  # the first walk lists every folder
                samples[name].append(time.perf_counter() - start)
    return samples


def _make_repository(root: str, files: int) -> None:
    for number in range(files):
        folder = os.path.join(root, f"part{number // FILES_IN_A_FOLDER}")
        if not number % FILES_IN_A_FOLDER:
            os.makedirs(folder)
        with open(os.path.join(folder, f"file{number}.txt"), "wb"):
            pass
    subprocess.run(["git", "init", "-q", root], check=True)
