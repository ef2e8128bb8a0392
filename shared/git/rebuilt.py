"""Check that a plan's patches give the contents that the plan names, as people read them.

Git takes a patch whose lines stand elsewhere than it says, and passes over what is none. Here each
line of a patch is accounted for: its names, modes and ids are those of the change, every hunk
stands where it says, under a heading that is there, and what comes out has the id `after`.
"""

from __future__ import annotations

import binascii
import hashlib
import re
from typing import TYPE_CHECKING, NamedTuple

from shared.git.binary_patch import (
    BEGINNING,
    Lines,
    WrongPatchError,
    rebuild_binary,
    shown,
    skip_reverse,
)
from shared.git.change import LINK, patch_bytes
from shared.git.large import BLOB, MOST_COMPARED
from shared.git.reader import Reader
from state.errors import Problem, Refused

if TYPE_CHECKING:
    from collections.abc import Iterable

    from shared.git.change import Change
    from shared.git.command import Git
    from shared.git.reader import Head

_HEADER = re.compile(
    rb"(old mode|new mode|deleted file mode|new file mode|rename from|rename to|index) (.+)\n"
    rb"|((?:dis)?similarity index) \d{1,3}%\n"
)
_HUNK = re.compile(rb"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@(?: (.*))?\n")
_UNENDED = b"\\ No newline at end of file\n"
_NOWHERE = b"/dev/null"
_SHORT = {b"\a": b"\\a", b"\b": b"\\b", b"\t": b"\\t", b"\n": b"\\n", b"\v": b"\\v",
          b"\f": b"\\f", b"\r": b"\\r", b'"': b'\\"', b"\\": b"\\\\"}  # fmt: skip
_QUOTED = re.compile(rb'[\x00-\x1f\x7f"\\]')
_ANEW = "a new revision of the plan, whose patches are captured: planner plan revise"


class _Side(NamedTuple):
    """A file before or after a change."""

    path: bytes
    mode: bytes
    blob: str


def check_patches(reader: Reader, changes: Iterable[Change]) -> list[Problem]:
    """Return a problem for each change whose patch does not give the content `after`.

    A content `before` that is not here is a problem of the kind `not_found`. What lies beside the
    plan as a blob has no patch.
    """
    problems, given = [], [*changes]
    heads = reader.heads([change.before for change in given if change.before])
    for change in given:
        head = heads.get(change.before or "")
        if change.encoding == BLOB and change.patch is None:
            continue
        if head is not None and head.kind != "blob":
            problems.append(_missing(change))
            continue
        try:
            _check(change, _content(reader, change, head))
        except WrongPatchError as wrong:
            text = f"the patch of this file is not the change that the plan names: {wrong}"
            problems.append(Problem("invalid", change.file, text, _ANEW))
    return problems


def refuse_other_patches(git: Git, changes: Iterable[Change]) -> None:
    """Raise Refused, by file, if what people read of the changes is not what is applied."""
    with Reader(git) as reader:
        problems = check_patches(reader, changes)
    if problems:
        raise Refused.of(problems)


def _missing(change: Change) -> Problem:
    text = f"the content before the change, the blob {(change.before or '')[:12]}, is not here, so "
    text += "the patch cannot be compared with what the plan names"
    return Problem("not_found", change.file, text, "fetch the plan's base commit")


def _content(reader: Reader, change: Change, head: Head | None) -> bytes:
    """Return the content before a change, empty where there is none or a large one stays."""
    if head is not None and head.size <= MOST_COMPARED:
        return reader.read(head)
    if head is not None and change.before != change.after:
        raise WrongPatchError("the content before is too large for a patch")
    return b""


def _check(change: Change, before: bytes) -> None:
    if change.encoding == BLOB:
        raise WrongPatchError("the content is beside the plan, and the patch is never applied")
    old, new = _sides(change)
    lines = Lines(_bytes_of(change))
    if old and new and (old.mode == LINK.encode()) != (new.mode == LINK.encode()):
        _section(lines, before, old, None)
        _section(lines, b"", None, new)
    else:
        _section(lines, before, old, new)
    if lines.next:
        raise WrongPatchError(f"it has a line that belongs to no change: {shown(lines.next)}")


def _bytes_of(change: Change) -> bytes:
    if change.patch is None:
        raise WrongPatchError("there is none")
    try:
        return patch_bytes(change)
    except (binascii.Error, UnicodeEncodeError):
        raise WrongPatchError("it is not in base64, as it says") from None


def _sides(change: Change) -> tuple[_Side | None, _Side | None]:
    path = change.file.encode()
    old = new = None
    if change.before is not None:
        was = (change.old_file or change.file).encode()
        old = _Side(was, (change.old_mode or "").encode(), change.before)
    if change.after is not None:
        new = _Side(path, (change.mode or "").encode(), change.after)
    if old is None and new is None:
        raise WrongPatchError("the change has neither a file before nor one after")
    return old, new


def _section(lines: Lines, before: bytes, old: _Side | None, new: _Side | None) -> None:
    """Read the patch of one file, and check what comes out of it."""
    first, then = old or new, new or old
    assert first is not None  # noqa: S101 – one of both is there
    assert then is not None  # noqa: S101
    head = b"diff --git %s %s\n" % (_name(b"a/", first), _name(b"b/", then))
    if lines.take() != head:
        raise WrongPatchError(f"it does not begin with {shown(head)}")
    _check_header(lines, old, new)
    if old and new and old.blob == new.blob:
        return
    found: bytes | bytearray = before
    if lines.next.startswith(b"--- "):
        found = _text(lines, before, old, new)
    elif lines.next == BEGINNING:
        lines.take()
        found = rebuild_binary(lines, before)
        skip_reverse(lines)
    if new is None and found:
        raise WrongPatchError("it leaves lines of the file that the plan removes")
    if new is not None and _id(found, len(new.blob)) != new.blob:
        raise WrongPatchError(f"it does not give the content that the plan names, {new.blob[:12]}")


