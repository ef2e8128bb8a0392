"""Checks of the lines that a plan adds: secrets, merge conflict markers, debugging leftovers.

A line counts as added if the base holds it less often, so a moved line does not count. The
contents are compared, not the patch, because attributes can make git hide lines of a text.
"""

from __future__ import annotations

import ast
import os
import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from quality_reviewer.checks.subject import Finding
from quality_reviewer.checks.syntax import Doubt, read_python
from shared.builders import first_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from quality_reviewer.checks.subject import Subject

SHOWN_MAX = 10
SHOWN_CHARS = 8
LEAST_DISTINCT = 8
PRIVATE_KEY = "private key"

# Only forms that their issuer made recognisable; a password has no form to search for.
_SECRETS: tuple[tuple[str, re.Pattern[bytes]], ...] = (
    # The line alone may be code that reads keys; a block has its first data or header right after.
    (
        PRIVATE_KEY,
        re.compile(
            rb"-----BEGIN (?:[A-Z]{2,9} )?PRIVATE KEY(?: BLOCK)?-----"
            rb"(?:[\s\"'+,]|\\[nr]){0,200}(?:[A-Za-z0-9+/]{32}|Proc-Type:|Version:|Comment:)"
        ),
    ),
    ("AWS access key", re.compile(rb"\b(?:AKIA|ASIA)[A-Z2-7]{16}\b")),
    ("GitHub token", re.compile(rb"\bgh[pousr]_[A-Za-z0-9]{36,255}\b")),
    ("GitHub token", re.compile(rb"\bgithub_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}\b")),
    ("GitLab token", re.compile(rb"\bglpat-[A-Za-z0-9_-]{20}\b")),
    ("Slack token", re.compile(rb"\bxox[abeprs]-[0-9]{8,14}-[0-9A-Za-z-]{16,200}\b")),
    (
        "Slack webhook",
        re.compile(rb"\bhooks\.slack\.com/services/T\w{8,12}/B\w{8,12}/[A-Za-z0-9]{24}\b"),
    ),
    ("Google API key", re.compile(rb"\bAIza[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])")),
    ("Google client secret", re.compile(rb"\bGOCSPX-[A-Za-z0-9_-]{28}(?![A-Za-z0-9_-])")),
    ("Stripe live key", re.compile(rb"\b[sr]k_live_[A-Za-z0-9]{24,128}\b")),
    ("npm token", re.compile(rb"\bnpm_[A-Za-z0-9]{36}\b")),
    ("PyPI token", re.compile(rb"\bpypi-AgEIcHlwaS5vcmc[A-Za-z0-9_-]{50,}")),
    ("Anthropic key", re.compile(rb"\bsk-ant-[a-z]{3,6}[0-9]{2}-[A-Za-z0-9_-]{80,}")),
)
_MARKERS = tuple(re.compile(p) for p in (rb"<{7}(?: |$)", rb"={7}$", rb">{7}(?: |$)"))
_JAVASCRIPT = (".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts", ".vue", ".svelte")
# What only who debugs prints; a program may well say that its debug mode is on.
_MARKED = re.compile(r"\W*(?:(?i:debug(?:ging)?|got here|here|xxx+)\W*$|(?:DEBUG|XXX)\s*[:=>-])")
_PRINTED = re.compile(
    rb"^\s*(?:console\.\w+|fmt\.Print(?:ln|f)?|e?println!|System\.(?:out|err)\.print(?:ln|f)?|puts)"
    rb"[\s(]\s*(?P<quote>['\"`])(?P<words>(?:(?!(?P=quote)).)*)"
)
_PRINTING = (*_JAVASCRIPT, ".go", ".rs", ".java", ".kt", ".scala", ".rb")
_DEBUG: tuple[tuple[tuple[str, ...], re.Pattern[bytes]], ...] = (
    (_JAVASCRIPT, re.compile(rb"^\s*debugger;\s*(?://.*)?$")),
    ((".rb", ".rake"), re.compile(rb"^\s*(?:require ['\"]pry['\"];\s*)?binding\.pry\s*(?:#.*)?$")),
    ((".rs",), re.compile(rb"^(?:(?!//|\").)*\bdbg!\(")),
)
_PYTHON = (".py", ".pyi")
_DEBUGGERS = frozenset(("breakpoint", "pdb.set_trace", "ipdb.set_trace", "pudb.set_trace"))


class Line(NamedTuple):
    """A line of a file with its number, counted from 1."""

    number: int
    text: bytes


def added_lines(before: bytes, after: bytes) -> list[Line]:
    """Return the lines that occur more often in `after` than in `before`, in file order."""
    old = Counter(before.splitlines())
    added = []
    for number, text in enumerate(after.splitlines(), start=1):
        if old[text] > 0:
            old[text] -= 1
        else:
            added.append(Line(number, text))
    return added


