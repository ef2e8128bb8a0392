"""Read the part of a file that documents a name: docstring, section, or comments beside it (RV-6).

Python is read by its syntax tree, prose by its headings, other languages by their comments: those
directly above a line with the name, in it, and in the lines below that are indented deeper.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, NamedTuple

from quality_reviewer.checks.comments import Comment, find_comments
from quality_reviewer.checks.links import find_prose
from quality_reviewer.checks.meaning import is_prose
from quality_reviewer.checks.syntax import Doubt, find_parser, parse_python, read_python

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_Documented = ast.Module | _Definition

_NAME = re.compile(r"[^\W\d]\w*")
# Decorators and attributes stand between a comment and what it is about.
_DECORATION = re.compile(rb"\s*(?:@|#\[|\[)")
_HEADING = re.compile(r" {0,3}(#{1,6})\s+(.*?)\s*#*\s*$|(=+)\s+(.*?)\s*$")
_UNDERLINE = re.compile(r"([=\-~^\"'`*+#])\1{2,}\s*$")
_MARKUP = re.compile(r"[`*_]|\[|\]\([^)]*\)|\]|:\w+:")


class Part(NamedTuple):
    """The documentation of a name."""

    # Empty if there is none; None if the name is not there.
    text: str | None
    # Those that are there.
    names: tuple[str, ...] = ()
    # False if the program cannot read such a file.
    is_known: bool = True


def find_part(path: str, content: bytes, kind: str, name: str) -> Part:
    """Return the documentation of a kind (`docstring` …) that a file has for a name.

    A name is that of a definition, in prose that of a heading. Without one the whole file counts,
    for a `module-comment` its head.
    """
    if is_prose(path):
        return _section(content.decode("utf-8", "replace"), name)
    if find_parser(path, content) is parse_python:
        tree = read_python(content)
        return (
            Part(None, is_known=False)
            if isinstance(tree, Doubt)
            else _in_python(path, content, tree, kind, name)
        )
    comments = find_comments(path, content)
    if comments is None:
        return Part(None, is_known=False)
    return _beside(content, {c.number: c for c in comments}, kind, name)


# prose


def _section(text: str, name: str) -> Part:
    """Return the lines below the heading that a name is; all of the text without a name."""
    if not name:
        return Part(text)
    lines = text.split("\n")
    headings = list(_headings(text))
    for n, (at, level, title) in enumerate(headings):
        if _plain(title) == _plain(name):
            ends = (start for start, depth, _ in headings[n + 1 :] if depth <= level)
            below = lines[at : next(ends, len(lines) + 1) - 1]
            return Part("\n".join(below[1:] if below[:1] and _UNDERLINE.match(below[0]) else below))
    return Part(None, tuple(title for _, _, title in headings))


def _headings(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield line number, level and title of each heading, marked or underlined."""
    before, marks = "", "=-"
    for number, line in find_prose(text):
        marked, under = _HEADING.match(line), _UNDERLINE.match(line)
        if marked:
            yield number, len(marked[1] or marked[3]), marked[2] or marked[4]
        elif under and before.strip() and not before.lstrip().startswith(("|", "-", ">")):
            marks += "" if under[1] in marks else under[1]
            yield number - 1, marks.index(under[1]) + 1, before.strip()
        before = "" if marked or under else line


def _plain(title: str) -> str:
    return " ".join(_MARKUP.sub("", title.strip().lstrip("#")).casefold().split())


# Python


def _in_python(path: str, content: bytes, tree: ast.Module, kind: str, name: str) -> Part:
    comments = {c.number: c for c in find_comments(path, content) or ()}
    if kind == "inline-comment":
        for node in ast.walk(tree):
            for number in _docstring_lines(node):
                comments.pop(number, None)
    if not name:
        return _of_module(content, tree, kind, comments)
    definitions = dict(_definitions(tree))
    found = [node for node, own in definitions.items() if _is_meant(own, name)]
    if not found:
        beside = _beside(content, comments, kind, name)
        return beside if beside.text is not None else Part(None, tuple(definitions.values()))
    if kind in ("docstring", "module-comment"):
        return Part("\n".join(ast.get_docstring(node) or "" for node in found))
    return Part(_text(comments, (n for node in found for n in _lines_of(content, comments, node))))


