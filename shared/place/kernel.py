"""The Linux system calls that the place is made of, called through ctypes; errors are OSError."""

from __future__ import annotations

import ctypes
import os

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# Flags of mount(2), mount_setattr(2) and umount2(2).
NO_SETUID, NO_DEVICES, NO_PROGRAMS = 2, 4, 8
READ_ONLY, REMOUNT, BIND, RECURSIVE, PRIVATE = 1, 32, 4096, 16384, 1 << 18
_DETACH, _ATTRIBUTES_RECURSIVE, _HERE = 2, 0x8000, -100
_MAP_OWNERS, _NO_PATH = 1 << 20, 0x1000
# Flags of open_tree(2) and move_mount(2).
_CLONE, _CLOSE_AT_EXEC, _FROM_DESCRIPTOR = 1, 0o2000000, 4
# The namespaces: mounts, processes, network, IPC, host name, and users.
USERS, NETWORK = 0x10000000, 0x40000000
SPACES = 0x00020000 | 0x20000000 | NETWORK | 0x08000000 | 0x04000000 | USERS

_OPEN_TREE, _MOVE_MOUNT, _CLOSE_RANGE, _MOUNT_SETATTR = 428, 429, 436, 442
# What has another number on x86-64 than in the table of all newer processors.
_PIVOT_ROOT = {"x86_64": 155}
_PIVOT_ROOT_ELSEWHERE = 41

# prctl(2).
_DEATH_SIGNAL, _DUMPABLE, _NO_NEW_PRIVILEGES, _DROP_BOUND = 1, 4, 38, 24
_CAPABILITY_VERSION, _CAPABILITIES = 0x20080522, 64
# getrlimit(2).
FILE_SIZE, CORE_SIZE, PROCESSES, OPEN_FILES = 1, 4, 6, 7
# socket(2): the kernel's own messages, about sockets; closed at exec.
_NETLINK, _RAW, _SOCKETS_OF_ALL, _LARGEST_ANSWER = 16, 3, 4, 1 << 16
# netdevice(7): set a device's flags; up and running.
_SET_FLAGS, _UP = 0x8914, 0x41
_INTERNET, _DATAGRAM = 2, 2

_LIBRARY = ctypes.CDLL(None, use_errno=True)


def unshare(spaces: int) -> None:
    """Move this process into new namespaces; only its later children into one for processes."""
    _check("unshare", _LIBRARY.unshare(ctypes.c_int(spaces)))


def mount(source: str, target: str, kind: str, flags: int = 0, options: str = "") -> None:
    """Mount a file system of this kind, or with BIND the folder or file `source`, at `target`."""
    words = (os.fsencode(word) or None for word in (source, target, kind))
    answer = _LIBRARY.mount(*words, ctypes.c_ulong(flags), os.fsencode(options) or None)
    _check(f"mount {kind or source} at {target}", answer)


def restrict_mount(target: str, attributes: int, *, below: bool = True) -> None:
    """Add READ_ONLY, NO_SETUID, NO_DEVICES or NO_PROGRAMS to a mount and those below it."""
    _set_attributes(_HERE, target, _ATTRIBUTES_RECURSIVE if below else 0, attributes)


def clone_mount(folder: str) -> int:
    """Return a new mount of a folder, with those below it, that is attached nowhere."""
    flags = _CLONE | _CLOSE_AT_EXEC | _ATTRIBUTES_RECURSIVE
    answer = int(_LIBRARY.syscall(_OPEN_TREE, _HERE, os.fsencode(folder), flags))
    _check(f"open_tree {folder}", answer)
    return answer


def map_owners(mount: int, users: int) -> None:
    """Let a mount that is attached nowhere know only the ids of this open namespace of users."""
    _set_attributes(mount, "", _NO_PATH | _ATTRIBUTES_RECURSIVE, _MAP_OWNERS, users)


def attach(mount: int, target: str) -> None:
    """Attach a mount that is attached nowhere at `target`."""
    answer = _LIBRARY.syscall(_MOVE_MOUNT, mount, b"", _HERE, os.fsencode(target), _FROM_DESCRIPTOR)
    _check(f"move_mount to {target}", answer)


