"""Puts filters of system calls together, and has the kernel use them for this process for good.

A filter is a list of BPF instructions: code, jump if true, jump if false, operand.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    from collections.abc import Iterable

    Step = tuple[int, int, int, int]
    Test = tuple[int, int, int, int]
    Numbers = tuple[int, int]

_SET_SECCOMP, _FILTER = 22, 2
ALLOW, DENY, UNKNOWN = 0x7FFF0000, 0x00050001, 0x00050026  # errors EPERM and ENOSYS
LOAD, EQUAL, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16
# From here on the numbers belong to x32, which an x86-64 kernel may offer too.
_X32 = 0x40000000
# Processor: the kernel's number for it, and the column of the tables of system calls, which have
# the number on x86-64 and the one in the generic table; 0 if there is no such call.
PROCESSORS = {
    "x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1), "riscv64": (0xC00000F3, 1),
    "loongarch64": (0xC0000102, 1),
}  # fmt: skip
IOCTL = (16, 29)
# Changing a file's flags through a file that is open for reading; typing into a terminal.
IOCTLS = {
    "FS_IOC_SETFLAGS": 0x40086602, "FS_IOC32_SETFLAGS": 0x40046602, "FS_IOC_FSSETXATTR": 0x401C5820,
    "TIOCSTI": 0x5412, "TIOCLINUX": 0x541C,
}  # fmt: skip


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("steps", ctypes.c_char_p))


def is_available() -> bool:
    """Return whether filters are known for this operating system and processor."""
    return sys.platform.startswith("linux") and os.uname().machine in PROCESSORS


def install(steps: list[Step]) -> None:
    """Have the kernel filter the calls of this process and its children; raises OSError."""
    held = _Program(
        len(steps),
        struct.pack("=" + "HBBI" * len(steps), *(number for step in steps for number in step)),
    )
    library = ctypes.CDLL(None, use_errno=True)
    if library.prctl(_SET_SECCOMP, _FILTER, ctypes.byref(held), 0, 0):
        raise OSError(ctypes.get_errno(), "seccomp")


class Filter:
    """A filter for a processor while it is put together; what nothing in it decides is allowed."""

    def __init__(self, machine: str) -> None:
        if machine not in PROCESSORS:
            raise OSError(f"no filter of system calls is known for {machine}")
        architecture, self._column = PROCESSORS[machine]
        self._steps = [(LOAD, 0, 0, _ARCHITECTURE), (EQUAL, 1, 0, architecture)]
        self._steps += [(RETURN, 0, 0, DENY), (LOAD, 0, 0, _NUMBER)]
        if not self._column:
            self._steps += [(AT_LEAST, 0, 1, _X32), (RETURN, 0, 0, DENY)]

    def steps(self) -> list[Step]:
        """Return the instructions."""
        return [*self._steps, (RETURN, 0, 0, ALLOW)]

    def answer(self, calls: Iterable[Numbers], answer: int) -> None:
        """Answer these calls, whatever their arguments."""
        for numbers in calls:
            self._call(numbers, [(RETURN, 0, 0, answer)])

    def examine(self, call: Numbers, tests: Iterable[Test], otherwise: int) -> None:
        """Answer a call by the lower halves of its arguments.

        `tests` are the number of an argument, a way to compare, what to compare with, and the
        answer if that is true.
        """
        self._call(call, decide(tests, otherwise))

    def open_with_rights(self, call: Numbers, flags: int, made: int, denied: int) -> None:
        """Deny a call that opens a file if it makes one with these rights.

        `flags` is the number of the argument with the flags, and the rights come after it; `made`
        are the flags with which a file is made.
        """
        rights = decide([(flags + 1, ANY_BIT, denied, DENY)], ALLOW)
        loaded = (LOAD, 0, 0, _ARGUMENTS + 8 * flags)
        self._call(call, [loaded, (ANY_BIT, 1, 0, made), (RETURN, 0, 0, ALLOW), *rights])

    def _call(self, numbers: Numbers, body: list[Step]) -> None:
        if number := numbers[self._column]:
            self._steps += [(EQUAL, 0, len(body), number), *body]


def decide(tests: Iterable[Test], otherwise: int) -> list[Step]:
    """Return the instructions that compare arguments and answer."""
    body: list[Step] = []
    loaded = -1
    for argument, test, operand, answer in tests:
        if argument != loaded:
            body.append((LOAD, 0, 0, _ARGUMENTS + 8 * argument))
        loaded = argument
        body += [(test, 0, 1, operand), (RETURN, 0, 0, answer)]
    return [*body, (RETURN, 0, 0, otherwise)]
