"""Draw a plan's waves: milestones in rows, with lines from each to those that depend on it.

Every milestone has a lane; a line keeps its lane until the last milestone that needs it, so no
line runs through another milestone's mark. Each row draws its own part, so text may wrap.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from orchestrator.submit.page.html import Element

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from orchestrator.submit.page.html import Node
    from state.models import Milestone, Plan

WIDEST = 132  # pixels of all lanes together; what is left at 360 holds the names
_GAP, _TOP, _RADIUS, _EDGE = 18.0, 18, 6, 10.0


class Placed(NamedTuple):
    """A milestone's row in the drawing: its column, and the columns of the lines that pass it."""

    milestone: Milestone
    wave: int
    lane: int
    into: tuple[int, ...]
    passing: tuple[int, ...]
    leaves: bool


def picture(plan: Plan, beside: Mapping[str, Node]) -> Node:
    """Return the drawing of the waves as a list; `beside` maps milestones to the text beside."""
    rows = place(plan)
    lanes = max([row.lane for row in rows], default=0) + 1
    gap = min(_GAP, (WIDEST - 2 * _EDGE) / max(lanes - 1, 1))
    found = []
    for wave in sorted({row.wave for row in rows}):
        inside = [row for row in rows if row.wave == wave]
        open_lanes = tuple(dict.fromkeys((*inside[0].into, *inside[0].passing)))
        title = Element("span", _title(wave, len(inside)), {"class": "wave"})
        parts = [[_lines(open_lanes, gap, lanes), title]]
        parts += [[_lane_of(row, gap, lanes), beside[row.milestone.id]] for row in inside]
        found.append(Element("li", [Element("div", part, {"class": "row"}) for part in parts]))
    return Element("ol", found, {"class": "waves"})


def _title(wave: int, number: int) -> str:
    return f"Wave {wave}" + (f" · {number} at once" if number > 1 else "")


def place(plan: Plan) -> list[Placed]:
    """Return the milestones in the order of their waves, each with its column in the drawing."""
    known = {m.id: m for m in plan.milestones}
    order = [
        (wave.wave, known[name])
        for wave in plan.milestone_dependencies.waves
        for name in wave.milestones
        if name in known
    ]
    row_of = {m.id: n for n, (_, m) in enumerate(order)}
    last = {m.id: n for n, (_, m) in enumerate(order)}
    for _, milestone in order:
        for needed in milestone.depends_on:
            if needed in last:
                last[needed] = max(last[needed], row_of[milestone.id])
    return _with_lanes(order, last)


def _with_lanes(order: Sequence[tuple[int, Milestone]], last: dict[str, int]) -> list[Placed]:
    held: dict[int, str] = {}  # lane → the milestone whose line is in it
    lane_of: dict[str, int] = {}
    placed = []
    for n, (wave, milestone) in enumerate(order):
        needed = [m for m in milestone.depends_on if m in lane_of]
        into = tuple(lane_of[m] for m in needed)
        held = {lane: m for lane, m in held.items() if last[m] >= n}
        passing = tuple(lane for lane, m in held.items() if last[m] > n)
        lane = next(i for i in range(len(order) + 1) if i not in passing)
        placed.append(Placed(milestone, wave, lane, into, passing, last[milestone.id] > n))
        lane_of[milestone.id] = lane
        held = {i: m for i, m in held.items() if i in passing} | {lane: milestone.id}
    return placed


def _drawing(gap: float, lanes: int, parts: Sequence[Node]) -> Node:
    width = str(round(2 * _EDGE + (lanes - 1) * gap))
    return Element("svg", parts, {"width": width, "class": "lanes", "aria-hidden": "true"})


def _x(lane: int, gap: float) -> str:
    return f"{_EDGE + lane * gap:g}"


def _line(lane: int, gap: float, top: str = "0") -> Node:
    x = _x(lane, gap)
    return Element("line", None, {"x1": x, "y1": top, "x2": x, "y2": "100%"})


def _lines(lanes: Sequence[int], gap: float, number: int) -> Node:
    return _drawing(gap, number, [_line(lane, gap) for lane in lanes])


def _lane_of(row: Placed, gap: float, lanes: int) -> Node:
    """Return the drawing of a milestone's row: passing lines, lines in, a circle, the line out."""
    x = _x(row.lane, gap)
    parts = [_line(lane, gap) for lane in row.passing]
    for lane in row.into:
        bend = f"M{_x(lane, gap)} 0C{_x(lane, gap)} {_TOP} {x} 0 {x} {_TOP}"
        parts.append(Element("path", None, {"d": bend}))
    if row.leaves:
        parts.append(_line(row.lane, gap, str(_TOP)))
    parts.append(Element("circle", None, {"cx": x, "cy": str(_TOP), "r": str(_RADIUS)}))
    return _drawing(gap, lanes, parts)
