"""Read the lines of a git patch with their line numbers, so that no part of it is hidden."""

from __future__ import annotations

import base64
import binascii
import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from state.models import Change

_HUNK = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@ ?(.*)", re.DOTALL)
_SIMILAR = re.compile(r"similarity index \d{1,3}%")
_SIZE = re.compile(r"(?:literal|delta) \d{1,15}")
_ENCODED = re.compile(r"[A-Za-z][0-9A-Za-z!#$%&()*+;<=>?@^_`{|}~-]{1,65}")


class Line(NamedTuple):
    """A line of a patch."""

    # ` `, `+`, `-`, `@` (start of a hunk) or `!` (about the file).
    kind: str
    # Its numbers in the old and the new file, None if it is not in that file.
    old: int | None
    new: int | None
    text: str


def read_patch(change: Change) -> list[Line]:
    """Return the lines of the patch of one file's change.

    What its other fields say already is left out; all else of the patch appears, a line that is
    no patch too.
    """
    patch = change.patch if change.patch is not None else change.diff or ""
    if change.encoding == "base64":
        try:
            patch = base64.b64decode(patch, validate=True).decode("utf-8", "backslashreplace")
        except (binascii.Error, ValueError):
            return [Line("!", None, None, "no base64, as it should be:"), *_remark_lines(patch)]
    lines = patch.split("\n")
    if lines[-1] == "":
        lines.pop()
    return list(_read(lines, _expected(change)))


def size(lines: list[Line]) -> tuple[int, int]:
    """Return how many lines a patch adds and how many it removes."""
    return sum(line.kind == "+" for line in lines), sum(line.kind == "-" for line in lines)


def _remark_lines(text: str) -> list[Line]:
    return [Line("!", None, None, line) for line in text.split("\n")]


def _expected(change: Change) -> set[str]:
    """Return the git header lines that a patch must have, given the other fields of its change."""
    old = change.old_file or change.file
    zero = "0" * len(change.before or change.after or "")
    ids = f"index {change.before or zero}..{change.after or zero}"
    return {
        f"diff --git a/{old} b/{change.file}",
        f"--- a/{old}", f"+++ b/{change.file}", "--- /dev/null", "+++ /dev/null",
        f"--- a/{old}\t", f"+++ b/{change.file}\t",
        f"rename from {old}", f"rename to {change.file}",
        f"old mode {change.old_mode}", f"new mode {change.mode}",
        f"deleted file mode {change.old_mode}", f"new file mode {change.mode}",
        ids, f"{ids} {change.mode}",
    }  # fmt: skip


def _read(lines: list[str], expected: set[str]) -> Iterator[Line]:
    at = 0
    while at < len(lines):
        line = lines[at]
        hunk = _HUNK.fullmatch(line)
        if hunk is not None:
            yield Line("@", int(hunk[1]), int(hunk[3]), hunk[5])
            at = yield from _hunk(lines, at + 1, hunk)
            continue
        at += 1
        if line == "GIT binary patch":
            at = yield from _binary(lines, at)
        elif line not in expected and not _SIMILAR.fullmatch(line):
            yield Line("!", None, None, line)


def _hunk(lines: list[str], at: int, hunk: re.Match[str]) -> Generator[Line, None, int]:
    """Yield as many lines of a patch hunk as its header says; return the next line's index."""
    old, new = int(hunk[1]), int(hunk[3])
    last_old = old + int(hunk[2] or 1)
    last_new = new + int(hunk[4] or 1)
    while at < len(lines):
        kind, rest = lines[at][:1], lines[at][1:]
        if kind == "\\":
            yield Line("!", None, None, rest.strip())
        elif kind == " " and old < last_old and new < last_new:
            yield Line(" ", old, new, rest)
            old, new = old + 1, new + 1
        elif kind == "-" and old < last_old:
            yield Line("-", old, None, rest)
            old += 1
        elif kind == "+" and new < last_new:
            yield Line("+", None, new, rest)
            new += 1
        else:
            break
        at += 1
    return at


def _binary(lines: list[str], at: int) -> Generator[Line, None, int]:
    """Yield a binary file's new size in place of its encoded bytes; return the next index."""
    first = True
    while at < len(lines):
        line = lines[at]
        if _SIZE.fullmatch(line):
            what, _, number = line.partition(" ")
            if first and what == "literal":
                yield Line("!", None, None, f"binary: {int(number):,} bytes after the change")
            elif first:
                yield Line("!", None, None, f"binary: changed by {int(number):,} bytes")
            first = False
        elif line and not _ENCODED.fullmatch(line):
            break
        at += 1
    return at
