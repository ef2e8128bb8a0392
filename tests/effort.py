"""How much work something is, as a ratio to a piece of work measured beside it."""

from __future__ import annotations

import contextlib
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

# Steps of a loop; on a quiet machine a hundred such pieces take about a second.
_STEPS = 300_000


@contextlib.contextmanager
def within(pieces: float) -> Iterator[None]:
    """Fail if the body takes more processor time than so many `pieces` of plain work.

    What a piece takes is measured before and after, so that a slow or busy machine is no finding.
    """
    before_s = _piece_s()
    began_s = time.process_time()
    yield
    spent_s = time.process_time() - began_s
    piece_s = max(before_s, _piece_s())
    assert spent_s < pieces * piece_s, f"{spent_s / piece_s:.0f} pieces of work"


def _piece_s() -> float:
    began_s, total = time.process_time(), 0
    for number in range(_STEPS):
        total += number
    return time.process_time() - began_s
