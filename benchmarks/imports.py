"""Find out which files of the program import which, by reading them without running them.

An import counts wherever it stands: at the top, in a function, under TYPE_CHECKING. `from a import
b` is an import of the module a.b where there is one, else of a. That importing a.b also runs the
`__init__` of a is not counted.
"""

from __future__ import annotations

import ast
import os
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    Graph = Mapping[str, set[str]]

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# Not of the product: what looks at it, and the sample project that the demo plans a change of.
LEFT_OUT = (
    "tests",
    "benchmarks",
    os.path.join("cli", "demo", "repo"),
    os.path.join("cli", "demo", "edits"),
    os.path.join("cli", "demo", "intent"),
    os.path.join("cli", "demo", "requirements"),
)


class Module(NamedTuple):
    """A Python file of the program."""

    name: str
    path: str
    # The folder it lies in, "." for none.
    folder: str
    lines: int
    tree: ast.Module


def read_modules(root: str = ROOT) -> dict[str, Module]:
    """Return every Python module of the program by its dotted name, without bin/planner."""
    found = {}
    for folder, folders, files in os.walk(root):
        inside = os.path.relpath(folder, root)
        folders[:] = sorted(
            f for f in folders
            if not f.startswith(".") and os.path.normpath(os.path.join(inside, f)) not in LEFT_OUT
        )  # fmt: skip
        for file in sorted(f for f in files if f.endswith(".py")):
            path = os.path.normpath(os.path.join(inside, file))
            name = path.removesuffix(".py").replace(os.sep, ".").removesuffix(".__init__")
            with open(os.path.join(root, path), "rb") as source:
                text = source.read()
            lines = len(text.splitlines())
            found[name] = Module(name, path, inside, lines, ast.parse(text))
    return found


@cache
def own_modules() -> dict[str, Module]:
    """Return the same for this program, which is read once in a process."""
    return read_modules()


def module_graph(
    modules: Mapping[str, Module], walk: Callable[[ast.AST], Iterable[ast.AST]] = ast.walk
) -> dict[str, set[str]]:
    """Return, for each module of the program, which of the program's modules it imports."""
    return {
        name: {i for i in _imports(module, modules, walk) if i != name}
        for name, module in modules.items()
    }


def without_types(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what `ast.walk` yields, except what stands under `if TYPE_CHECKING:`."""
    for child in ast.iter_child_nodes(node):
        if not (
            isinstance(child, ast.If)
            and isinstance(child.test, ast.Name)
            and child.test.id == "TYPE_CHECKING"
        ):
            yield child
            yield from without_types(child)


def _imports(
    module: Module, modules: Mapping[str, Module], walk: Callable[[ast.AST], Iterable[ast.AST]]
) -> Iterator[str]:
    for node in walk(module.tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in modules)
        elif isinstance(node, ast.ImportFrom):
            origin = origin_of(module, node)
            for alias in node.names:
                name = f"{origin}.{alias.name}"
                if name in modules or origin in modules:
                    yield name if name in modules else origin


def origin_of(module: Module, node: ast.ImportFrom) -> str:
    """Return the absolute name of the module between `from` and `import`."""
    if not node.level:
        return node.module or ""
    parts = os.path.dirname(module.path).split(os.sep)
    above = parts[: len(parts) - node.level + 1]
    return ".".join([*above, *([node.module] if node.module else [])])


def top_folder_graph(modules: Mapping[str, Module], graph: Graph) -> dict[str, set[str]]:
    """Return which top folders each top folder imports from, subfolders included."""
    top_of = {name: module.folder.split(os.sep)[0] for name, module in modules.items()}
    tops: dict[str, set[str]] = {top: set() for top in top_of.values()}
    for name, imported in graph.items():
        tops[top_of[name]] |= {top_of[i] for i in imported} - {top_of[name]}
    return tops


def circles(graph: Graph) -> list[list[str]]:
    """Return the groups of names that import one another in a circle, the largest first."""
    groups = [sorted(group) for group in _components(graph) if len(group) > 1]
    return sorted(groups, key=lambda group: (-len(group), group))


def _components(graph: Graph) -> list[list[str]]:
    """Return the strongly connected components by Tarjan's algorithm, the imported ones first."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(name: str) -> None:
        index[name] = low[name] = len(index)
        stack.append(name)
        for other in sorted(graph[name]):
            if other not in index:
                visit(other)
                low[name] = min(low[name], low[other])
            elif other in stack:
                low[name] = min(low[name], index[other])
        if low[name] == index[name]:
            at = stack.index(name)
            found.append(stack[at:])
            del stack[at:]

    for name in sorted(graph):
        if name not in index:
            visit(name)
    return found
