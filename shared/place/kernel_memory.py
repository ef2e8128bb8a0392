"""Counts the memory that the kernel holds for the place: sockets, System V queues, page tables.

A control group would count it, but few users have one of their own. So the kernel is asked: for
sockets by netlink (sock_diag(7)), for the rest in the place's own /proc.
"""

from __future__ import annotations

import struct

from shared.place import kernel

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_KIBIBYTE = 1024
# What a socket takes with the file that it is, and a semaphore.
_SOCKET, _SEMAPHORE = 2048, 64
# Fewer sockets than this are not looked at one by one.
_FEW = 16
# Of the processes' addresses, a page of a page table covers 2 MiB.
_COVERED = 512
_DUMP, _DONE, _ERROR = 20, 3, 2
_REQUEST = 0x301  # all that there are
_ALL_STATES = 0xFFFFFFFF
_HEADER = struct.Struct("=IHHII")
_ATTRIBUTE = struct.Struct("=HH")
# What is asked, how long the fixed part of an answer is, the attribute that holds the figures:
# sockets of the machine (unix), of TCP and UDP in both forms of the internet, of netlink.
_KINDS = (
    (struct.pack("=BBHIIIII", 1, 0, 0, _ALL_STATES, 0, 0x20, 0, 0), 16, 5),
    *(
        (struct.pack("=BBBBI48x", family, protocol, 1 << 6, 0, _ALL_STATES), 72, 7)
        for family in (2, 10) for protocol in (6, 17)
    ),
    (struct.pack("=BBHIIII", 16, 255, 0, 0, 1, 0, 0), 28, 0),
)  # fmt: skip
# Of these figures: received and not read, sent and not taken, set aside, options, waiting.
_HELD = (0, 2, 4, 6, 7)
_FIGURES = struct.Struct("=9I")


def of_sockets() -> int:
    """Return the memory of all sockets in this network namespace in bytes."""
    number = sum(numbers("/proc/net/sockstat", b"sockets: used"))
    if number < _FEW:
        return 0
    return number * _SOCKET + sum(_of_kind(*kind) for kind in _KINDS)


def of_queues() -> int:
    """Return the memory of System V message queues and semaphores in bytes."""
    messages = columns("/proc/sysvipc/msg", b"cbytes")
    return sum(messages) + _SEMAPHORE * sum(columns("/proc/sysvipc/sem", b"nsems"))


def of_page_tables(processes: Iterable[str], addressed: int, matters: int) -> int:
    """Return the memory of page tables in bytes, 0 if for what is `addressed` it can't matter."""
    if addressed // _COVERED < matters:
        return 0
    paths = (f"/proc/{name}/status" for name in processes)
    return _KIBIBYTE * sum(number for path in paths for number in numbers(path, b"VmPTE:"))


def _of_kind(question: bytes, fixed: int, wanted: int) -> int:
    """Return the memory of the sockets of one kind; 0 where the kernel cannot tell."""
    size, held = _HEADER.size, 0
    header = _HEADER.pack(size + len(question), _DUMP, _REQUEST, 1, 0)
    for data in kernel.ask_about_sockets(header + question):
        at = 0
        while at + size <= len(data):
            length, kind, *_ = _HEADER.unpack_from(data, at)
            if kind in (_DONE, _ERROR) or length < size:
                return held
            held += _figures(data, at + size + fixed, at + length, wanted)
            at += length + 3 & ~3
    return held


def _figures(data: bytes, at: int, end: int, wanted: int) -> int:
    while at + _ATTRIBUTE.size <= end:
        length, kind = _ATTRIBUTE.unpack_from(data, at)
        if kind == wanted and length >= _ATTRIBUTE.size + _FIGURES.size:
            figures = _FIGURES.unpack_from(data, at + _ATTRIBUTE.size)
            return sum(figures[one] for one in _HELD)
        at += max(length, _ATTRIBUTE.size) + 3 & ~3
    return 0


def numbers(path: str, before: bytes) -> Iterator[int]:
    """Yield the numbers after a word at the beginning of lines; nothing if it can't be read."""
    try:
        with open(path, "rb") as file:
            for line in file:
                if line.startswith(before):
                    yield int(line[len(before) :].split()[0])
    except (OSError, ValueError, IndexError):
        return


def columns(path: str, name: bytes) -> list[int]:
    """Return a column of a table, by its name at the top; nothing if it can't be read."""
    try:
        with open(path, "rb") as file:
            heads, *rows = (line.split() for line in file)
        return [int(row[heads.index(name)]) for row in rows]
    except (OSError, ValueError):
        return []