def _set_attributes(folder: int, path: str, flags: int, attributes: int, users: int = 0) -> None:
    wanted = (ctypes.c_uint64 * 4)(attributes, 0, 0, users)
    answer = _LIBRARY.syscall(
        _MOUNT_SETATTR, folder, os.fsencode(path), flags, ctypes.byref(wanted),
        ctypes.c_size_t(ctypes.sizeof(wanted)),
    )  # fmt: skip
    _check(f"mount_setattr {path}", answer)


def make_root(folder: str) -> None:
    """Make the mount at `folder` this process's root; what was mounted before is out of reach."""
    os.chdir(folder)
    number = _PIVOT_ROOT.get(os.uname().machine, _PIVOT_ROOT_ELSEWHERE)
    _check("pivot_root", _LIBRARY.syscall(number, b".", b"."))
    _check("umount", _LIBRARY.umount2(b".", _DETACH))
    os.chdir("/")


def end_with_parent(number: int) -> None:
    """Have the kernel send this process the signal `number` when its parent ends."""
    _check("prctl", _LIBRARY.prctl(_DEATH_SIGNAL, number, 0, 0, 0))


def hide_memory() -> None:
    """Keep processes of the same user from reading this one's memory, files and environment."""
    _check("prctl", _LIBRARY.prctl(_DUMPABLE, 0, 0, 0, 0))


def keep_capabilities(kept: Iterable[int]) -> None:
    """Give up all capabilities but these, for this process and what it becomes."""
    mask = sum(1 << number for number in kept)
    for number in range(_CAPABILITIES):
        # Numbers that this kernel does not know fail, which does no harm.
        if not mask >> number & 1:
            _LIBRARY.prctl(_DROP_BOUND, number, 0, 0, 0)
    _check("prctl", _LIBRARY.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0))
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0)
    held = (ctypes.c_uint32 * 6)(mask, mask, 0, mask >> 32, mask >> 32, 0)
    _check("capset", _LIBRARY.capset(header, held))


def close_from(first: int) -> None:
    """Close all open files from the number `first` on."""
    if _LIBRARY.syscall(_CLOSE_RANGE, ctypes.c_uint(first), ctypes.c_uint(0xFFFFFFFF), 0):
        os.closerange(first, 1 << 16)


def start_loopback() -> None:
    """Switch on the loopback device of this process's network namespace."""
    request = b"lo".ljust(16, b"\0") + _UP.to_bytes(2, "little").ljust(24, b"\0")
    socket = _LIBRARY.socket(_INTERNET, _DATAGRAM, 0)
    _check("socket", socket)
    try:
        _check("ioctl", _LIBRARY.ioctl(socket, ctypes.c_ulong(_SET_FLAGS), request))
    finally:
        os.close(socket)


def limit(resource: int, most: int) -> None:
    """Set a limit of getrlimit(2) for this process and its children: the lower of ours and its."""
    held = (ctypes.c_uint64 * 2)()
    _check("getrlimit", _LIBRARY.getrlimit(resource, held))
    lower = min(most, held[1])
    _check("setrlimit", _LIBRARY.setrlimit(resource, (ctypes.c_uint64 * 2)(lower, lower)))


def ask_about_sockets(question: bytes) -> Iterator[bytes]:
    """Yield what the kernel answers to a message of sock_diag(7), nothing if it can't answer."""
    socket = _LIBRARY.socket(_NETLINK, _RAW | _CLOSE_AT_EXEC, _SOCKETS_OF_ALL)
    if socket < 0:
        return
    try:
        if os.write(socket, question) == len(question):
            while answer := os.read(socket, _LARGEST_ANSWER):
                yield answer
    except OSError:
        return
    finally:
        os.close(socket)


def default_signals(numbers: Iterable[int]) -> None:
    """Let these signals do again what the system does by default; Python ignores some."""
    for number in numbers:
        _LIBRARY.signal(number, None)


def _check(what: str, answer: int) -> None:
    if answer < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")
