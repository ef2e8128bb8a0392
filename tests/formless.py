"""Names the test functions that no form of the suite runs, from the text of their files.

Pytest says nothing of a function that it does not collect: its file or its class has another kind
of name, its folder is passed over, or a later function has the same name. One that is always
skipped is reported, and still shows nothing.
"""

from __future__ import annotations

import ast
import os
from fnmatch import fnmatch
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_SCOPES = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_KEEP_OUT = {"collect_ignore", "collect_ignore_glob", "pytest_ignore_collect"}


class Rules(NamedTuple):
    """What pytest collects, as its configuration says."""

    files: Iterable[str]
    passed_over: Iterable[str]  # folders


def formless(root: str, rules: Rules) -> list[str]:
    """Return what is in no form below `root`: `folder/test_a.py::test_it: why`, by path."""
    found: list[str] = []
    for path in _python_files(root):
        with open(os.path.join(root, path), encoding="utf-8") as file:
            text = file.read()
        if "def test_" in text or "skip" in text or path.endswith("conftest.py"):
            found += _in_file(path, ast.parse(text), rules)
    return found


def _python_files(root: str) -> Iterator[str]:
    for folder, folders, files in os.walk(root):
        folders.sort()
        below = os.path.relpath(folder, root)
        for name in sorted(files):
            if name.endswith(".py"):
                yield os.path.normpath(os.path.join(below, name))


def _in_file(path: str, tree: ast.Module, rules: Rules) -> Iterator[str]:
    *folders, name = path.split(os.sep)
    why = ""
    if not any(fnmatch(name, pattern) for pattern in rules.files):
        why = "pytest does not look into a file of this name"
    for folder in folders:
        if any(fnmatch(folder, pattern) for pattern in rules.passed_over):
            why = f"pytest passes over the folder {folder}"
    yield from (f"{path}::{line}" for line in _uncollected(tree.body, "", why))
    yield from (f"{path}::{line}" for line in _always_skipped(tree))
    if name == "conftest.py":
        kept_out = sorted(_KEEP_OUT & set(_bindings(tree.body)))
        yield from (f"{path}: {word} keeps files out of every form" for word in kept_out)


def _uncollected(body: list[ast.stmt], within: str, why: str) -> Iterator[str]:
    """Yield the functions of a block that pytest does not collect; `why` goes for all of them."""
    last = _bindings(body)
    for node in body:
        if not isinstance(node, _SCOPES):
            for inner in _blocks(node):
                yield from _uncollected(inner, within, why)
            continue
        name = f"{within}{node.name}"
        own = why
        if last[node.name] is not node:
            own = own or f"another {node.name} below it takes its place"
        if isinstance(node, ast.ClassDef):
            yield from _uncollected(node.body, f"{name}::", own or _why_no_tests(node))
            continue
        if own and node.name.startswith("test_"):
            yield f"{name}: {own}"
        yield from _uncollected(node.body, f"{name}.", "a function in a function is not collected")


def _why_no_tests(node: ast.ClassDef) -> str:
    bases = [ast.unparse(base) for base in node.bases]
    if not node.name.startswith("Test") and not any(b.endswith("TestCase") for b in bases):
        return f"pytest does not look into a class named {node.name}"
    bound = _bindings(node.body)
    odd = [name for name in ("__init__", "__new__", "__test__") if name in bound]
    return f"pytest does not look into a class with {odd[0]}" if odd else ""


def _bindings(body: list[ast.stmt]) -> dict[str, ast.stmt]:
    """Return the names that a block binds, each with the statement that binds it last."""
    found: dict[str, ast.stmt] = {}
    for node in body:
        names: list[str] = []
        if isinstance(node, _SCOPES):
            names = [node.name]
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names = [alias.asname or alias.name for alias in node.names]
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = [target.id for target in targets if isinstance(target, ast.Name)]
        found.update(dict.fromkeys(names, node))
    return found


def _blocks(node: ast.AST) -> Iterator[list[ast.stmt]]:
    """Yield the blocks of a statement: of `if`, `try`, `with` and their like."""
    for _, value in ast.iter_fields(node):
        if isinstance(value, list) and value:
            if isinstance(value[0], ast.stmt):
                yield value
            elif isinstance(value[0], ast.ExceptHandler | ast.match_case):
                yield from (inner.body for inner in value)


def _always_skipped(tree: ast.Module) -> Iterator[str]:
    named: dict[ast.AST, str] = {}
    for name, node in _scopes(tree, ""):
        named.update({inner: name for one in node.decorator_list for inner in ast.walk(one)})
        named.update(dict.fromkeys(node.body, name) if node.name.startswith("test_") else {})
    named.update(dict.fromkeys(set(tree.body) - named.keys(), ""))
    for any_node in ast.walk(tree):
        if _is_skip_mark(any_node) or (any_node in named and _is_skip_call(any_node)):
            at = named.get(any_node) or f"line {getattr(any_node, 'lineno', 0)}"
            yield f"{at}: it is always skipped"


def _scopes(node: ast.AST, within: str) -> Iterator[tuple[str, _SCOPES]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, _SCOPES):
            yield f"{within}{child.name}", child
            yield from _scopes(child, f"{within}{child.name}::")
        else:
            yield from _scopes(child, within)


def _is_skip_mark(node: ast.AST) -> bool:
    """Return whether this is `pytest.mark.skip`, or `skipif` with a condition that is no other."""
    if isinstance(node, ast.Call) and _is_mark(node.func, "skipif") and node.args:
        return isinstance(node.args[0], ast.Constant) and bool(node.args[0].value)
    return _is_mark(node, "skip")


def _is_mark(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Attribute) and ast.unparse(node).endswith(f"mark.{name}")


def _is_skip_call(node: ast.AST) -> bool:
    """Return whether this is a statement `pytest.skip(…)`, which stands under no condition."""
    call = node.value if isinstance(node, ast.Expr) else None
    return isinstance(call, ast.Call) and ast.unparse(call.func) == "pytest.skip"
