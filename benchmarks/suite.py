"""The budget of `bin/test`: processor seconds, by the speed of the machine that it was set on.

A limit in seconds would say as much about a machine as about the tests. So the same small piece of
work, Python's and git's as in the tests, is measured before and after them, and the limit grows and
shrinks with it.
"""

from __future__ import annotations

import os
import resource
import subprocess
import tomllib
from statistics import median

BUDGET = os.path.join(os.path.dirname(os.path.realpath(__file__)), "suite.toml")
_ROUNDS = 5
# One commit took from 967 to 1,338 processor seconds on machines that did the work in the same
# time: what a host takes of a machine's memory costs its processes system time. Only more than that
# is surely the tests' own.
_NOISE = 1.3


class Budget:
    """The limit for one run; made before it begins."""

    def __init__(self) -> None:
        with open(BUDGET, "rb") as file:
            values = tomllib.load(file)
        self.processor_s: float = values["processor_seconds"]
        self.unit_s: float = values["unit_seconds"]
        self.before_s = measure_unit()

    def limit(self) -> float:
        """Return the limit in processor seconds of this machine, as fast as it is now."""
        return self.processor_s * (self.before_s + measure_unit()) / 2 / self.unit_s

    def exceeded(self, spent_s: float) -> tuple[str, bool]:
        """Return what to say where more was spent than the limit, else ""; and whether that fails.

        It fails beyond what a noisy machine adds.
        """
        limit = self.limit()
        if spent_s <= limit:
            return "", False
        text = (
            f"{spent_s:.0f} processor seconds, {limit:.0f} are the budget here: make the "
            "most costly tests cheaper, or move what the long form can show there (tests/forms.py)"
        )
        fails = spent_s > limit * _NOISE
        return text if fails else f"{text}; a noisy machine may add so much, so it passes", fails


def measure_unit() -> float:
    """Return the processor seconds of one piece of work; the median of a few rounds."""
    return median(_work() for _ in range(_ROUNDS))


def _work() -> float:
    before = _spent()
    for _ in range(20):
        subprocess.run(["git", "--version"], stdout=subprocess.DEVNULL, check=True)
    total = 0
    for number in range(1_000_000):
        total += number & 7
    return _spent() - before


def _spent() -> float:
    """Return the processor seconds of this process and its children, finer than os.times tells."""
    both = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in both)