def _of_module(content: bytes, tree: ast.Module, kind: str, comments: dict[int, Comment]) -> Part:
    if kind == "module-comment":
        return Part(ast.get_docstring(tree) or _head(content, comments))
    if kind == "docstring":
        documented = [node for node in ast.walk(tree) if isinstance(node, _Documented)]
        return Part("\n".join(filter(None, map(ast.get_docstring, documented))))
    return Part(_text(comments, comments))


def _definitions(tree: ast.AST, prefix: str = "") -> Iterator[tuple[_Definition, str]]:
    """Yield each function and class of Python code with its qualified name."""
    for node in ast.iter_child_nodes(tree):
        own = f"{prefix}{node.name}" if isinstance(node, _Definition) else ""
        if isinstance(node, _Definition):
            yield node, own
        yield from _definitions(node, f"{own}." if own else prefix)


def _is_meant(own: str, name: str) -> bool:
    """Return whether `f`, `C.f` or `package.module.C.f` means a definition."""
    return own == name or own.endswith(f".{name}") or name.endswith(f".{own}")


def _docstring_lines(node: ast.AST) -> range:
    if not isinstance(node, _Documented) or ast.get_docstring(node) is None:
        return range(0)
    return range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1)


def _lines_of(content: bytes, comments: dict[int, Comment], node: _Definition) -> Iterator[int]:
    """Yield the numbers of a definition's lines, and of the comment lines directly above it."""
    first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
    yield from _above(content.splitlines(), comments, first)
    yield from range(first, (node.end_lineno or first) + 1)


# other languages


def _beside(content: bytes, comments: dict[int, Comment], kind: str, name: str) -> Part:
    """Return the comments beside the lines that have a name; the file's without a name."""
    lines = content.splitlines()
    if not name:
        head = kind == "module-comment"
        return Part(_head(content, comments) if head else _text(comments, comments))
    word = re.compile(rb"\b%s\b" % re.escape(_NAME.findall(name)[-1].encode()))
    there = [
        number
        for number, line in enumerate(lines, 1)
        if word.search(line) and not (number in comments and comments[number].goes_on)
    ]
    numbers = {
        number
        for n in there
        for number in (*_above(lines, comments, n), n, *_below(lines, comments, n, kind))
    }
    return Part(_text(comments, sorted(numbers)) if there else None)


def _text(comments: dict[int, Comment], numbers: Iterable[int]) -> str:
    return "\n".join(comments[n].text for n in numbers if n in comments)


def _above(lines: Sequence[bytes], comments: dict[int, Comment], number: int) -> list[int]:
    """Return the numbers of the comment lines directly above a line and its decorators."""
    found: list[int] = []
    at = number - 1
    while at > 0 and (at in comments or _DECORATION.match(lines[at - 1])):
        found += [at] if at in comments else []
        at -= 1
    return found[::-1]


def _below(
    lines: Sequence[bytes], comments: dict[int, Comment], number: int, kind: str
) -> Iterator[int]:
    """Yield the numbers of the lines in what a line begins; for a docstring only its first."""
    depth = _indent(lines[number - 1])
    for at in range(number + 1, len(lines) + 1):
        line = lines[at - 1]
        if line.strip() and _indent(line) <= depth and line.strip() not in (b"{", b"("):
            return
        if kind == "docstring" and line.strip() not in (b"", b"{") and at not in comments:
            return
        yield at


def _indent(line: bytes) -> int:
    return len(line) - len(line.lstrip())


def _head(content: bytes, comments: dict[int, Comment]) -> str:
    """Return the comments above the first line of code."""
    found = []
    for number, line in enumerate(content.splitlines(), 1):
        if line.strip() and number not in comments and not line.startswith((b"#!", b"<?")):
            break
        found.append(number)
    return _text(comments, found)
