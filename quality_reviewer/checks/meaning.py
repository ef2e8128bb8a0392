"""Compare two versions of a file while ignoring comments and docstrings."""

from __future__ import annotations

import ast
import json
import os
import tomllib
from typing import TYPE_CHECKING, Literal

from quality_reviewer.checks.syntax import (
    TOO_DEEP,
    Doubt,
    parse_json,
    parse_toml,
    read_python,
    read_yaml,
)

if TYPE_CHECKING:
    from collections.abc import Callable

Answer = Literal["same", "other", "unknown"]

PROSE = (".md", ".markdown", ".rst", ".adoc")
PROSE_NAMES = ("readme", "changelog", "changes", "news", "license", "authors", "contributing")
LINE_COMMENTS = {
    b"#": (".sh", ".bash", ".rb", ".pl", ".r", ".jl", ".tcl", ".cmake", ".mk", ".cfg"),
    b"//": (
        ".js", ".mjs", ".cjs", ".ts", ".jsx", ".tsx", ".go", ".rs", ".java", ".kt", ".c", ".h",
        ".cc", ".cpp", ".hpp", ".cs", ".swift", ".scala", ".dart", ".php",
    ),
    b"--": (".sql", ".lua", ".hs", ".elm"),
}  # fmt: skip


def compare_meaning(path: str, before: bytes, after: bytes) -> Answer:
    """Return `same`, `other` or `unknown`: whether versions of a file differ only in documentation.

    Content that parsed before and no longer parses is `other`.
    """
    if is_prose(path):
        return "same"
    ending = os.path.splitext(path.lower())[1]
    reader = _READERS.get(ending)
    if reader is None:
        prefix = next((p for p, endings in LINE_COMMENTS.items() if ending in endings), None)
        bare = prefix is not None and all(_only_comments(c, prefix) for c in (before, after))
        return "same" if bare else "unknown"
    try:
        old, new = (reader(content) if content.strip() else "" for content in (before, after))
    except TOO_DEEP:
        return "unknown"
    if old is None:
        return "unknown"
    return "same" if old == new else "other"


def is_prose(path: str) -> bool:
    """Return whether a file is documentation as a whole, by its name."""
    name, ending = os.path.splitext(os.path.basename(path).lower())
    return ending in PROSE or (ending in ("", ".txt") and name in PROSE_NAMES)


def tells_comments(path: str) -> bool:
    """Return whether a change of a file's comments can be told from one of its code, by its name.

    Prose, which is documentation as a whole, has no code.
    """
    return not is_prose(path) and os.path.splitext(path.lower())[1] in _READERS


def _only_comments(content: bytes, prefix: bytes) -> bool:
    lines = (line.strip() for line in content.splitlines())
    return all(line.startswith(prefix) and not line.startswith(b"#!") for line in lines if line)


def _read_python(content: bytes) -> str | None:
    tree = read_python(content)
    if isinstance(tree, Doubt):
        return None
    for node in ast.walk(tree):
        for field in ("body", "orelse", "finalbody"):
            block = getattr(node, field, None)
            if isinstance(block, list):
                block[:] = [statement for statement in block if not _does_nothing(statement)]
    said = ast.dump(tree) if tree.body else ""
    # The first line names the interpreter, comment or not.
    shebang = content.splitlines()[0] if content.startswith(b"#!") else b""
    return f"{shebang!r} {said}" if shebang else said


def _does_nothing(statement: ast.AST) -> bool:
    """Return whether a Python statement has no effect: `pass`, `...`, docstring, bare string."""
    if isinstance(statement, ast.Pass):
        return True
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and (statement.value.value is Ellipsis or isinstance(statement.value.value, str))
    )


def _read_json(content: bytes) -> str | None:
    if parse_json(content):
        return None
    return repr(json.loads(content, parse_int=str, parse_float=str, object_pairs_hook=tuple))


def _read_toml(content: bytes) -> str | None:
    if parse_toml(content):
        return None
    return repr(tomllib.loads(content.decode("utf-8-sig"))).removeprefix("{}")


def _read_yaml(content: bytes) -> str | None:
    events = read_yaml(content)
    if isinstance(events, Doubt):
        return None
    said = [event for event in events if not str(event[0]).startswith("Stream")]
    return repr(said) if said else ""


_READERS: dict[str, Callable[[bytes], str | None]] = {
    ".py": _read_python,
    ".pyi": _read_python,
    ".json": _read_json,
    ".toml": _read_toml,
    ".yaml": _read_yaml,
    ".yml": _read_yaml,
}
