"""Says why a line of a Python test file shows nothing: it is not run, or nothing there can fail."""

from __future__ import annotations

import ast
import os
import re
import sys
from functools import lru_cache
from typing import TYPE_CHECKING

from quality_reviewer.checks.syntax import Doubt, read_python

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    Function = ast.FunctionDef | ast.AsyncFunctionDef

NOTHING_ASSERTED = "asserts nothing"
_COLLECTED = re.compile(r"(?:test_.*|.*_test|tests?|conftest)\.py")
# Calls by whose name something is checked, such as `self.assertEqual` or `check_page`.
_CHECKS = re.compile(
    r"assert|expect|raise|warns|fail|check|verif|should|must|compar|match|snapshot|ensure|valid"
    r"|approv|is_|equal|hypothesis|exit|benchmark",
    re.IGNORECASE,
)
_NEVER_FAILS = re.compile(r"assert(?:IsNotNone|True|Is|Equals?|NotIn|AlmostEqual)")
# What a runner gives to a test that is nothing of the project.
_GIVEN_WORDS = """
monkeypatch tmp_path tmpdir capsys caplog request recwarn
"""
_GIVEN = frozenset(_GIVEN_WORDS.split())
_RUNNERS = frozenset(
    ["pytest", "unittest", "hypothesis", "mock", "freezegun", "__future__", "typing_extensions"]
)
_WIDE_WORDS = """
AssertionError Exception BaseException
"""
_WIDE = frozenset(_WIDE_WORDS.split())
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def why_idle(file: str, lines: Sequence[str], number: int, *, is_started: bool) -> str:
    """Return why line `number` of a test file shows nothing, or ''; in doubt that is ''.

    `is_started` says that a command names the file, so that all of it runs whatever its name.
    """
    tree = _tree("\n".join(lines))
    name = os.path.basename(file)
    if isinstance(tree, Doubt) or name == "conftest.py":
        return ""
    path = [*_path_to(tree, number)]
    if path and isinstance(path[-1], (ast.Import, ast.ImportFrom)):
        return "is an import"
    if not is_started and not _COLLECTED.fullmatch(name):
        return "stands in a file that no test runner collects by its name"
    why = _not_run(tree, path, number, is_started=is_started)
    return why or next(_cannot_fail(tree, path, number), "")


@lru_cache(maxsize=16)
def _tree(text: str) -> ast.Module | Doubt:
    return read_python(text.encode("utf-8", "replace"))


@lru_cache(maxsize=2048)
def _words(node: ast.AST) -> frozenset[str]:
    """Return the names and other words of a piece of code."""
    return frozenset(re.findall(r"\w+", ast.unparse(node)))


def _path_to(tree: ast.AST, number: int) -> Iterator[ast.stmt]:
    """Yield the statements that a line lies in, the outermost first."""
    node: ast.AST | None = tree
    while node is not None:
        inside = (s for s in ast.walk(node) if isinstance(s, ast.stmt) and s is not node)
        node = next((s for s in inside if _first(s) <= number <= (s.end_lineno or 0)), None)
        if isinstance(node, ast.stmt):
            yield node


def _first(node: ast.stmt) -> int:
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return min([node.lineno, *(one.lineno for one in node.decorator_list)])
    return node.lineno


def _not_run(tree: ast.Module, path: Sequence[ast.stmt], number: int, *, is_started: bool) -> str:
    for outer in path:
        if isinstance(outer, ast.If) and _is_false(outer.test, is_started=is_started):
            return "stands under a condition that is never true"
        body = outer.body if isinstance(outer, _FUNCTIONS) else []
        over = next((s for s in body if isinstance(s, (ast.Return, ast.Raise))), None)
        if over is not None and number > (over.end_lineno or number):
            return "stands after the end of its test"
    functions = [f for f in path if isinstance(f, _FUNCTIONS)]
    classes = [c for c in path if isinstance(c, ast.ClassDef)]
    marks = [d for s in (*classes, *functions) for d in s.decorator_list]
    own = [*tree.body, *(s for c in classes for s in c.body)]
    marks += [s.value for s in own if isinstance(s, ast.Assign) and "pytestmark" in _defined(s)]
    if marked := next(filter(None, map(_mark, marks)), ""):
        return f"is of a test that is marked {marked}"
    if not functions or is_started:
        return ""
    outer, inner = functions[0], functions[-1]
    if outer is not inner and inner.name.startswith("test") and not _names(outer, inner.name):
        return f"stands in {inner.name} within {outer.name}, which no runner collects"
    return _not_collected(tree, outer, classes)


