"""Read the files of the planning folder: what is to be implemented, entry by entry; open todos."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from shared.requirements_record import CURRENT, ORIGINAL, TODO
from state.errors import Refused

if TYPE_CHECKING:
    from shared.requirements_record import Lane

_BOX = re.compile(r"\s*[-*] \[([ xX])\] ?(.*)")
_ITEM = re.compile(r"(?:[-*+]|\d+[.)])\s+(.*)")
_RULE = re.compile(r"={2,}|-{2,}")
_HEADING = re.compile(r"#{1,6}\s+(.*)")
_EXCLUDED = re.compile(r"[*_]*(?:out[ -]of|not[ -]in)[ -]scope[*_: ]*", re.IGNORECASE)
_PREFIX = "out of scope: "


def decode_requirements(data: bytes, path: str) -> str:
    """Return the text of a file of requirements; Refused if it is not UTF-8."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        text = f"the file is not UTF-8 at byte {error.start}; it was not changed"
        raise Refused("invalid", path, text, "save the file as UTF-8") from None


def requirements_in(text: str) -> str:
    """Return the part of a requirements file that is implemented.

    It stands under the heading CURRENT and ends where ORIGINAL begins. Without that heading, it is
    all that is not below ORIGINAL, and where nothing is, the text itself.
    """
    lines = text.splitlines()
    begins = next((n for n, line in enumerate(lines) if line.strip() == CURRENT), None)
    rest = lines if begins is None else lines[begins + 1 :]
    ends = next((n for n, line in enumerate(rest) if line.strip() == ORIGINAL), len(rest))
    found = "\n".join(rest[:ends]).strip()
    if not found:
        found = "\n".join(line for line in lines if line.strip() not in (CURRENT, ORIGINAL))
    return found.strip()


def entries_of(requirements: str) -> list[str]:
    """Return the single requirements of a Markdown text: list items and paragraphs.

    What stands under a heading "Out of scope" begins with these words. A plain line counts as such
    a heading for the list or the paragraph that follows it, unless it goes on with a sentence; an
    item of a list does for the items below it, or for the rest of its list if none is below it.
    """
    reader = _Reader()
    for line in requirements.splitlines():
        reader.take(line)
    return reader.entries


class _Reader:
    """Takes the lines of a Markdown text and makes entries of them."""

    def __init__(self) -> None:
        self.entries: list[str] = []
        self.prefix = self.outer = ""  # of the next entry; of what is around an excluding item
        self.lines = 0  # of the entry that is open; 0 if none is
        self.plain_at = -1  # how many entries there were at the last plain heading
        self.is_item = self.is_plain = False  # the last line began an item; was a plain heading
        self.item_at, self.nested = -1, False  # where an excluding item begins; items are below it

    def take(self, line: str) -> None:
        """Take the next line."""
        text, was_plain, self.is_plain = line.strip(), self.is_plain, False
        heading, item = _HEADING.fullmatch(text), _ITEM.fullmatch(text)
        if _RULE.fullmatch(text):
            self._underline(was_plain=was_plain)
        elif heading or _is_plain_heading(text, open_entry=self.lines > 0):
            self._head(heading[1] if heading else text, plain=not heading)
        elif item and _EXCLUDED.fullmatch(item[1]):
            self.outer, self.prefix, self.lines = self.prefix, _PREFIX, 0
            self.item_at, self.nested = _indent(line), False
        else:
            self._leave(line, text, is_item=bool(item))
            self._add(item[1] if item else text, is_item=bool(item))

    def _underline(self, *, was_plain: bool) -> None:
        """Make a heading of the single line before; after anything else it is a mere rule."""
        if was_plain:
            self.plain_at = -1
        elif self.lines == 1 and not self.is_item:
            self._head(self.entries.pop(), plain=False)
        self.lines = 0

    def _head(self, text: str, *, plain: bool) -> None:
        self.prefix = _PREFIX if _EXCLUDED.fullmatch(text) else ""
        self.plain_at = len(self.entries) if plain else -1
        self.lines, self.is_plain, self.item_at = 0, plain, -1

    def _leave(self, line: str, text: str, *, is_item: bool) -> None:
        """End the exclusion by an item or by a plain heading where its list or paragraph ends."""
        apart = bool(text) and not is_item and not self.lines
        if self.item_at >= 0:
            deeper = _indent(line) > self.item_at
            if apart or (is_item and self.nested and not deeper):
                self.prefix, self.item_at = self.outer, -1
            self.nested = self.nested or (is_item and deeper)
        if apart and -1 < self.plain_at < len(self.entries):
            self.prefix = ""

    def _add(self, text: str, *, is_item: bool) -> None:
        if is_item or (text and not self.lines):
            self.entries.append(self.prefix + text)
            self.is_item, self.lines = is_item, 0
        elif text:
            self.entries[-1] += f" {text}"
        self.lines = self.lines + 1 if text else 0


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _is_plain_heading(text: str, *, open_entry: bool) -> bool:
    """Return whether a line without # is the heading "Out of scope", not the end of a sentence."""
    ends_sentence = open_entry and text[:1].islower() and not text.endswith(":")
    return bool(_EXCLUDED.fullmatch(text)) and not ends_sentence


def open_todos(facts: Lane) -> list[str]:
    """Return the entries of the todo list that are not done; a missing or empty list is one."""
    lines = facts.read(TODO).decode("utf-8", "replace").splitlines()
    boxes = [m for m in map(_BOX.fullmatch, lines) if m]
    if not boxes:
        return [f"{TODO} lists nothing"]
    return [m[2].strip() for m in boxes if m[1] == " "]
