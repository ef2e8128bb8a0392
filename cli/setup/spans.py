"""Read JSON with comments, or an array of TOML, keeping where each value stands in the text.

Clients accept comments and commas after the last entry in their JSON; so is it read here.
"""

from __future__ import annotations

import json
import re
import tomllib
from typing import Any, NamedTuple

JSON_BLANK = re.compile(r"(?:\s|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
TOML_BLANK = re.compile(r"(?:\s|#[^\n]*)*")
_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_LITERAL = re.compile(r"'[^'\n]*'")
_WORD = re.compile(r"[^\s,:\[\]{}\"'#/]+")
_MOST_DEPTH = 100


class Node(NamedTuple):
    """A value with its place in the text: from `start` up to `end`.

    `items` are what an array or object holds, in order; `keys` the names of an object's. `comma`
    is the place after a comma behind the last of them, 0 without one.
    """

    value: Any
    start: int
    end: int
    items: tuple[Node, ...] = ()
    keys: tuple[str, ...] = ()
    starts: tuple[int, ...] = ()  # where each entry of an object begins, at its key
    comma: int = 0


class Spans:
    """A reader of one text; `blank` is what may stand between values."""

    def __init__(self, text: str, blank: re.Pattern[str] = JSON_BLANK) -> None:
        self.text = text
        self.blank = blank

    def read(self) -> Node:
        """Return the only value in the text; raise ValueError if there is anything else."""
        node = self.value(self.skip(0))
        if (end := self.skip(node.end)) != len(self.text):
            raise ValueError(f"something follows the value, in line {self._line(end)}")
        return node

    def skip(self, at: int) -> int:
        """Return the place of the next value or sign, after blanks and comments."""
        found = self.blank.match(self.text, at)
        return found.end() if found else at

    def value(self, at: int, depth: int = 0) -> Node:
        """Return the value that begins at a place of the text."""
        sign = self.text[at : at + 1]
        if sign in ("{", "[") and depth < _MOST_DEPTH:
            return self._collection(at, sign, depth)
        if sign == '"':
            return self._scalar(_STRING, at, json.loads)
        if sign == "'" and self.blank is TOML_BLANK:
            return self._scalar(_LITERAL, at, lambda text: text[1:-1])
        return self._scalar(_WORD, at, json.loads if self.blank is JSON_BLANK else _toml_word)

    def _scalar(self, pattern: re.Pattern[str], at: int, parse: Any) -> Node:  # noqa: ANN401
        found = pattern.match(self.text, at)
        if not found:
            raise ValueError(f"a value is missing or not complete in line {self._line(at)}")
        try:
            return Node(parse(found[0]), at, found.end())
        except ValueError:
            raise ValueError(
                f"{found[0][:40]!r} is not a value, in line {self._line(at)}"
            ) from None

    def _collection(self, start: int, sign: str, depth: int) -> Node:
        close = "}" if sign == "{" else "]"
        items: list[Node] = []
        keys: list[str] = []
        starts: list[int] = []
        comma, at = 0, self.skip(start + 1)
        while self.text[at : at + 1] != close:
            if items and not comma:
                raise ValueError(f"a comma is missing in line {self._line(at)}")
            starts.append(at)
            if sign == "{":
                key = self._scalar(_STRING, at, json.loads)
                at = self.skip(key.end)
                if self.text[at : at + 1] != ":":
                    raise ValueError(f"a colon is missing in line {self._line(at)}")
                keys.append(key.value)
                at = self.skip(at + 1)
            items.append(self.value(at, depth + 1))
            at = self.skip(items[-1].end)
            comma = at + 1 if self.text[at : at + 1] == "," else 0
            at = self.skip(comma) if comma else at
        if len({*keys}) < len(keys):
            raise ValueError(f"a name stands twice in the object of line {self._line(start)}")
        values = [item.value for item in items]
        value: Any = dict(zip(keys, values, strict=True)) if sign == "{" else values
        return Node(value, start, at + 1, (*items,), (*keys,), (*starts,), comma)

    def _line(self, at: int) -> int:
        return self.text.count("\n", 0, at) + 1


def _toml_word(text: str) -> Any:  # noqa: ANN401 – any TOML value
    return tomllib.loads(f"value = {text}")["value"]
