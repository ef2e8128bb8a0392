"""Group milestones into waves that run one after another, by dependencies and shared files."""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING

from state.milestones import files_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from state.models import Milestone


def is_ordered(milestones: Sequence[Milestone]) -> bool:
    """Return whether the plan lists every milestone after all milestones that it depends on."""
    seen: set[str] = set()
    for milestone in milestones:
        if not seen.issuperset(milestone.depends_on):
            return False
        seen.add(milestone.id)
    return True


def find_cycle(milestones: Sequence[Milestone]) -> list[str]:
    """Return the ids along one dependency cycle of milestones, first id repeated last, or []."""
    if is_ordered(milestones):
        return []
    sorter = TopologicalSorter({m.id: m.depends_on for m in milestones})
    try:
        sorter.prepare()
    except CycleError as found:
        return list(found.args[1])
    return []


def compute_waves(
    milestones: Sequence[Milestone], files: Sequence[set[str]] | None = None
) -> list[list[str]]:
    """Return waves of milestone ids; milestones of one wave can run together (PL-14).

    A milestone is in the first wave after its dependencies that holds no milestone with a file in
    common. `files` are those of each milestone, from a caller that knows them.
    """
    waves: list[list[str]] = []
    taken: list[set[str]] = []
    wave_of: dict[str, int] = {}
    for milestone, paths in _in_order(milestones, files or [*map(files_of, milestones)]):
        wave = max([wave_of[d] + 1 for d in milestone.depends_on], default=0)
        while wave < len(waves) and not taken[wave].isdisjoint(paths):
            wave += 1
        if wave == len(waves):
            waves.append([])
            taken.append(set())
        waves[wave].append(milestone.id)
        taken[wave] |= paths
        wave_of[milestone.id] = wave
    return [sorted(wave) for wave in waves]


def _in_order(
    milestones: Sequence[Milestone], files: Sequence[set[str]]
) -> Iterable[tuple[Milestone, set[str]]]:
    """Return pairs of milestone and its files, each milestone after those that it depends on."""
    pairs = [*zip(milestones, files, strict=True)]
    # Sorting costs more than all the rest, and most plans are written in order.
    if is_ordered(milestones):
        return pairs
    by_id = {pair[0].id: pair for pair in pairs}
    order = TopologicalSorter({m.id: m.depends_on for m in milestones}).static_order()
    return [by_id[milestone_id] for milestone_id in order]