def _not_collected(tree: ast.Module, outer: Function, classes: Sequence[ast.ClassDef]) -> str:
    """Return why no runner collects a function, and no test calls it; '' where it may run."""
    used = _used_by_tests(tree)
    if classes and not _is_collected_class(classes[0]):
        made = any(isinstance(f, _FUNCTIONS) and f.name == "__init__" for f in classes[0].body)
        if classes[0].name in used or not outer.name.startswith("test"):
            return "" if classes[0].name in used else f"is of {classes[0].name}, which no test uses"
        why = ", which has a constructor" if made else ""
        return f"stands in {outer.name} of {classes[0].name}{why}, which no runner collects"
    if outer.name.startswith("test") or outer.name in used or _is_hook(outer):
        return ""
    return f"stands in {outer.name}, which no runner collects and no test calls"


def _cannot_fail(tree: ast.Module, path: Sequence[ast.stmt], number: int) -> Iterator[str]:
    """Yield why nothing can fail where a line stands."""
    test = next((f for f in path if isinstance(f, _FUNCTIONS)), None)
    if path and isinstance(path[-1], ast.Assert) and _is_empty(path[-1], test):
        yield "is an assertion that cannot fail"
    if test is None:
        return
    reached = _reached(tree, test)
    checks = [c for f in reached for c in _checks(f)]
    is_test = test.name.startswith("test")
    if not checks and not is_test:
        yield f"stands in {test.name}, which checks nothing"
    if not checks:
        yield f"is of {test.name}, which {NOTHING_ASSERTED}"
    if all(_is_empty(c, test) for c in checks):
        yield f"is of {test.name}, whose assertions cannot fail"
    if is_test and _is_apart(tree, test, reached):
        yield f"is of {test.name}, which uses nothing of the project"
    guards = [t for t in path if isinstance(t, ast.Try)
              and any(_first(s) <= number <= (s.end_lineno or 0) for s in t.body)]  # fmt: skip
    if any(map(_swallows, guards)):
        yield f"is of {test.name}, where a failing assertion is caught"


def _checks(function: ast.stmt) -> Iterator[ast.AST]:
    for node in ast.walk(function):
        if isinstance(node, (ast.Assert, ast.Raise)) or (
            isinstance(node, ast.Call) and _CHECKS.search(_called(node))
        ):
            yield node


def _is_empty(check: ast.AST, test: Function | None) -> bool:
    """Return whether a check is true whatever the code does."""
    if isinstance(check, ast.Call):
        plain = _NEVER_FAILS.fullmatch(_called(check)) and check.args
        same = len(check.args) > 1 and ast.dump(check.args[0]) == ast.dump(check.args[1])
        return bool(plain) and (same or all(isinstance(a, ast.Constant) for a in check.args))
    if not isinstance(check, ast.Assert):
        return False
    known = _constants(test) if test is not None else {}
    return _always(check.test, known)


def _always(test: ast.expr, known: dict[str, ast.Constant]) -> bool:
    """Return whether an expression is true whatever the code does."""
    test = known.get(test.id, test) if isinstance(test, ast.Name) else test
    if isinstance(test, ast.Constant):
        return bool(test.value)
    if isinstance(test, ast.Tuple):
        return bool(test.elts)
    if isinstance(test, ast.BoolOp):
        some = any if isinstance(test.op, ast.Or) else all
        return some(_always(one, known) for one in test.values)
    return isinstance(test, ast.Compare) and len(test.ops) == 1 and _is_same(test)


def _is_same(test: ast.Compare) -> bool:
    """Return whether a comparison is of a thing with itself, or of a length with 0."""
    left, op, right = test.left, test.ops[0], test.comparators[0]
    if isinstance(op, (ast.Eq, ast.Is, ast.LtE, ast.GtE)) and ast.dump(left) == ast.dump(right):
        return True
    counted = isinstance(left, ast.Call) and _called(left) == "len"
    is_zero = isinstance(right, ast.Constant) and right.value == 0
    return counted and is_zero and isinstance(op, ast.GtE)


def _constants(test: Function) -> dict[str, ast.Constant]:
    """Return the names that a test sets once, to a constant."""
    nodes = [*ast.walk(test)]
    stored = [n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    found: dict[str, ast.Constant] = {}
    for node in nodes:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant):
            found |= dict.fromkeys(_defined(node), node.value)
    return {name: value for name, value in found.items() if stored.count(name) == 1}


