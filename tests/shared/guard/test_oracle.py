"""A real bash starts accepted commands with exactly the words that the guard parsed."""

from __future__ import annotations

import itertools
import os
import random
import sys
from typing import TYPE_CHECKING

import pytest

from tests.forms import LONG, SEED
from tests.shared.guard.corpus.corpus import must_be_denied, must_pass
from tests.shared.guard.mutants import mutants
from tests.shared.guard.oracle import Oracle, Ran

if TYPE_CHECKING:
    from pathlib import Path

MUTANTS = 10_000 if LONG else 200
BATCH = 2_000

pytestmark = [
    pytest.mark.skipif(not os.path.exists("/bin/bash"), reason="bash is missing: apt install bash"),
    pytest.mark.skipif(sys.platform != "linux", reason="the stubs look at /proc/self/fd"),
]


@pytest.mark.slow
@pytest.mark.requirement("PM-5")
@pytest.mark.parametrize("status", [0, 1], ids=["all succeed", "all fail"])
def test_bash_starts_what_was_understood_of_every_accepted_mutant(
    tmp_path: Path, status: int
) -> None:
    seeds = [command.text for command in must_pass() * 3 + must_be_denied()]
    oracle = Oracle(tmp_path, status)
    made = mutants(seeds, random.Random(SEED + status))  # noqa: S311 – mutants, not keys
    accepted = ((text, seen) for text in made if (seen := oracle.understood(text)) is not None)
    unexplained = []
    for start in range(0, MUTANTS, BATCH):
        batch = list(itertools.islice(accepted, min(BATCH, MUTANTS - start)))
        for (text, seen), ran in zip(batch, oracle.run([t for t, _ in batch]), strict=True):
            # The parts of a pipeline start in any order.
            if sorted(seen) != sorted(ran):
                unexplained.append((text, seen, ran))
    assert not unexplained, unexplained[:5]
    assert not os.listdir(oracle.work)


def test_the_oracle_sees_words_and_streams_as_bash_makes_them(tmp_path: Path) -> None:
    """The log with which the guard's parsing is compared is right."""
    oracle = Oracle(tmp_path, 0)
    texts = [
        "cat 'a b' \"$HOME\" '' 2>/dev/null < ../input",
        "ls {a,b} 2>&1 | wc || rg x",
        "rm\\\n x",
    ]
    first, second, third = oracle.run(texts)
    assert first == [Ran(("cat", "a b", str(oracle.home), ""), "<../input >- 2>null")]
    assert sorted(second) == [Ran(("ls", "a", "b"), "<- >- 2>out"), Ran(("wc",), "<- >- 2>-")]
    assert third == []
