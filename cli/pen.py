"""How text for a person is set: headings, commands on lines of their own, colours, wrapping."""

from __future__ import annotations

import re
import textwrap
from typing import NamedTuple

from shared.resources import launcher

_ITEM = re.compile(r"\s*(?:[-*]|\d+\.) ")
_FENCE = "```"


class Pen(NamedTuple):
    """How text is set: wrapped at a width, 0 for not at all, and with or without colours."""

    width: int
    colour: bool

    def heading(self, text: str) -> str:
        """Return text as a heading."""
        return self._painted("1", text)

    def command(self, text: str) -> str:
        """Return a command as it is copied: one line, never wrapped."""
        return "    " + self._painted("36", text)

    def wrapped(self, text: str, indent: str) -> str:
        """Return a line of text wrapped at the width, the lines below the first indented."""
        if not self.width:
            return text
        return textwrap.fill(
            text, self.width, subsequent_indent=indent, break_long_words=False,
            break_on_hyphens=False,
        )  # fmt: skip

    def bad(self, text: str) -> str:
        """Return the word that says what is wrong."""
        return self._painted("1;31", text)

    def patch(self, line: str) -> str:
        """Return a line of a patch: what is added green, what is removed red."""
        marks = {"+": "32", "-": "31", "@": "36"}
        return self._painted(marks[line[0]], line) if line[:1] in marks else line

    def _painted(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.colour and text else text

    def prose(self, text: str) -> str:
        """Return Markdown with its long lines wrapped, but not in code and never a command."""
        lines, is_code = [], False
        for line in text.split("\n"):
            is_code ^= line.lstrip().startswith(_FENCE)
            whole = is_code or not self.width or len(line) <= self.width or launcher() in line
            lines += [line] if whole else self._wrapped(line)
        return "\n".join(lines)

    def _wrapped(self, line: str) -> list[str]:
        found = _ITEM.match(line)
        indent = " " * (len(found[0]) if found else len(line) - len(line.lstrip()))
        return self.wrapped(line, indent).split("\n")
