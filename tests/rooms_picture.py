"""Draws docs/rooms.svg: the folders on their floors, what lies in them, which imports which.

`bin/test tests/test_docs.py --update-golden` writes it. Floors, columns and arrows come from the
imports, names from the files. Line counts are rounded, and an old one stays while it is nearly
right, so that not every edit makes the picture stale.
"""

from __future__ import annotations

import ast
import functools
import os
import re
import textwrap
from collections import defaultdict
from html import escape
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.imports import circles, module_graph, own_modules, top_folder_graph

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from benchmarks.imports import Module

    Graph = Mapping[str, set[str]]

WIDTH, MARGIN, GAP, FLOOR_GAP = 1120, 16, 26, 36
HEADER, ROW, PADDING = 34, 15, 10
CHARACTER = 6.0  # width of one in the small text, at most
NEARLY = 100
OWN_FILES = "/*.py"
OLD_LINES = re.compile(r'data-room="([^"]+)"[^>]*>([\d,]+)')
STYLE = """\
.page{fill:#fff}.floor{fill:#f1f4f8;stroke:#c5cedb}.box{fill:#fff;stroke:#a9b7cb}
text{font:11px system-ui,"Segoe UI","DejaVu Sans",sans-serif;fill:#55637a}
.name{font-size:13px;font-weight:600;fill:#182230}.top{font-size:15px}.end{text-anchor:end}
.arrow{stroke:#3f6db0;stroke-width:1.6;fill:none;marker-end:url(#tip)}#tip{fill:#3f6db0}
@media(prefers-color-scheme:dark){.page{fill:#0d1117}.floor{fill:#161c25;stroke:#364152}
.box{fill:#212a36;stroke:#4a586c}text{fill:#a5b2c4}.name{fill:#edf2f8}
.arrow{stroke:#7fa8e8}#tip{fill:#7fa8e8}}"""
TIP = (
    '<marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="6" markerHeight="6"'
    ' orient="auto"><path d="M0 0 8 4 0 8z"/></marker>'
)
FOOT = """\
An arrow says: imports. Left out are arrows that others imply, and those of a folder's own files \
that lie above and below its subfolders.
Step scripts, such as architect/plan_design.py, are found by name through \
shared/steps/entry_points.py, without an import."""


class Box(NamedTuple):
    """A rectangle of the picture."""

    x: float
    y: float
    width: float
    height: float


class House:
    """What is drawn: rooms (a folder without its subfolders) and the top folders they lie in."""

    def __init__(self, old: str) -> None:
        modules, files = folders_of_ours()
        self.tops: Graph = top_folder_graph(modules, files)
        self.rooms: dict[str, set[str]] = defaultdict(set)
        self.about: dict[str, str] = {}
        self.names: dict[str, list[str]] = defaultdict(list)
        lines: dict[str, int] = defaultdict(int)
        for name, module in modules.items():
            room = room_of(module)
            self.rooms[room] |= {room_of(modules[i]) for i in files[name]} - {room}
            lines[room] += module.lines
            lines[top_of(room)] += module.lines
            if module.path.endswith("__init__.py"):
                self.about[name] = (ast.get_docstring(module.tree) or "").split("\n")[0]
            else:
                self.names[room].append(name.rpartition(".")[2])
        shown = {room: int(n.replace(",", "")) for room, n in OLD_LINES.findall(old)}
        self.lines = {
            room: shown[room] if abs(shown.get(room, -NEARLY) - n) <= NEARLY else round(n, -2)
            for room, n in lines.items()
        }

    def inside(self, top: str) -> tuple[dict[str, set[str]], list[str]]:
        """Return the rooms of a top folder with their imports, and own files that are apart.

        Own files are apart where they lie both above and below the subfolders.
        """
        graph = within(self.rooms, {r for r in self.rooms if top_of(r) == top and self.names[r]})
        own = top + OWN_FILES
        apart = [own] if any(own in group for group in circles(graph)) else []
        return within(graph, {*graph} - {*apart}), apart


@functools.cache
def folders_of_ours() -> tuple[Mapping[str, Module], Graph]:
    """Return the modules that lie in folders, and their imports."""
    modules = {name: module for name, module in own_modules().items() if module.folder != "."}
    return modules, module_graph(modules)


def room_of(module: Module) -> str:
    """Return the folder of a module; the own files of a top folder are a room like the others."""
    return module.folder if os.sep in module.folder else module.folder + OWN_FILES


def top_of(room: str) -> str:
    return room.partition(os.sep)[0]


def within(graph: Graph, names: set[str]) -> dict[str, set[str]]:
    """Return the part of a graph between these names."""
    return {name: graph[name] & names for name in sorted(names)}


def layers(graph: Graph) -> list[list[str]]:
    """Return names in layers: each lies after all that it needs; a circle lies on one layer."""
    group_of = {name: {name} for name in graph}
    for group in circles(graph):
        group_of |= {name: {*group} for name in group}
    found: dict[str, int] = {}

    def layer(name: str) -> int:
        if name not in found:
            needed = {i for member in group_of[name] for i in graph[member]} - group_of[name]
            found[name] = max((layer(i) + 1 for i in needed), default=0)
        return found[name]

    every = {name: layer(name) for name in sorted(graph)}
    return [[n for n in every if every[n] == at] for at in sorted({*every.values()})]


def arrows_of(graph: Graph) -> Iterator[tuple[str, str]]:
    """Yield the arrows that are not implied by a longer way through the graph."""

    def reach(name: str, seen: set[str]) -> set[str]:
        for other in graph[name] - seen:
            seen.add(other)
            reach(other, seen)
        return seen

    for name, imported in graph.items():
        implied = {i for other in imported for i in reach(other, {other}) - {other}}
        yield from ((name, other) for other in sorted(imported - implied))


