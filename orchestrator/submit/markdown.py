"""Write texts of a plan as Markdown in which they stay text, whatever viewer shows it."""

from __future__ import annotations

import re

# What a viewer of Markdown would not show literally: a tag, a comment, an entity, an image.
_LIVE = re.compile(r"(\\*)(<(?=[A-Za-z/!?])|&(?=[#A-Za-z])|(?<=!)\[)")


def one_line(text: str) -> str:
    """Return a text of the plan as one line that adds no element to Markdown."""
    return live(" ".join(text.split()))


def live(text: str) -> str:
    """Return text escaped so that a Markdown viewer shows it literally."""
    return _LIVE.sub(r"\1\1\\\2", text)


def code(text: str) -> str:
    """Return a name as inline Markdown code, even if the name holds backticks."""
    shown = " ".join(text.split())
    if "`" not in shown:
        return f"`{shown}`"
    fence = fence_of(shown)
    return f"{fence} {shown} {fence}"


def fence_of(text: str) -> str:
    """Return a Markdown code fence with more backticks than any run of backticks in `text`."""
    fence = "```"
    while fence in text:
        fence += "`"
    return fence
