"""What is written for speed stands only where the hook loads it; all else is ordinary Python.

The hook runs before each call of a tool, and `planner ro` for each command that it lets pass.
"""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.imports import module_graph, without_types
from tests.test_layers import ROOT, modules

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.imports import Module

# Clients' files are imported by name.
STARTED = ("shared.guard.hook", "shared.guard.runner")
BY_NAME = "shared.clients."
SWITCH = "TYPE_CHECKING = False"
REASON = "  # the hook loads this module: neither typing nor dataclasses"
FOR_SPEED = {"state.quick_json"}


@cache
def loaded() -> set[str]:
    """Return the modules that the hook or `planner ro` may import, by their places."""
    named = {module.name: module for module in modules().values()}
    graph = module_graph(named, without_types)
    new = {*STARTED, *(name for name in named if name.startswith(BY_NAME))}
    found: set[str] = set()
    while new:
        found |= new
        new = {imported for name in new for imported in graph[name]} - found
    return {place for place, module in modules().items() if module.name in found}


def bent(module: Module) -> Iterator[str]:
    """Yield the line and form of what is written otherwise than it would be without the hook."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Assign) and is_named(node.targets[0], "TYPE_CHECKING"):
            yield f"{node.lineno}: TYPE_CHECKING is set"
        elif isinstance(node, ast.ClassDef):
            yield from (f"{node.lineno}: {form} of {node.name}" for form in by_hand(node))
        elif isinstance(node, ast.ImportFrom) and node.module in FOR_SPEED:
            yield f"{node.lineno}: {node.module}"


def is_named(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def by_hand(definition: ast.ClassDef) -> Iterator[str]:
    """Yield what makes a class small or frozen without `dataclasses` or `NamedTuple`."""
    for node in definition.body:
        if isinstance(node, ast.Assign) and is_named(node.targets[0], "__slots__"):
            # A subclass of str has to name them, and names none.
            yield from ["__slots__"] if ast.literal_eval(node.value) else []
        elif isinstance(node, ast.FunctionDef) and node.name in ("__setattr__", "__delattr__"):
            yield node.name


def test_only_what_the_hook_loads_is_written_for_speed() -> None:
    assert "shared/steps/workflow" not in loaded()
    wrong = [
        f"{module.path}:{form} · allowed: ordinary Python, for the hook does not load it"
        for place, module in modules().items()
        if place not in loaded()
        for form in bent(module)
    ]
    assert not wrong, "\n".join(wrong)


def test_each_module_without_typing_says_why() -> None:
    lines = {
        place: line
        for place in loaded()
        for line in Path(ROOT, modules()[place].path).read_text(encoding="utf-8").splitlines()
        if line.startswith(SWITCH)
    }
    assert lines
    assert not [place for place, line in lines.items() if line != SWITCH + REASON]
