"""Forbids a process the Linux system calls that make changes which Landlock can't prevent.

They are those for rights, owners, attributes and times of files, sockets, signals, and the few
ioctls that change a file or type into the terminal. A forbidden call fails with EPERM.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys

from shared.sandbox import give_up_privileges

_SET_SECCOMP, _FILTER = 22, 2
_ALLOW, _DENY = 0x7FFF0000, 0x00050001  # the second: fail with EPERM
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_NUMBER, _ARCHITECTURE, _SECOND_ARGUMENT = 0, 4, 24
# From here on the numbers belong to x32, which an x86-64 kernel may offer too.
_X32 = 0x40000000

# Name: number on x86-64, number in the generic table; 0 if there is no such call.
_CALLS = {
    "chmod": (90, 0), "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452),
    "chown": (92, 0), "fchown": (93, 55), "lchown": (94, 0), "fchownat": (260, 54),
    "setxattr": (188, 5), "lsetxattr": (189, 6), "fsetxattr": (190, 7), "setxattrat": (463, 463),
    "removexattr": (197, 14), "lremovexattr": (198, 15), "fremovexattr": (199, 16),
    "removexattrat": (466, 466), "file_setattr": (469, 469),
    "utime": (132, 0), "utimes": (235, 0), "futimesat": (261, 0), "utimensat": (280, 88),
    # Landlock restricts it only from its third version on.
    "truncate": (76, 45),
    "socket": (41, 198),
    # Its operations do what other calls do, and bypass this filter.
    "io_uring_setup": (425, 425),
    "kill": (62, 129), "tkill": (200, 130), "rt_sigqueueinfo": (129, 138),
    "pidfd_send_signal": (424, 424),
}  # fmt: skip
_IOCTL = (16, 29)
_REQUESTS = {
    "FS_IOC_SETFLAGS": 0x40086602, "FS_IOC32_SETFLAGS": 0x40046602, "FS_IOC_FSSETXATTR": 0x401C5820,
    "TIOCSTI": 0x5412, "TIOCLINUX": 0x541C,
}  # fmt: skip
# Processor: the kernel's number for it, and the column of the tables above.
_PROCESSORS = {
    "x86_64": (0xC000003E, 0),
    "aarch64": (0xC00000B7, 1),
    "riscv64": (0xC00000F3, 1),
    "loongarch64": (0xC0000102, 1),
}


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("steps", ctypes.c_char_p))


def is_available() -> bool:
    """Return whether the system-call filter supports this operating system and processor."""
    return sys.platform.startswith("linux") and os.uname().machine in _PROCESSORS


def forbid() -> None:
    """Forbid this process and its children the listed system calls; raise OSError on failure."""
    give_up_privileges()
    steps = _steps(*_PROCESSORS[os.uname().machine])
    program = _Program(len(steps), b"".join(struct.pack("=HBBI", *step) for step in steps))
    library = ctypes.CDLL(None, use_errno=True)
    if library.prctl(_SET_SECCOMP, _FILTER, ctypes.byref(program), 0, 0):
        raise OSError(ctypes.get_errno(), "seccomp")


def _steps(architecture: int, column: int) -> list[tuple[int, int, int, int]]:
    """Return the seccomp filter's BPF instructions: code, jump if true, jump if false, operand."""
    denied = sorted(numbers[column] for numbers in _CALLS.values() if numbers[column])
    checks: list[tuple[int, int]] = [(_EQUAL, number) for number in denied]
    if not column:
        checks.append((_AT_LEAST, _X32))
    requests = list(_REQUESTS.values())
    # Each check is followed by the rest of the checks, then "allow", then "deny".
    to_deny = len(checks) + 2 + len(requests) + 1
    steps = [(_LOAD, 0, 0, _ARCHITECTURE), (_EQUAL, 1, 0, architecture), (_RETURN, 0, 0, _DENY)]
    steps.append((_LOAD, 0, 0, _NUMBER))
    for place, (code, number) in enumerate(checks, 1):
        steps.append((code, to_deny - place, 0, number))
    steps.append((_EQUAL, 0, len(requests) + 1, _IOCTL[column]))
    steps.append((_LOAD, 0, 0, _SECOND_ARGUMENT))
    for place, request in enumerate(requests):
        steps.append((_EQUAL, len(requests) - place, 0, request))
    return [*steps, (_RETURN, 0, 0, _ALLOW), (_RETURN, 0, 0, _DENY)]
