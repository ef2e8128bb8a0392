"""Measure `recall` among 10,000 decisions, compared with reading all of them once for one word."""

from __future__ import annotations

import random
import time
from statistics import median

from benchmarks.figure import Figure, ratio
from state.recall_index import Entry, Memory

DECISIONS = 10_000
ROUNDS = 21
BUDGET = 3.0
# Words as texts have them: few are frequent, most are rare.
_SYLLABLES = ("ka", "re", "mi", "to", "su", "lan", "der", "vo", "pi", "nex", "qua", "zel")


def measure_memory() -> Figure:
    """Return the time of a recall, as a ratio to searching the same texts for one word."""
    chance = random.Random(1)  # noqa: S311 – nothing secret about it
    words = sorted({"".join(chance.choices(_SYLLABLES, k=3)) for _ in range(4_000)})
    weights = [1 / rank for rank in range(1, len(words) + 1)]
    entries = [_entry(number, chance, words, weights) for number in range(DECISIONS)]
    memory = Memory(":memory:")
    with memory:
        memory.add("digest", "planning/plans/one.json", entries)
    texts = [f"{one.title} {one.body}".lower() for one in entries]
    ours, theirs = [], []
    for _ in range(ROUNDS):
        query = " ".join(chance.choices(words, weights, k=8))
        start = time.process_time()
        memory.recall(query, 5)
        middle = time.process_time()
        sum(query.split()[0] in text for text in texts)
        ours.append(middle - start)
        theirs.append(time.process_time() - middle)
    note = f"{median(ours) * 1000:.1f} ms, at most {max(ours) * 1000:.1f} ms"
    name = f"recall among {DECISIONS:,} decisions / reading them for one word"
    return Figure(name, ratio(ours, theirs), budget=BUDGET, note=note)


def _entry(number: int, chance: random.Random, words: list[str], weights: list[float]) -> Entry:
    title = " ".join(chance.choices(words, weights, k=9))
    body = " ".join(chance.choices(words, weights, k=40))
    name = f"DL-{number:05}"
    at = "2026-01-02T03:04:05Z"
    return Entry(title, body, "decision", name, "digest", "planning/plans/one.json", "0" * 40, at)
