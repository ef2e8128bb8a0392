"""Describe the demo's commands and their results in lines that fit a terminal."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from xml.etree.ElementTree import Element

    from cli.demo.driver import Answer

LONGEST_WORD = 40  # a digest or commit has 40 or more
MOST_NAMES = 3


def short_command(words: Sequence[str]) -> str:
    """Return a command shortened for reading: no folders, no role, long words cut."""
    kept = [os.path.basename(words[0]), *words[1:]]
    for option in ("--state-dir", "--role"):
        if option in kept:
            at = kept.index(option)
            del kept[at : at + 2]
    cut = (_cut(w) for w in kept)
    return " ".join(f'"{w}"' if " " in w else w for w in cut)


def _cut(word: str) -> str:
    if os.path.isabs(word):
        return f"…/{os.path.basename(word)}"
    return word if len(word) < LONGEST_WORD or " " in word else f"{word[:12]}…"


def listed(names: Sequence[str]) -> str:
    """Return file names as one text, or only their number if the names would fill the line."""
    return ", ".join(names) if len(names) <= MOST_NAMES else f"{len(names)} files"


def quoted(told: str) -> str:
    """Return an agent's output lines indented, as an assistant's client shows them."""
    return "   │ " + told.replace("\n", "\n   │ ")


def outcome(answer: Answer) -> str:
    """Return a one-line summary of a printed block."""
    block = answer.block
    if block.tag == "error" or block.get("partial"):
        return "; ".join(f"{kind}: {first_words(text)}" for kind, text in answer.problems)
    if block.tag == "result":
        parts = [_part(data) for data in block.findall("data")]
        return ", ".join(parts or (f"{value} {name}" for name, value in block.items())) or "done"
    asked = [f", asks: {ask.findtext('question')}" for ask in block.findall("ask")]
    step = f"{block.get('workflow')} {block.get('number')}/{block.get('of')} {answer.name}"
    return step + "".join(asked)


def _part(data: Element) -> str:
    name, text = data.get("name", ""), data.text or ""
    return name if "\n" in text or len(text) > LONGEST_WORD else f"{name}: {text}"


def first_words(problem: str) -> str:
    """Return the first clause of an error text."""
    return problem.partition(";")[0].partition(" · ")[0].partition("\n")[0]
