"""Insert a value into a list or object of a text in the style around it, or cut one out.

The places come from `cli/setup/spans.py`.
"""

from __future__ import annotations

import json
import re
from typing import Any

from cli.setup.spans import JSON_BLANK, Node

# A piece of text and the place where it was inserted.
Inserted = tuple[int, str]


def newline(text: str) -> str:
    """Return how lines end in the text."""
    return "\r\n" if "\r\n" in text else "\n"


def gap(text: str) -> str:
    """Return what sets a new table off from the text before it."""
    if not text:
        return ""
    return newline(text) * (1 if text.endswith("\n") else 2)


def insert(
    text: str, node: Node, value: Any, key: str = "", blank: re.Pattern[str] = JSON_BLANK,  # noqa: ANN401
) -> list[Inserted]:  # fmt: skip
    """Return what to insert so that a list or object ends with `value`, in the style around it."""
    unit = _unit(text)
    lines = "\n" in text if not node.items else "\n" in text[node.start : node.starts[0]]
    outer = _indent(text, node.start)
    indent = _indent(text, node.starts[-1]) if node.items and lines else outer + unit
    made = json.dumps(value, indent=unit if lines else None, ensure_ascii=False)
    made = made.replace("\n", newline(text) + indent)
    made = f"{json.dumps(key)}: {made}" if key else made
    lead = newline(text) + indent if lines else " " if node.items else ""
    if not node.items:
        closes = "\n" in text[node.start : node.end] or not lines
        return [(node.start + 1, lead + made + ("" if closes else newline(text) + outer))]
    if node.comma:
        return [(_after_comment(text, node.comma, blank), f"{lead}{made},")]
    last = node.items[-1].end
    at = _after_comment(text, last, blank)
    return [(last, f",{lead}{made}")] if at == last else [(last, ","), (at, lead + made)]


def _after_comment(text: str, at: int, blank: re.Pattern[str]) -> int:
    """Return the place after a comment that stands in the same line, else `at`."""
    found = blank.match(text, at)
    same = text[at : found.end()].partition("\n")[0].rstrip() if found else ""
    return at + len(same)


def cut(text: str, node: Node, at: int, blank: re.Pattern[str] = JSON_BLANK) -> str:
    """Return the text without one item of a list or object, with its line and its comma."""
    start, end = node.starts[at], node.items[at].end
    after = _skip(text, end, blank)
    if text[after : after + 1] == ",":
        end = after + 1
    start = len(text[:start].rstrip(" \t"))
    start = len(text[:start].removesuffix("\n").removesuffix("\r"))
    text = text[:start] + text[end:]
    if at and at == len(node.items) - 1 and not node.comma:
        comma = _skip(text, node.items[at - 1].end, blank)
        text = text[:comma] + text[comma + 1 :]
    return text


def _skip(text: str, at: int, blank: re.Pattern[str]) -> int:
    found = blank.match(text, at)
    return found.end() if found else at


def _indent(text: str, at: int) -> str:
    """Return the blanks at the beginning of the line that holds a place of the text."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _unit(text: str) -> str:
    """Return the blanks by which the text indents its first inner line."""
    found = re.search(r"\n([ \t]+)\S", text)
    return found[1] if found else "  "
