"""Read git's binary patches: a content, or how to make it of another, packed and in base85."""

from __future__ import annotations

import base64
import io
import re
import zlib

from shared.git.large import MOST_COMPARED

BEGINNING = b"GIT binary patch\n"
_BLOCK = re.compile(rb"(literal|delta) (\d{1,9})\n")
_CAPITALS = 26


class WrongPatchError(Exception):
    """A patch does not do what its change says; the text says how."""


class Lines:
    """The lines of a patch, with their ends, read one by one."""

    def __init__(self, data: bytes) -> None:
        self._file = io.BytesIO(data)
        self.next = self._file.readline()

    def take(self) -> bytes:
        """Return the next line and go on; b"" at the end."""
        line, self.next = self.next, self._file.readline()
        return line


def rebuild_binary(lines: Lines, before: bytes) -> bytes:
    """Return what a binary patch makes of a content."""
    match, packed = _packed(lines)
    size = int(match[2])
    try:
        data = zlib.decompressobj().decompress(packed, size + 1)
    except zlib.error:
        raise WrongPatchError("its binary patch cannot be unpacked") from None
    if len(data) != size:
        raise WrongPatchError("its binary patch has another size than it says")
    return data if match[1] == b"literal" else _from_delta(data, before)


def skip_reverse(lines: Lines) -> None:
    """Read the patch that would lead back, where there is one, for its form alone."""
    if _BLOCK.fullmatch(lines.next):
        _packed(lines)


def _packed(lines: Lines) -> tuple[re.Match[bytes], bytes]:
    """Return the first line of a block of a binary patch, and its bytes as they are packed."""
    match = _BLOCK.fullmatch(lines.take())
    if match is None or int(match[2]) > MOST_COMPARED:
        raise WrongPatchError("its binary patch has no form that git writes, or is too large")
    packed = bytearray()
    while (line := lines.take()) != b"\n":
        packed += _decoded(line)
    return match, bytes(packed)


def _decoded(line: bytes) -> bytes:
    """Return the bytes of one line of base85, whose first letter says how many there are."""
    mark = line[:1]
    count = ord(mark) - ord("A") + 1 if b"A" <= mark <= b"Z" else 0
    count = ord(mark) - ord("a") + 1 + _CAPITALS if b"a" <= mark <= b"z" else count
    try:
        found = base64.b85decode(line[1:-1])
    except ValueError:
        found = b""
    if not count or len(found) < count or not line.endswith(b"\n"):
        raise WrongPatchError(f"its binary patch has a line that is none: {shown(line)}")
    return found[:count]


def _from_delta(data: bytes, before: bytes) -> bytes:
    """Return what git's delta makes of a content."""
    (source, size), at = [0, 0], 0
    try:
        (source, at), out = _number(data, at), bytearray()
        size, at = _number(data, at)
        if source != len(before) or size > MOST_COMPARED:
            raise WrongPatchError("its delta is of another content, or gives too large a one")
        while at < len(data) and len(out) <= size:
            code, at = data[at], at + 1
            if not code & 0x80:
                out += data[at : at + code]
                at += code
                continue
            parts = [0] * 7
            for number in range(7):
                if code & 1 << number:
                    parts[number], at = data[at], at + 1
            offset = int.from_bytes(bytes(parts[:4]), "little")
            count = int.from_bytes(bytes(parts[4:]), "little") or 0x10000
            out += before[offset : offset + count]
    except IndexError:
        raise WrongPatchError("its delta ends too soon") from None
    if len(out) != size:
        raise WrongPatchError("its delta gives another size than it says")
    return bytes(out)


def _number(data: bytes, at: int) -> tuple[int, int]:
    """Return a number of git's deltas, seven bits a byte, and where it ends."""
    value = shift = 0
    while True:
        byte, at = data[at], at + 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if not byte & 0x80:
            return value, at


def shown(line: bytes) -> str:
    """Return the beginning of a line of a patch for a message."""
    return repr(line.decode("utf-8", "replace"))[:80]
