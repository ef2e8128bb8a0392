"""Finds what a line of a file stands in: its function or test, with all that this one reaches."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

_HEAD = re.compile(
    r"\s*(?:export\s+)?(?:pub(?:\([^)]*\))?\s+)?(?:async\s+)?(?:def|function|func|fn)\s+"
    r"(?:\([^)]*\)\s*)?(\w+)"
)
# What JavaScript calls a test is a call with its name as a text.
_CASE = re.compile(r"\s*x?(?:it|test|describe)\b[.\w]*\(\s*[\"'`](.*?)[\"'`]")
_ABOVE = re.compile(r"\s*(?:@|#\[)")
_IMPORT = re.compile(r"\s*(?:import|from|use|#include|const .*\brequire\(|package)\b")
_COMMENT = re.compile(r"\s*(?:#(?!\[)|//|/\*|\*|--)")
_SKIPPED = re.compile(
    r"\s*(?:@(?:pytest\.mark\.|unittest\.)?skip\b(?!if)|@pytest\.mark\.skipif\(True\b|"
    r"@(?:Disabled|Ignore)\b|#\[ignore|x(?:it|test|describe)\(|"
    r"(?:it|test|describe)\.(?:skip|todo)\(|pytestmark\s*=\s*pytest\.mark\.skip\b(?!if))"
)
# As the first thing that a test does.
_SKIPS = re.compile(r"\s*(?:pytest\.skip|self\.skipTest|t\.Skip(?:Now|f)?|this\.skip)\(")


class Around(NamedTuple):
    """What a line stands in."""

    # Of the innermost function or test; '' on the top of a file.
    name: str
    # The lines of that function, with what is written above its head.
    lines: list[str]
    # The same with the functions of the file that it calls and what stands on the file's top; of a
    # line on the top the whole file.
    reached: list[str]
    is_skipped: bool
    is_comment: bool


def around(lines: Sequence[str], number: int) -> Around:
    """Return what line `number` of a file, from 1, stands in."""
    at = number - 1
    heads = _heads_above(lines, at)
    inner = next((n for n in heads if _name_of(lines[n])), None)
    blocks = {n: _block(lines, n) for n in range(len(lines)) if _HEAD.match(lines[n])}
    own = [lines[at]] if inner is None else _block(lines, inner)
    called = {word for line in own for word in re.findall(r"\w+", line)}
    within = {
        n + k for n, block in blocks.items() for k in range(len(block) - _decorated(lines, n))
    }
    top = [t for n, t in enumerate(lines) if n not in within and not _IMPORT.match(t)]
    more = [t for n, block in blocks.items() if n != inner and _name_of(lines[n]) in called
            for t in block]  # fmt: skip
    marks = [t for n in heads for t in (*_above(lines, n), lines[n])]
    marks += [t for t in top if t.startswith("pytestmark")]
    body = [] if inner is None else _first_of_body(lines, inner)
    return Around(
        "" if inner is None else _name_of(lines[inner]), own,
        [*lines] if inner is None else [*own, *more, *top],
        is_skipped=any(map(_SKIPPED.match, marks)) or any(map(_SKIPS.match, body)),
        is_comment=is_comment(lines[at]),
    )  # fmt: skip


def names_by_line(lines: Sequence[str]) -> list[str]:
    """Return for each line of a file the function or test that it stands in, '' on its top.

    In one pass: `around` reads the whole file for one line.
    """
    found: list[str] = []
    open_now: list[tuple[int, str]] = []  # functions around the present line, by their depth
    above = 0  # lines directly above that belong to the head below them
    for line in lines:
        if line.strip():
            while open_now and open_now[-1][0] >= _depth(line):
                open_now.pop()
            if name := _name_of(line):
                open_now.append((_depth(line), name))
        now = open_now[-1][1] if open_now else ""
        found[len(found) - above :] = [now] * (above + 1)
        above = above + 1 if _ABOVE.match(line) else 0
    return found


def is_comment(line: str) -> bool:
    """Return whether a line of code is a comment as a whole."""
    return _COMMENT.match(line) is not None


def _name_of(line: str) -> str:
    found = _HEAD.match(line) or _CASE.match(line)
    return found[1] if found else ""


def _heads_above(lines: Sequence[str], at: int) -> list[int]:
    """Return the numbers of the lines that line `at` belongs to, itself first, then outwards."""
    found, depth = [at], _depth(lines[at])
    while at + 1 < len(lines) and _ABOVE.match(lines[at]):
        at += 1  # a decorator belongs to the head below it
        found.append(at)
    for n in range(at - 1, -1, -1):
        if lines[n].strip() and _depth(lines[n]) < depth:
            found.append(n)
            depth = _depth(lines[n])
    return found


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())


def _decorated(lines: Sequence[str], head: int) -> int:
    return len(_above(lines, head))


def _above(lines: Sequence[str], head: int) -> list[str]:
    """Return the lines directly above a head that belong to it: decorators over several lines."""
    first, depth = head, _depth(lines[head])
    for n in range(head - 1, -1, -1):
        line = lines[n]
        if not line.strip() or (_depth(line) == depth and not re.match(r"\s*[@#)\]}]", line)):
            break
        if _depth(line) < depth:
            break
        if _ABOVE.match(line):
            first = n
    return [*lines[first:head]]


def _block(lines: Sequence[str], head: int) -> list[str]:
    """Return a function: what stands above its head, the head, and all that is indented more."""
    depth, end = _depth(lines[head]), head + 1
    while end < len(lines) and (not lines[end].strip() or _depth(lines[end]) > depth):
        end += 1
    return [*_above(lines, head), *lines[head:end]]


def _first_of_body(lines: Sequence[str], head: int) -> list[str]:
    """Return the first statement of a function, past a docstring of one line."""
    body = [t for t in _block(lines, head)[_decorated(lines, head) + 1 :] if t.strip()]
    docless = body[1:] if body and body[0].strip().startswith(('"', "'")) else body
    return docless[:1]
