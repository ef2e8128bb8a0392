"""Read the files of the planning folder: what is to be implemented, entry by entry; open todos."""

from __future__ import annotations

import os
import re

from shared.lifecycle import CURRENT, ORIGINAL
from state.errors import Refused
from state.files import read_bytes

_BOX = re.compile(r"\s*[-*] \[([ xX])\] ?(.*)")
_ITEM = re.compile(r"(?:[-*+]|\d+[.)])\s+(.*)")
_HEADING = re.compile(r"#{1,6}\s+(.*)")
_EXCLUDED = re.compile(r"[*_]*(?:out[ -]of|not[ -]in)[ -]scope[*_: ]*", re.IGNORECASE)
_PREFIX = "out of scope: "


def read_requirements(path: str) -> str:
    """Return the text of a file of requirements; Refused if it is not UTF-8."""
    try:
        return read_bytes(path).decode("utf-8-sig")
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
    a heading for the list or the paragraph that follows it, unless it goes on with a sentence.
    """
    entries: list[str] = []
    prefix, open_entry, plain_at = "", False, -1
    for line in requirements.splitlines():
        text = line.strip()
        heading, item = _HEADING.fullmatch(text), _ITEM.fullmatch(text)
        if heading or _is_plain_heading(text, open_entry=open_entry):
            prefix = _PREFIX if _EXCLUDED.fullmatch(heading[1] if heading else text) else ""
            plain_at = -1 if heading else len(entries)
            open_entry = False
            continue
        if text and not item and not open_entry and -1 < plain_at < len(entries):
            prefix = ""
        if item:
            entries.append(prefix + item[1])
        elif text and open_entry:
            entries[-1] += f" {text}"
        elif text:
            entries.append(prefix + text)
        open_entry = bool(text)
    return entries


def _is_plain_heading(text: str, *, open_entry: bool) -> bool:
    """Return whether a line without # is the heading "Out of scope", not the end of a sentence."""
    ends_sentence = open_entry and text[:1].islower() and not text.endswith(":")
    return bool(_EXCLUDED.fullmatch(text)) and not ends_sentence


def open_todos(path: str) -> list[str]:
    """Return the entries of a todo list that are not done; a missing or empty list is one."""
    boxes = [m for m in map(_BOX.fullmatch, _lines(path)) if m]
    if not boxes:
        return [f"{os.path.basename(path)} lists nothing"]
    return [m[2].strip() for m in boxes if m[1] == " "]


def _lines(path: str) -> list[str]:
    if not os.path.exists(path):
        return []
    return read_bytes(path).decode("utf-8", "replace").splitlines()
