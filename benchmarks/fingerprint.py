"""Measure the fingerprint of 20,000 files, compared with `git status` on the same files."""

from __future__ import annotations

import os
import random
import subprocess
import time
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from benchmarks.figure import Figure, ratio
from shared.git import fingerprint
from shared.git.repository import find_repository

if TYPE_CHECKING:
    from collections.abc import Callable

FILES = 20_000
FOLDERS = 200
ROUNDS = 7
TAKE_BUDGET = 10
COMPARE_BUDGET = 8


def measure_fingerprint() -> list[Figure]:
    """Return the times of taking a fingerprint and comparing with it, as ratios to `git status`."""
    with TemporaryDirectory(prefix="planner-benchmark-") as folder:
        root, kept = os.path.join(folder, "repository"), os.path.join(folder, "fingerprint")
        _make_tree(root)
        repository = find_repository(root)
        ways: dict[str, Callable[[], object]] = {
            "take": lambda: fingerprint.take(repository, kept),
            "compare": lambda: fingerprint.compare(repository, kept),
            "status": lambda: repository.git.run("status", "--porcelain"),
        }
        samples: dict[str, list[float]] = {name: [] for name in ways}
        ways["take"]()
        for _ in range(ROUNDS):
            for name in random.sample(sorted(ways), len(ways)):
                start = time.perf_counter()
                ways[name]()
                samples[name].append(time.perf_counter() - start)
    note = f"git status: {min(samples['status']) * 1000:.0f} ms"
    taken, compared = (ratio(samples[name], samples["status"]) for name in ("take", "compare"))
    what = f"fingerprint of {FILES:,} files"
    return [
        Figure(f"{what}, taken / git status", taken, budget=TAKE_BUDGET, note=note),
        Figure(f"{what}, compared / git status", compared, budget=COMPARE_BUDGET),
    ]


def _make_tree(root: str) -> None:
    chance = random.Random(1)  # noqa: S311 – nothing secret about it
    for folder in range(FOLDERS):
        os.makedirs(os.path.join(root, f"part{folder}"))
        for number in range(FILES // FOLDERS):
            place = os.path.join(root, f"part{folder}", f"file{number}.txt")
            with open(place, "wb") as file:
                file.write(chance.randbytes(chance.randrange(200, 8_000)))
    identity = ("-c", "user.name=A Tester", "-c", "user.email=tester@example.invalid")
    for words in (("init", "-q"), ("add", "-A"), ("commit", "-q", "-m", "Begin")):
        subprocess.run(["git", *identity, *words], cwd=root, check=True)
