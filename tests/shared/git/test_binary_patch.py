"""Git's binary patches, read from bytes made by hand: what they make and what they are not."""

from __future__ import annotations

import base64
import zlib

import pytest

from shared.git.binary_patch import Lines, WrongPatchError, rebuild_binary, skip_reverse

BEFORE = bytes(range(256)) * 300


def packed(data: bytes) -> bytes:
    """Return bytes in lines of base85, as git writes them, with the empty line at the end."""
    data, lines = zlib.compress(data), b""
    for at in range(0, len(data), 52):
        part = data[at : at + 52]
        count = len(part)
        mark = chr(count + 64 if count <= 26 else count + 70).encode()
        lines += mark + base64.b85encode(part, pad=True) + b"\n"
    return lines + b"\n"


def number(value: int) -> bytes:
    out = b""
    while value > 0x7F:
        out, value = out + bytes([value & 0x7F | 0x80]), value >> 7
    return out + bytes([value])


def delta(*parts: bytes, source: int = len(BEFORE), size: int) -> bytes:
    body = number(source) + number(size) + b"".join(parts)
    return f"delta {len(body)}\n".encode() + packed(body)


def rebuilt(patch: bytes, before: bytes = BEFORE) -> bytes:
    return rebuild_binary(Lines(patch), before)


@pytest.mark.parametrize("size", [0, 1, 26, 27, 52, 53, 5000])
def test_a_literal_is_the_content_whatever_was_before(size: int) -> None:
    data = bytes(n * 7 % 256 for n in range(size))
    patch = f"literal {size}\n".encode() + packed(data)
    assert rebuilt(patch, b"") == rebuilt(patch) == data


@pytest.mark.parametrize(
    ("parts", "made"),
    [
        ([b"\x03abc"], b"abc"),
        ([b"\x90\x05"], BEFORE[:5]),
        ([b"\x91\x02\x05"], BEFORE[2:7]),
        ([b"\xb3\x01\x01\x02\x01"], BEFORE[257 : 257 + 258]),
        ([b"\x80"], BEFORE[:0x10000]),
        ([b"\x91\x05\x01", b"\x01x", b"\x90\x02"], BEFORE[5:6] + b"x" + BEFORE[:2]),
        ([b"\x94\x01\x03"], BEFORE[0x10000 : 0x10000 + 3]),
    ],
)
def test_a_delta_copies_of_what_was_before_and_inserts(parts: list[bytes], made: bytes) -> None:
    assert rebuilt(delta(*parts, size=len(made))) == made


@pytest.mark.parametrize(
    ("patch", "said"),
    [
        (b"", "no form that git writes"), (b"literal x\n\n", "no form that git writes"),
        (b"literal 1\nA,,,,,\n\n", "a line that is none"),
        (b"literal 1\n?00000\n\n", "a line that is none"),
        (b"literal 1\nz00000\n\n", "a line that is none"),
        (b"literal 1\nA00000", "a line that is none"),
        (b"literal 1\nD00000\n\n", "cannot be unpacked"),
        (b"literal 2\n" + packed(b"abc"), "another size than it says"),
        (b"literal 4\n" + packed(b"abc"), "another size than it says"),
        (b"literal 999999999\n\n", "is too large"),
        (delta(b"\x03abc", source=5, size=3), "of another content"),
        (delta(b"\x03abc", size=1 << 40), "too large a one"),
        (delta(b"\x03abc", size=4), "another size than it says"),
        (delta(b"\x03abc", b"\x03abc", b"\x03abc", size=4), "another size than it says"),
        (delta(b"\x91\x02", size=4), "ends too soon"),
        (b"delta 1\n" + packed(b"\x80"), "ends too soon"),
    ],
)  # fmt: skip
def test_what_git_would_not_write_is_said(patch: bytes, said: str) -> None:
    with pytest.raises(WrongPatchError, match=said):
        rebuilt(patch)


def test_the_way_back_is_read_for_its_form_alone() -> None:
    lines = Lines(b"literal 3\n" + packed(b"abc") + b"diff --git a b\n")
    skip_reverse(lines)
    assert lines.take() == b"diff --git a b\n"
    lines = Lines(b"diff --git a b\n")
    skip_reverse(lines)
    assert lines.next == b"diff --git a b\n"
    with pytest.raises(WrongPatchError):
        skip_reverse(Lines(b"delta 3\n?\n\n"))
