"""Forbids a process in the place the system calls that could lead out of it.

That is making namespaces and mounts, sockets that no namespace holds, keyrings, what only the
system's administrator needs, disturbing the process that keeps the place, attributes of files such
as "immutable", and, where something lasts, files with set-user-id bits. A forbidden call fails with
EPERM.
"""

from __future__ import annotations

import os

from shared.place.bpf import ALLOW, ANY_BIT, DENY, EQUAL, IOCTL, IOCTLS, UNKNOWN, Filter, install

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    from shared.place.bpf import Step

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
    "file_setattr": (469, 469), "listns": (470, 470),
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
_NEWLY_SPACED = {
    "clone": ((56, 220), 0, _NEW_SPACES), "unshare": ((272, 97), 0, _NEW_SPACES),
}  # fmt: skip
_SETTING_IDS = {
    "chmod": ((90, 0), 1, _SET_ID), "fchmod": ((91, 52), 1, _SET_ID),
    "fchmodat": ((268, 53), 2, _SET_ID), "fchmodat2": ((452, 452), 2, _SET_ID),
    "creat": ((85, 0), 1, _SET_ID), "mknod": ((133, 0), 1, _SET_ID),
    "mknodat": ((259, 33), 2, _SET_ID),
}  # fmt: skip
# What changes limits, order or processors of another process of the same user. Name: numbers, the
# argument with the process; and the first argument that means all processes of a user.
_OF_A_PROCESS = {
    "prlimit64": ((302, 261), 0), "setpriority": ((141, 140), 1), "ioprio_set": ((251, 30), 1),
    "sched_setaffinity": ((203, 122), 0), "sched_setscheduler": ((144, 119), 0),
    "sched_setparam": ((142, 118), 0), "sched_setattr": ((314, 274), 0),
}  # fmt: skip
_OF_A_USER = {"setpriority": 2, "ioprio_set": 3}
_FIRST = 1  # the process that keeps the place
# Name: numbers, the argument with the flags; the rights after it count only where a file is made.
_OPENING = {"open": ((2, 0), 1), "openat": ((257, 56), 2)}
_MAKES = 0o20000100  # O_CREAT, O_TMPFILE
_SOCKET, _SOCKET_PAIR = (41, 198), (53, 199)
_LOCAL, _INTERNET, _INTERNET_6, _KERNEL = 1, 2, 10, 16


def forbid(*, local_sockets: bool, lasting: bool = True) -> None:
    """Forbid this process and its children these calls for good; raises OSError.

    Without `local_sockets` it can't use sockets named by a path either, except pairs of them. Where
    nothing that it writes is `lasting`, it may give files set-user-id and set-group-id bits, as
    tests of archives and installers do: nobody outside can run them.
    """
    install(program(os.uname().machine, local_sockets=local_sockets, lasting=lasting))


def program(machine: str, *, local_sockets: bool, lasting: bool = True) -> list[Step]:
    """Return the filter for a processor; raises OSError for one that is not known."""
    families = [_INTERNET, _INTERNET_6, _KERNEL, *[_LOCAL] * local_sockets]
    made = Filter(machine)
    made.answer(_DENIED.values(), DENY)
    made.answer(_DENIED_AS_UNKNOWN.values(), UNKNOWN)
    for call, argument, bits in (_NEWLY_SPACED | (_SETTING_IDS if lasting else {})).values():
        made.examine(call, [(argument, ANY_BIT, bits, DENY)], ALLOW)
    for call, flags in _OPENING.values() if lasting else ():
        made.open_with_rights(call, flags, _MAKES, _SET_ID)
    for name, (call, process) in _OF_A_PROCESS.items():
        all_of_a_user = [(0, EQUAL, _OF_A_USER[name], DENY)] if name in _OF_A_USER else []
        made.examine(call, [(process, EQUAL, _FIRST, DENY), *all_of_a_user], ALLOW)
    made.examine(IOCTL, [(1, EQUAL, request, DENY) for request in IOCTLS.values()], ALLOW)
    for call, allowed in ((_SOCKET, families), (_SOCKET_PAIR, [_LOCAL])):
        made.examine(call, [(0, EQUAL, family, ALLOW) for family in allowed], DENY)
    return made.steps()