def check_secrets(subject: Subject) -> Iterator[Finding]:
    """No added line holds a private key or an access token of a known form."""
    what = "remove the secret, read it from the environment, and replace it if it is real"
    yield from _scan(subject, find_secrets, what)


def check_merge_markers(subject: Subject) -> Iterator[Finding]:
    """No added lines hold the three markers of an unfinished merge."""
    yield from _scan(subject, find_markers, "finish the merge of these lines")


def check_leftovers(subject: Subject) -> Iterator[Finding]:
    """No added line starts a debugger or prints for debugging."""
    yield from _scan(subject, find_leftovers, "remove it")


def _scan(
    subject: Subject,
    find: Callable[[str, bytes, list[Line]], Iterable[tuple[int, str]]],
    what_to_do: str,
) -> Iterator[Finding]:
    for change in subject.files:
        content = subject.after(change)
        lines = added_lines(subject.before(change), content)
        places = [f"line {n}: {what}" for n, what in find(change.file, content, lines)]
        if places:
            text = "; ".join(first_of(places, SHOWN_MAX))
            yield Finding(change.file, f"{change.file}, {text}; {what_to_do}, then capture again")
    for change in subject.large:
        yield Finding(change.file, f"{change.file} is too large to be searched", "NOT_CHECKED")


def find_secrets(_path: str, content: bytes, added: Iterable[Line]) -> list[tuple[int, str]]:
    """Return the line number, kind and first characters of each secret found in lines of text."""
    numbers = {line.number for line in added}
    text = b"\n".join(content.splitlines())
    found = set()
    for kind, pattern in _SECRETS:
        at, number = 0, 1
        for match in pattern.finditer(text):
            number += text.count(b"\n", at, match.start())
            at = match.start()
            if number in numbers and (kind == PRIVATE_KEY or _is_real(match[0])):
                shown = "" if kind == PRIVATE_KEY else f" {match[0][:SHOWN_CHARS].decode('ascii')}…"
                found.add((number, f"{kind}{shown}"))
    return sorted(found)


def _is_real(token: bytes) -> bool:
    """Return whether a token looks real, unlike a placeholder such as `AKIAXXXXXXXXXXXXXXXX`."""
    return b"EXAMPLE" not in token.upper() and len(set(token[4:])) >= LEAST_DISTINCT


def find_markers(_path: str, _content: bytes, added: Iterable[Line]) -> Iterator[tuple[int, str]]:
    """Yield each place where lines hold all three markers of a merge conflict, in order."""
    first, seen = 0, 0
    for line in added:
        if _MARKERS[0].match(line.text):
            first, seen = line.number, 1
        elif seen and _MARKERS[seen].match(line.text):
            seen += 1
            if seen == len(_MARKERS):
                yield first, f"conflict markers, up to line {line.number}"
                seen = 0


def find_leftovers(path: str, content: bytes, added: Iterable[Line]) -> Iterator[tuple[int, str]]:
    """Yield debugging statements, such as breakpoints and debug prints, among added lines."""
    ending = os.path.splitext(path)[1].lower()
    if ending in _PYTHON:
        numbers = {line.number for line in added}
        yield from (place for place in _python_leftovers(content) if place[0] in numbers)
    patterns = [pattern for endings, pattern in _DEBUG if ending in endings]
    for line in added:
        if any(p.search(line.text) for p in patterns) or _prints_mark(ending, line.text):
            yield line.number, line.text.strip()[:60].decode("utf-8", "replace")


def _prints_mark(ending: str, text: bytes) -> bool:
    """Return whether a line that nothing here parses prints what only helps debugging."""
    found = _PRINTED.match(text) if ending in _PRINTING else None
    return bool(found and _MARKED.match(found["words"].decode("utf-8", "replace")))


def _python_leftovers(content: bytes) -> Iterator[tuple[int, str]]:
    tree = read_python(content)
    if isinstance(tree, Doubt):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            called = _dotted(node.value.func)
            is_leftover = called in _DEBUGGERS or (called == "print" and _says_mark(node.value))
            if is_leftover and called not in _own_names(tree):
                yield node.lineno, f"{called}()"


def _says_mark(call: ast.Call) -> bool:
    """Return whether the first thing that a call is given is a text such as "debug"."""
    first = call.args[0] if call.args else None
    part = first.values[0] if isinstance(first, ast.JoinedStr) and first.values else first
    if not (isinstance(part, ast.Constant) and isinstance(part.value, str)):
        return False
    goes_on = part is not first and "here" in part.value.lower()  # f"here {path}" names a place
    return _MARKED.match(part.value) is not None and not goes_on


def _dotted(node: ast.expr) -> str:
    """Return the text of a Python name or `name.attribute` node; empty for other expressions."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return f"{node.value.id}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def _own_names(tree: ast.Module) -> set[str]:
    """Return the names that a module imports or defines, which hide Python's builtins."""
    imported = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for alias in node.names
    }
    defined = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return imported | {node.name for node in ast.walk(tree) if isinstance(node, defined)}