def _swallows(guard: ast.Try) -> bool:
    """Return whether a failing assertion within a `try` is caught and forgotten."""
    for handler in guard.handlers:
        kind = handler.type
        names = [n.id for n in ast.walk(kind) if isinstance(n, ast.Name)] if kind else [*_WIDE]
        nodes = [n for statement in handler.body for n in ast.walk(statement)]
        fails = any(isinstance(n, (ast.Raise, ast.Assert)) for n in nodes)
        calls = any(isinstance(n, ast.Call) and _CHECKS.search(_called(n)) for n in nodes)
        if _WIDE & {*names} and not (fails or calls):
            return True
    return False


def _is_false(test: ast.expr, *, is_started: bool) -> bool:
    text = ast.unparse(test)
    is_main = "__name__" in text and not is_started
    return (isinstance(test, ast.Constant) and not test.value) or text == "TYPE_CHECKING" or is_main


def _mark(decorator: ast.expr) -> str:
    """Return by which mark a test is not run or may fail, or ''."""
    text = ast.unparse(decorator)
    found = re.search(r"\b(skip|xfail|expectedFailure)\b", text)
    if re.search(r"\bxfail\((?!reason|strict|raises|run|\))", text):
        return ""  # under a condition
    always = re.search(r"\bskipif\(True\b|\bskipIf\(True\b", text)
    return found[1] if found else "skip" if always else ""


def _is_collected_class(one: ast.ClassDef) -> bool:
    by_base = any(ast.unparse(base).endswith(("TestCase", "Test")) for base in one.bases)
    made = any(isinstance(f, _FUNCTIONS) and f.name == "__init__" for f in one.body)
    return by_base or (one.name.startswith("Test") and not made) or bool(one.bases and not made)


def _is_hook(function: Function) -> bool:
    """Return whether something else than a name in a test calls a function."""
    hooks = ("setup", "teardown", "setUp", "tearDown", "pytest_", "__", "asyncSetUp", "given")
    return bool(function.decorator_list) or function.name.startswith(hooks)


@lru_cache(maxsize=16)
def _used_by_tests(tree: ast.Module) -> frozenset[str]:
    """Return the names that tests use, also those that these use, and so on."""
    named = {f.name: f for f in tree.body if isinstance(f, (*_FUNCTIONS, ast.ClassDef))}
    roots = [n for n in tree.body if n not in named.values()
             or (isinstance(n, _FUNCTIONS) and (n.name.startswith("test") or _is_hook(n)))
             or (isinstance(n, ast.ClassDef) and _is_collected_class(n))]  # fmt: skip
    found: frozenset[str] = frozenset()
    while roots:
        names = {word for root in roots for word in _words(root)}
        roots = [named[name] for name in names - found if name in named]
        found |= names
    return found


def _reached(tree: ast.Module, test: Function) -> list[ast.stmt]:
    """Return a test with what stands on the top of its file that it names, and so on."""
    named = {name: node for node in tree.body for name in _defined(node)}
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and test in ast.walk(node):
            named |= {name: one for one in node.body for name in _defined(one) if one is not test}
    found: list[ast.stmt] = [test]
    for node in found:
        words = _words(node)
        found += [named[w] for w in sorted(words & named.keys()) if named[w] not in found]
    return found


def _defined(node: ast.stmt) -> list[str]:
    if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else []
    return [n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)]


def _is_apart(tree: ast.Module, test: Function, reached: Sequence[ast.stmt]) -> bool:
    """Return whether a test names nothing that its file imports from a project."""
    imports = [n for n in ast.walk(tree) if isinstance(n, (ast.Import, ast.ImportFrom))]
    own = {(a.asname or a.name).partition(".")[0] for n in imports for a in n.names
           if n not in ast.walk(test) and _is_of_project(n, a)}  # fmt: skip
    given = {a.arg for a in (*test.args.args, *test.args.kwonlyargs)} - _GIVEN
    words = {word for node in reached for word in _words(node)}
    is_local = any(isinstance(n, (ast.Import, ast.ImportFrom)) for n in ast.walk(test))
    is_method = any(a.arg == "self" for a in test.args.args)
    return bool(own) and not (given or is_local or is_method or own & words)


def _is_of_project(node: ast.Import | ast.ImportFrom, alias: ast.alias) -> bool:
    if isinstance(node, ast.ImportFrom) and node.level:
        return True
    module = node.module or "" if isinstance(node, ast.ImportFrom) else alias.name
    root = module.partition(".")[0]
    return root not in sys.stdlib_module_names and root not in _RUNNERS


def _names(function: Function, name: str) -> bool:
    body = "\n".join(map(ast.unparse, function.body))
    return len(re.findall(rf"\b{name}\b", body)) > 1


def _called(call: ast.Call) -> str:
    function = call.func
    return function.attr if isinstance(function, ast.Attribute) else ast.unparse(function)