def render_rooms(old: str = "") -> str:
    """Return docs/rooms.svg; `old` is the one there is."""
    house = House(old)
    markup: list[str] = []
    places: dict[str, Box] = {}
    y: float = MARGIN
    for floor in reversed(layers(house.tops)):
        placed, drawn = draw_floor(house, floor, y)
        places |= placed
        markup += drawn
        y = max(box.y + box.height for box in placed.values()) + FLOOR_GAP
    markup += (down(places[a], places[b]) for a, b in arrows_of(house.tops))
    for line in FOOT.splitlines():
        markup.append(text(MARGIN, y - 14, line))
        y += ROW
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y - 14:.0f}" role="img">\n'
        f"<title>The rooms of the program and their imports</title>\n<style>\n{STYLE}\n</style>\n"
        f'{TIP}\n<rect class="page" width="{WIDTH}" height="{y - 14:.0f}"/>\n'
    )
    return head + "\n".join(markup) + "\n</svg>\n"


def draw_floor(house: House, tops: list[str], y: float) -> tuple[dict[str, Box], list[str]]:
    """Return where top folders that stand side by side lie with their rooms, and their markup."""
    columns = {top: columns_of(*house.inside(top)) for top in tops}
    count = sum(len(ordered) for ordered in columns.values())
    frames = 2 * PADDING * len(tops) + GAP * (count - 1)
    width = (WIDTH - 2 * MARGIN - frames) / count
    placed: dict[str, Box] = {}
    markup: list[str] = []
    left: float = MARGIN
    for top, ordered in columns.items():
        for at, column in enumerate(ordered):
            below = y + HEADER
            for room in column:
                lines = wrapped(house.names[room], width)
                x = left + PADDING + at * (width + GAP)
                placed[room] = Box(x, below, width, 26 + ROW * len(lines))
                markup += draw_room(room, placed[room], house.lines[room], lines)
                below += placed[room].height + PADDING
        graph, _ = house.inside(top)
        markup += (across(placed[a], placed[b]) for a, b in arrows_of(graph))
        placed[top] = Box(left, y, 2 * PADDING + len(ordered) * (width + GAP) - GAP, 0)
        left += placed[top].width + GAP
    height = max(box.y + box.height for box in placed.values()) + PADDING - y
    placed |= {top: placed[top]._replace(height=height) for top in tops}
    return placed, [line for top in tops for line in draw_top(top, placed[top], house)] + markup


def columns_of(graph: Graph, apart: list[str]) -> list[list[str]]:
    """Return rooms from left to right: each right of those that import it, what is apart last."""
    importers = {room: {r for r in graph if room in graph[r]} for room in graph}
    return [*layers(importers), *([apart] if apart else [])]


def draw_top(top: str, box: Box, house: House) -> list[str]:
    """Return the frame of a top folder, its name, its size, what it is for where there is space."""
    about = house.about.get(top, "")
    x = box.x + PADDING + 10 * len(top) + 20
    fits = x + len(about) * CHARACTER < box.x + box.width - 80
    return [
        rect("floor", box),
        text(box.x + PADDING, box.y + 22, f"{top}/", "name top"),
        *([text(x, box.y + 22, about)] if fits else []),
        *size(top, box, house.lines[top], 22, " lines"),
    ]


def draw_room(room: str, box: Box, count: int, lines: list[str]) -> list[str]:
    """Return the box of a room, its name, its size, its modules."""
    return [
        rect("box", box),
        text(box.x + 8, box.y + 17, room.partition(os.sep)[2], "name"),
        *size(room, box, count, 17),
        *(text(box.x + 8, box.y + 33 + ROW * at, line) for at, line in enumerate(lines)),
    ]


def size(room: str, box: Box, count: int, offset: int, unit: str = "") -> list[str]:
    """Return a line count at the right of a box, if it is worth telling; OLD_LINES reads it."""
    x, y = box.x + box.width - 8, box.y + offset
    shown = f'<text data-room="{room}" class="end" x="{x:.0f}" y="{y:.0f}">{count:,}{unit}</text>'
    return [shown] if count else []


def wrapped(names: list[str], width: float) -> list[str]:
    """Return names in lines that fit into a box."""
    return textwrap.wrap(", ".join(sorted(names)), int((width - 12) / CHARACTER))


def rect(kind: str, box: Box) -> str:
    return (
        f'<rect class="{kind}" x="{box.x:.0f}" y="{box.y:.0f}" width="{box.width:.0f}"'
        f' height="{box.height:.0f}" rx="6"/>'
    )


def text(x: float, y: float, words: str, kind: str = "") -> str:
    kind = f' class="{kind}"' if kind else ""
    return f'<text{kind} x="{x:.0f}" y="{y:.0f}">{escape(words, quote=False)}</text>'


def across(start: Box, end: Box) -> str:
    """Return an arrow between rooms of one floor, from side to side."""
    x1, y1 = start.x + start.width, start.y + 14
    x2, y2 = end.x - 2, end.y + 14
    middle = (x1 + x2) / 2
    curve = f"{middle:.0f} {y1:.0f} {middle:.0f} {y2:.0f} {x2:.0f} {y2:.0f}"
    return f'<path class="arrow" d="M{x1:.0f} {y1:.0f}C{curve}"/>'


def down(start: Box, end: Box) -> str:
    """Return an arrow from a top folder to one on a lower floor."""
    narrow = min(start, end, key=lambda box: box.width)
    x = narrow.x + narrow.width / 2
    return f'<path class="arrow" d="M{x:.0f} {start.y + start.height:.0f}V{end.y - 2:.0f}"/>'
