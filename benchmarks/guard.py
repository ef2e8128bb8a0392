"""Measure how long the guard needs to judge a command, and how long its import takes."""

from __future__ import annotations

import subprocess
import sys
import time
from statistics import median

from benchmarks.figure import Figure
from shared.guard.decide import decide
from shared.resources import ROOT
from tests.shared.guard.corpus.corpus import must_be_denied, must_pass

_IMPORT = """
import sys, time
sys.path.insert(0, sys.argv[1])
start = time.process_time()
import shared.guard.decide
print(time.process_time() - start)
"""


def measure_guard(rounds: int) -> list[Figure]:
    """Return the time that 99 of 100 decisions stay under, and the shortest time of an import."""
    commands = [command.text for command in (*must_pass(), *must_be_denied())]
    times = sorted(map(_decision_ms, commands))
    slow = times[len(times) * 99 // 100]
    note = f"median {median(times):.3f} ms, {len(commands)} commands"
    return [
        Figure("a decision of the guard, 99th percentile", slow, "ms", 1, note),
        Figure("import of the guard", min(_import_ms() for _ in range(rounds)), "ms", 6),
    ]


def _decision_ms(command: str) -> float:
    start = time.process_time()
    decide(command, cwd=ROOT)
    return (time.process_time() - start) * 1000


def _import_ms() -> float:
    program = [sys.executable, "-I", "-S", "-c", _IMPORT, ROOT]
    return float(subprocess.run(program, capture_output=True, check=True).stdout) * 1000
