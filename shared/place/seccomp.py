"""Forbids a process the Linux system calls that make changes which Landlock can't prevent.

They are those for rights, owners, attributes and times of files, sockets, signals, and the few
ioctls that change a file or type into the terminal. A forbidden call fails with EPERM.
"""

from __future__ import annotations

import os

from shared.place.bpf import ALLOW, DENY, EQUAL, IOCTL, IOCTLS, Filter, install
from shared.sandbox import give_up_privileges

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    from shared.place.bpf import Step

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


def forbid() -> None:
    """Forbid this process and its children the listed system calls; raise OSError on failure."""
    give_up_privileges()
    install(program(os.uname().machine))


def program(machine: str) -> list[Step]:
    """Return the filter for a processor; raises OSError for one that is not known."""
    made = Filter(machine)
    made.answer(_CALLS.values(), DENY)
    made.examine(IOCTL, [(1, EQUAL, request, DENY) for request in IOCTLS.values()], ALLOW)
    return made.steps()
