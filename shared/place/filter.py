"""Forbids a process in the place the system calls that could lead out of it.

That is making namespaces and mounts, sockets that no namespace holds, keyrings, what only the
system's administrator needs, and files with set-user-id bits. A forbidden call fails with EPERM.
"""

from __future__ import annotations

import ctypes
import os
import struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_SET_SECCOMP, _FILTER = 22, 2
_ALLOW, _DENY, _UNKNOWN = 0x7FFF0000, 0x00050001, 0x00050026  # errors EPERM and ENOSYS
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16
# From here on the numbers belong to x32, which an x86-64 kernel may offer too.
_X32 = 0x40000000
_PROCESSORS = {
    "x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1), "riscv64": (0xC00000F3, 1),
    "loongarch64": (0xC0000102, 1),
}  # fmt: skip

# Name: number on x86-64, number in the generic table; 0 if there is no such call.
_DENIED = {
    "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51),
    "move_mount": (429, 429), "open_tree": (428, 428), "open_tree_attr": (467, 467),
    "fsopen": (430, 430), "fsconfig": (431, 431), "fsmount": (432, 432), "fspick": (433, 433),
    "mount_setattr": (442, 442), "setns": (308, 268), "swapon": (167, 224), "swapoff": (168, 225),
    "reboot": (169, 142), "kexec_load": (246, 104), "kexec_file_load": (320, 294),
    "init_module": (175, 105), "finit_module": (313, 273), "delete_module": (176, 106),
    "bpf": (321, 280), "perf_event_open": (298, 241), "keyctl": (250, 219), "add_key": (248, 217),
    "request_key": (249, 218), "open_by_handle_at": (304, 265), "userfaultfd": (323, 282),
    "fanotify_init": (300, 262), "quotactl": (179, 60), "quotactl_fd": (443, 443),
    "acct": (163, 89), "settimeofday": (164, 170), "clock_settime": (227, 112), "iopl": (172, 0),
    "ioperm": (173, 0), "syslog": (103, 116), "vhangup": (153, 58),
    # Its operations do what other calls do, and bypass this filter.
    "io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427),
}  # fmt: skip
# Their flags are in memory, where no filter can read them; programs then take the older call.
_DENIED_AS_UNKNOWN = {"clone3": (435, 435), "openat2": (437, 437)}

_NEW_SPACES = 0x7E020080  # every CLONE_NEW… flag
_SET_ID = 0o6000
# Name: numbers, the argument that is examined, bits of which none may be set.
_DENIED_BITS = {
    "clone": ((56, 220), 0, _NEW_SPACES), "unshare": ((272, 97), 0, _NEW_SPACES),
    "chmod": ((90, 0), 1, _SET_ID), "fchmod": ((91, 52), 1, _SET_ID),
    "fchmodat": ((268, 53), 2, _SET_ID), "fchmodat2": ((452, 452), 2, _SET_ID),
    "creat": ((85, 0), 1, _SET_ID), "mknod": ((133, 0), 1, _SET_ID),
    "mknodat": ((259, 33), 2, _SET_ID),
}  # fmt: skip
# Name: numbers, the argument with the flags; the rights after it count only where a file is made.
_OPENING = {"open": ((2, 0), 1), "openat": ((257, 56), 2)}
_MAKES = 0o20000100  # O_CREAT, O_TMPFILE
_IOCTL = (16, 29)
# Changing a file's flags through a file that is open for reading; typing into a terminal.
_DENIED_IOCTLS = (0x40086602, 0x40046602, 0x401C5820, 0x5412, 0x541C)
_SOCKET, _SOCKET_PAIR = (41, 198), (53, 199)
_LOCAL, _INTERNET, _INTERNET_6, _KERNEL = 1, 2, 10, 16


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("steps", ctypes.c_char_p))


def forbid(*, local_sockets: bool) -> None:
    """Forbid this process and its children these calls for good; raises OSError.

    Without `local_sockets` it can't use sockets named by a path either, except pairs of them.
    """
    machine = os.uname().machine
    if machine not in _PROCESSORS:
        raise OSError(f"no filter of system calls is known for {machine}")
    steps = program(machine, local_sockets=local_sockets)
    held = _Program(len(steps), b"".join(struct.pack("=HBBI", *step) for step in steps))
    library = ctypes.CDLL(None, use_errno=True)
    if library.prctl(_SET_SECCOMP, _FILTER, ctypes.byref(held), 0, 0):
        raise OSError(ctypes.get_errno(), "seccomp")


def program(machine: str, *, local_sockets: bool) -> list[tuple[int, int, int, int]]:
    """Return the filter's BPF instructions: code, jump if true, jump if false, operand."""
    architecture, column = _PROCESSORS[machine]
    families = [_INTERNET, _INTERNET_6, _KERNEL, *[_LOCAL] * local_sockets]
    steps = [(_LOAD, 0, 0, _ARCHITECTURE), (_EQUAL, 1, 0, architecture), (_RETURN, 0, 0, _DENY)]
    steps.append((_LOAD, 0, 0, _NUMBER))
    if not column:
        steps += [(_AT_LEAST, 0, 1, _X32), (_RETURN, 0, 0, _DENY)]
    for calls, answer in ((_DENIED, _DENY), (_DENIED_AS_UNKNOWN, _UNKNOWN)):
        for numbers in calls.values():
            if numbers[column]:
                steps += [(_EQUAL, 0, 1, numbers[column]), (_RETURN, 0, 0, answer)]
    for numbers, argument, bits in _DENIED_BITS.values():
        if numbers[column]:
            steps += _examine(numbers[column], argument, [(_ANY_BIT, bits, _DENY)], _ALLOW)
    for numbers, argument in _OPENING.values():
        if numbers[column]:
            rights = [(_LOAD, 0, 0, _ARGUMENTS + 8 * argument), (_ANY_BIT, 1, 0, _MAKES),
                      (_RETURN, 0, 0, _ALLOW)]  # fmt: skip
            rights += _decide(argument + 1, [(_ANY_BIT, _SET_ID, _DENY)], _ALLOW)
            steps += [(_EQUAL, 0, len(rights), numbers[column]), *rights]
    ioctls = [(_EQUAL, request, _DENY) for request in _DENIED_IOCTLS]
    steps += _examine(_IOCTL[column], 1, ioctls, _ALLOW)
    for call, allowed in ((_SOCKET, families), (_SOCKET_PAIR, [_LOCAL])):
        steps += _examine(call[column], 0, [(_EQUAL, f, _ALLOW) for f in allowed], _DENY)
    return [*steps, (_RETURN, 0, 0, _ALLOW)]


def _examine(
    number: int, argument: int, tests: Iterable[tuple[int, int, int]], otherwise: int
) -> list[tuple[int, int, int, int]]:
    """Return instructions that decide one call by the lower half of one of its arguments."""
    body = _decide(argument, tests, otherwise)
    return [(_EQUAL, 0, len(body), number), *body]


def _decide(
    argument: int, tests: Iterable[tuple[int, int, int]], otherwise: int
) -> list[tuple[int, int, int, int]]:
    body = [(_LOAD, 0, 0, _ARGUMENTS + 8 * argument)]
    for test, operand, answer in tests:
        body += [(test, 0, 1, operand), (_RETURN, 0, 0, answer)]
    return [*body, (_RETURN, 0, 0, otherwise)]
