"""Measure commands that only read, compared with importing click and sqlite3.

That least is a Python that imports click and sqlite3 from where we keep our packages: what is
above it is our own imports and work, which no user of a read-only command should wait for.
"""

from __future__ import annotations

from contextlib import chdir
from statistics import median
from tempfile import TemporaryDirectory

from benchmarks.commands import make_scene, planner, sample
from benchmarks.figure import Figure, ratio
from shared.dependencies import folder as packages

READING = (("status",), ("mode", "status"), ("audit",), ("doctor",))
BUDGET = 2.5
LEAST = "import sys; sys.path.insert(0, sys.argv[1]); import click, sqlite3"


def measure_reading(rounds: int) -> list[Figure]:
    """Return how long each command that only reads takes, in a run at its design step."""
    with TemporaryDirectory(prefix="planner-benchmark-") as folder:
        scene = make_scene(folder)
        commands = {" ".join(words): planner(scene, *words) for words in READING}
        # doctor looks at the repository that it is called from.
        with chdir(scene.folder):
            samples = sample(scene, commands, rounds, ("-I", "-S", "-c", LEAST, packages()))
    bare = samples.pop("bare")
    note = f"import click, sqlite3: {median(bare) * 1000:.1f} ms"
    return [
        Figure(f"planner {name} / import click, sqlite3", ratio(took, bare), "×", BUDGET, note)
        for name, took in samples.items()
    ]
