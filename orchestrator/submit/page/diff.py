"""Show a patch as an HTML table: line numbers, signs, and what differs within a line."""

from __future__ import annotations

import re
from itertools import groupby, zip_longest
from typing import TYPE_CHECKING

from orchestrator.submit.page.html import Element, Row, Unclosed

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from orchestrator.submit.page.html import Node
    from shared.patch import Line

_WORDS = re.compile(r"\w+|\s+|[^\w\s]")
_LONGEST_COMPARED = 2_000  # characters; finding words in a minified line is of no use
_TAIL = re.compile(r"[ \t]+$")
_COLUMNS = ("n", "n", "s", None)
_TITLES = ("old line", "new line", "sign", "text")
_CLASS = {"+": "a", "-": "d", " ": "c"}


def anchor_of(line: Line, name: str) -> str:
    """Return the anchor of a row in the diff of the file `name`: `f3-L20`, of an old line `f3-O20`.

    It is '' for what is no line of a file.
    """
    number = f"O{line.old}" if line.new is None else f"L{line.new}"
    return f"{name}-{number}" if line.kind in " +-" else ""


def diff_table(lines: Sequence[Line], label: str, name: str) -> Node:
    """Return the lines of a patch as a table; `label` names the table for screen readers.

    Its rows are anchors that begin with `name`.
    """
    columns = [Unclosed("col", None, {"class": c} if c else {}) for c in _COLUMNS]
    titles = [Unclosed("th", title, {"scope": "col"}) for title in _TITLES]
    head = [Element("colgroup", columns), Element("thead", Unclosed("tr", titles))]
    body = [Element("tbody", rows) for rows in _hunks(lines, name)]
    return Element("table", [head, body], {"class": "diff", "aria-label": label})


def _hunks(lines: Iterable[Line], name: str) -> list[list[Node]]:
    """Return the table rows of each hunk of a patch, after the rows before the first hunk."""
    hunks: list[list[Node]] = [[]]
    for is_changed, group in groupby(lines, key=lambda line: line.kind in "+-"):
        if is_changed:
            hunks[-1] += _changed(list(group), name)
            continue
        for line in group:
            if line.kind == " ":
                hunks[-1].append(_row(line, line.text, name))
            elif line.kind == "@":
                place = f"from line {line.new or line.old}" + (
                    f" · {line.text}" if line.text else ""
                )
                heading = Unclosed("th", place, {"colspan": "4", "scope": "rowgroup"})
                hunks.append([Unclosed("tr", heading, {"class": "h"})])
            else:
                said = Unclosed("td", line.text, {"colspan": "4"})
                hunks[-1].append(Unclosed("tr", said, {"class": "m"}))
    return hunks


def _changed(lines: list[Line], name: str) -> list[Node]:
    """Return a hunk's lines as rows; equally many removed and added ones are compared in pairs."""
    removed = [line for line in lines if line.kind == "-"]
    added = [line for line in lines if line.kind == "+"]
    if len(removed) != len(added):
        return [_row(line, _text(line.text), name) for line in lines]
    pairs = [compare(old.text, new.text) for old, new in zip(removed, added, strict=True)]
    return [
        *(_row(line, old, name) for line, (old, _) in zip(removed, pairs, strict=True)),
        *(_row(line, new, name) for line, (_, new) in zip(added, pairs, strict=True)),
    ]


def _row(line: Line, shown: Node, name: str) -> Node:
    cells = (str(line.old or ""), str(line.new or ""), line.kind.strip(), shown)
    return Row(_CLASS[line.kind], cells, anchor_of(line, name))


def _text(value: str) -> Node:
    """Return a line's text with trailing blanks marked, as a change of blanks is invisible."""
    found = _TAIL.search(value)
    if found is None:
        return value
    return [value[: found.start()], Element("mark", found[0])]


def compare(old: str, new: str) -> tuple[Node, Node]:
    """Return two texts with the words marked that differ between their common start and end.

    If they have less than half in common, nothing is marked: all of it is new.
    """
    if max(len(old), len(new)) > _LONGEST_COMPARED:
        return old, new
    before, after = _WORDS.findall(old), _WORDS.findall(new)
    head = _common(before, after)
    tail = _common(before[head:][::-1], after[head:][::-1])
    shared = len("".join((*before[:head], *before[len(before) - tail :])).strip())
    if 2 * shared < min(len(old.strip()), len(new.strip())):
        return _text(old), _text(new)
    return _marked(before, head, tail), _marked(after, head, tail)


def _common(one: list[str], other: list[str]) -> int:
    """Return how many leading words two lists of words have in common."""
    pairs = enumerate(zip_longest(one, other))
    return next((n for n, (a, b) in pairs if a != b), len(one))


def _marked(words: list[str], head: int, tail: int) -> Node:
    end = len(words) - tail
    middle = "".join(words[head:end])
    marked = Element("mark", middle) if middle else None
    return ["".join(words[:head]), marked, "".join(words[end:])]