def _check_header(lines: Lines, old: _Side | None, new: _Side | None) -> None:
    """Check that the lines above a patch's content say of the file what the change says."""
    found: dict[bytes, bytes] = {}
    while match := _HEADER.fullmatch(lines.next):
        found[match[1] or match[3]] = match[2] or b""
        lines.take()
    zero = b"0" * len((old or new or _Side(b"", b"", "")).blob)
    ids = b"%s..%s" % (old.blob.encode() if old else zero, new.blob.encode() if new else zero)
    wanted: dict[bytes, bytes] = {}
    if old is None and new is not None:
        wanted[b"new file mode"] = new.mode
    elif new is None and old is not None:
        wanted[b"deleted file mode"] = old.mode
    elif old is not None and new is not None:
        if old.mode != new.mode:
            wanted |= {b"old mode": old.mode, b"new mode": new.mode}
        if old.path != new.path:
            wanted |= {b"rename from": _name(b"", old), b"rename to": _name(b"", new)}
        ids += b" " + new.mode if old.mode == new.mode else b""
    if old is None or new is None or old.blob != new.blob:
        wanted[b"index"] = ids
    for name in (b"similarity index", b"dissimilarity index"):
        found.pop(name, None)
    if found != wanted:
        raise WrongPatchError("its first lines name another mode, name or content than the plan")


def _name(prefix: bytes, side: _Side) -> bytes:
    """Return a path as git writes it into a patch."""
    path = prefix + side.path
    if not _QUOTED.search(path):
        return path
    kept = _QUOTED.sub(lambda m: _SHORT.get(m[0]) or b"\\%03o" % ord(m[0]), path)
    return b'"%s"' % kept


def _text(lines: Lines, before: bytes, old: _Side | None, new: _Side | None) -> bytearray:
    """Return what the hunks of a patch make of a text."""
    for mark, prefix, side in ((b"---", b"a/", old), (b"+++", b"b/", new)):
        name = _name(prefix, side) if side else _NOWHERE
        wanted = b"%s %s%s\n" % (mark, name, b"\t" if b" " in name else b"")
        if lines.take() != wanted:
            raise WrongPatchError(f"its hunks are not below {shown(wanted)}")
    done = _Applied(before)
    while match := _HUNK.fullmatch(lines.next):
        lines.take()
        done.hunk(lines, match)
    return done.rest()


class _Applied:
    """A text to which hunks are applied, from its first line on."""

    def __init__(self, before: bytes) -> None:
        self.before = before
        self.after = bytearray()
        # How much of the text is used, in bytes and lines, and how many lines have come out.
        self.at = self.line = self.lines_out = 0

    def _line(self) -> bytes:
        end = self.before.find(b"\n", self.at) + 1
        return self.before[self.at : end or len(self.before)]

    def _keep(self) -> None:
        line = self._line()
        if not line:
            raise WrongPatchError("a hunk stands below the end of the file")
        self.after += line
        self.at += len(line)
        self.line += 1
        self.lines_out += 1

    def hunk(self, lines: Lines, match: re.Match[bytes]) -> None:
        """Apply one hunk, whose first line is `match`."""
        first, taken, then, given = (1 if n is None else int(n) for n in match.groups()[:4])
        self._go_to(first - 1 if taken else first, then - bool(given), match[5] or b"")
        while taken or given:
            mark, text = self._read(lines)
            if mark != b"+":
                self._take(text)
                taken -= 1
            if mark != b"-":
                self.after += text
                self.lines_out += 1
                given -= 1
            if min(taken, given) < 0 or len(self.after) > MOST_COMPARED:
                raise WrongPatchError("a hunk has more lines than it says, or too many")

    def _go_to(self, line: int, lines_out: int, heading: bytes) -> None:
        """Keep what comes before a hunk, which has to stand there, below its heading."""
        while self.line < line:
            self._keep()
        if (self.line, self.lines_out) != (line, lines_out):
            raise WrongPatchError("a hunk stands elsewhere than it says")
        above = self.before.rfind(b"\n" + heading, 0, self.at) >= 0
        if not (above or self.before.startswith(heading)):
            raise WrongPatchError(f"no line above a hunk begins with its heading {shown(heading)}")

    def _read(self, lines: Lines) -> tuple[bytes, bytes]:
        """Return the mark and the text of a hunk's next line."""
        line = lines.take()
        if line[:1] not in {b" ", b"-", b"+"}:
            raise WrongPatchError(f"a hunk has a line that is none of a hunk: {shown(line)}")
        is_open = lines.next == _UNENDED
        if is_open:
            lines.take()
        return line[:1], line[1:-1] if is_open else line[1:]

    def _take(self, text: bytes) -> None:
        if text != self._line():
            raise WrongPatchError(f"the content before does not have the line {shown(text)}")
        self.at += len(text)
        self.line += 1

    def rest(self) -> bytearray:
        """Return the whole text, with what comes below the last hunk."""
        self.after += memoryview(self.before)[self.at :]
        return self.after


def _id(data: bytes | bytearray, width: int) -> str:
    found = hashlib.new("sha256" if width == 64 else "sha1", usedforsecurity=False)  # noqa: PLR2004
    found.update(b"blob %d\0" % len(data))
    found.update(data)
    return found.hexdigest()
