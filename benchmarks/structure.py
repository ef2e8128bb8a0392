"""Count the program's lines and imports: `python3 -m benchmarks.structure [--json] [--longest]`.

Lines by top folder, floors and circles are read from the sources (`imports.py` says how imports
are counted); crossings are measured on real commands (`crossings.py` says what one is). It names
no module of the product, so moving them changes the figures and nothing else. Exit code 1 where a
budget is missed.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import sys
from collections import Counter
from typing import TYPE_CHECKING

from benchmarks.crossings import crossing_figures, measure_crossings
from benchmarks.figure import Figure
from benchmarks.imports import (
    circles,
    folder_graph,
    longest_chain,
    module_graph,
    read_modules,
    top_folder_graph,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from benchmarks.imports import Module

SHARED = "shared"
SHARED_PERCENT = 45
FLOORS = 7
CIRCLES = 0
MODULE_LINES = 300
FUNCTION_LINES = 40


def main() -> int:
    """Measure, print the figures, and return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument(
        "--longest", action="store_true",
        help=f"list modules over {MODULE_LINES} lines and functions over {FUNCTION_LINES}",
    )  # fmt: skip
    options = parser.parse_args()
    modules = read_modules()
    figures = [*size_figures(modules), *import_figures(modules)]
    figures += crossing_figures(measure_crossings())
    long = sorted(longest(modules), reverse=True) if options.longest else []
    if options.json:
        shown = [{**f._asdict(), "verdict": verdict(f)} for f in figures]
        print(json.dumps({"figures": shown, "longest": long}, indent=2, ensure_ascii=False))
    else:
        for f in figures:
            limit = "" if f.budget is None else f"≤ {f.budget:g}"
            figure = f"{f.figure:.1f}" if f.unit else f"{f.figure:g}"
            print(f"{f.name:<44} {limit:>6} {figure:>6} {f.unit:<1} {verdict(f):<6} {f.note}")
        for lines, name in long:
            print(f"{lines:>6} lines  {name}")
    return 1 if any(verdict(f) == "missed" for f in figures) else 0


def verdict(figure: Figure) -> str:
    """Return `met` or `missed` (the budget), an empty string if there is no budget."""
    return {"ok": "met", "over": "missed"}.get(figure.verdict, "")


def size_figures(modules: Mapping[str, Module]) -> list[Figure]:
    """Return the number of lines in each top folder, and the share of all lines in `shared`."""
    lines: Counter[str] = Counter()
    for module in modules.values():
        lines[module.path.split(os.sep)[0]] += module.lines
    share = 100 * lines[SHARED] / lines.total()
    return [
        *(Figure(f"lines in {folder}", count, unit="") for folder, count in lines.most_common()),
        Figure("lines in all", lines.total(), unit=""),
        Figure(f"share of {SHARED}", share, "%", budget=SHARED_PERCENT),
    ]


def import_figures(modules: Mapping[str, Module]) -> list[Figure]:
    """Return the longest import chain and the import circles of top folders, folders and files.

    Only top folders have a budget of floors: the order of the rooms inside orchestrator makes the
    chain of subfolders longer. Subfolders have no budget of circles, since a folder's own files may
    lie above and below them.
    """
    files = module_graph(modules)
    graphs = (
        ("top folders", top_folder_graph(modules, files), FLOORS, CIRCLES),
        ("folders", folder_graph(modules, files), None, None),
        ("files", files, None, CIRCLES),
    )
    found = []
    for what, graph, budget, _ in graphs:
        chain = longest_chain(graph)
        floors = len(chain.floors)
        found.append(Figure(f"floors by {what}", floors, unit="", budget=budget, note=str(chain)))
    for what, graph, _, budget in graphs:
        groups = circles(graph)
        note = "; ".join(", ".join(group) for group in groups)
        found.append(Figure(f"circles of {what}", len(groups), unit="", budget=budget, note=note))
    return found


def longest(modules: Mapping[str, Module]) -> Iterator[tuple[int, str]]:
    """Yield the length and place of each module and function that is too long."""
    for module in modules.values():
        if module.lines > MODULE_LINES:
            yield module.lines, module.path
        for node in ast.walk(module.tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                if lines > FUNCTION_LINES:
                    yield lines, f"{module.path}:{node.lineno} {node.name}"


if __name__ == "__main__":
    sys.exit(main())
