"""A measured figure and how it is computed from samples."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence


class Figure(NamedTuple):
    """One line of the printed table; a figure without a budget is only for information."""

    name: str
    figure: float
    unit: str = "×"
    budget: float | None = None
    note: str = ""

    @property
    def verdict(self) -> str:
        """Return `ok` or `over` (the budget), an empty string if there is no budget."""
        if self.budget is None:
            return ""
        return "ok" if self.figure <= self.budget else "over"


def ratio(ours: Sequence[float], theirs: Sequence[float]) -> float:
    """Return the median of the ratios of samples that were taken side by side."""
    return median(a / b for a, b in zip(ours, theirs, strict=True))
