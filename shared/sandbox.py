"""Limit where a process and all that it starts can write, by Linux's Landlock where it exists.

Used as a program: `python -I -S sandbox.py [--strict] PATH… -- COMMAND…`. If the kernel
cannot do that, the command still runs; `is_available` tells. Standard library only.
"""

from __future__ import annotations

import ctypes
import os
import sys

PROGRAM = os.path.abspath(__file__)

# Numbers of the system calls, the same for all processors that Linux has had since 2021.
_CREATE, _ADD, _RESTRICT = 444, 445, 446
_NO_NEW_PRIVILEGES, _CHILD_SUBREAPER = 38, 36
_PATH_BENEATH = 1

# Before version 2 a rename into another folder could not be allowed at all.
_OLDEST_ABI = 2
_TRUNCATE_ABI, _NETWORK_ABI, _SCOPE_ABI = 3, 4, 6

# landlock.h: write, remove and make of every kind; renaming between folders; truncating.
_WRITE_FILE, _REFER, _TRUNCATE = 1 << 1, 1 << 13, 1 << 14
_IN_FOLDERS = sum(1 << bit for bit in range(4, 13))
# Making character devices, sockets, pipes and block devices.
_SPECIAL = 1 << 6 | 1 << 9 | 1 << 10 | 1 << 11
# Binding and connecting by TCP; abstract sockets and signals to what runs outside.
_NETWORK, _SCOPES = 0b11, 0b11

# What programs write to without leaving anything behind.
_DEVICES = (
    "/dev/null", "/dev/zero", "/dev/full", "/dev/tty", "/dev/ptmx", "/dev/pts",
    "/dev/shm",  # noqa: S108 – nothing is put there by us
)  # fmt: skip

# An option before the paths for commands that no person has confirmed; a shell's "cannot run".
_STRICT, _NOT_RUN = "--strict", 126

# SIGPIPE and SIGXFSZ, alike wherever we run; the module `signal` would double what a start costs.
_IGNORED_BY_PYTHON = (13, 25)


_LIBRARY = ctypes.CDLL(None, use_errno=True)


class _PathRule(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32))


def is_available() -> bool:
    """Return whether this kernel has a Landlock that can limit where a command writes."""
    return _abi() >= _OLDEST_ABI


def wrap(paths: tuple[str, ...], command: list[str], *, strict: bool = False) -> list[str]:
    """Return a command line that runs `command` and lets it write only below `paths`.

    With `strict` it can't end processes outside either, and does not run if a kernel that has
    Landlock fails to limit it.
    """
    words = [_STRICT] if strict else []
    return [sys.executable, "-I", "-S", PROGRAM, *words, *paths, "--", *command]


def restrict(
    paths: tuple[str, ...],
    *,
    plain: tuple[str, ...] = (),
    alone: bool = False,
    scoped: bool = False,
) -> None:
    """Forbid this process and its child processes, for good, to write outside these paths.

    Below `plain` they can make files, folders and links, but no pipes, sockets and devices.
    `scoped` denies signals to processes outside too, `alone` that and TCP, as far as the kernel
    can. Paths that do not exist are left out. Raises OSError.
    """
    abi = _abi()
    handled = _WRITE_FILE | _IN_FOLDERS | _REFER | (_TRUNCATE if abi >= _TRUNCATE_ABI else 0)
    rules = _rules(handled, _NETWORK * alone, _SCOPES * (alone or scoped), abi)
    for path in (*paths, *plain):
        try:
            descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except OSError:
            continue
        allowed = handled if os.path.isdir(path) else handled & (_WRITE_FILE | _TRUNCATE)
        if path in plain:
            allowed &= ~_SPECIAL
        rule = _PathRule(allowed, descriptor)
        _call(_ADD, rules, _PATH_BENEATH, ctypes.byref(rule), 0)
        os.close(descriptor)
    give_up_privileges()
    _call(_RESTRICT, rules, 0)
    os.close(rules)


def give_up_privileges() -> None:
    """Keep this process and its children from gaining privileges, as Landlock requires."""
    if _LIBRARY.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "no_new_privs")


def adopt_orphans(wanted: bool) -> None:
    """Make this process the parent of its orphaned descendants, or stop that if not `wanted`."""
    if sys.platform.startswith("linux"):
        _LIBRARY.prctl(_CHILD_SUBREAPER, int(wanted), 0, 0, 0)


def become(command: list[str], environment: dict[str, str]) -> None:
    """Replace this process by `command`, found on PATH; raises OSError, never returns."""
    # Signals that Python ignores would stay ignored in the command.
    for number in _IGNORED_BY_PYTHON:
        _LIBRARY.signal(number, None)
    os.execvpe(command[0], command, environment)  # noqa: S606 – that is its purpose


def main(arguments: list[str]) -> None:
    """Limit this process's writes and replace it by the command in `arguments`; never returns."""
    strict = arguments[0] == _STRICT
    cut = arguments.index("--")
    if is_available():
        try:
            restrict((*arguments[strict:cut], *_DEVICES), scoped=strict)
        except OSError as error:
            # A sixteenth nested restriction fails.
            sys.stderr.write(f"planner: writes could not be limited: {error}\n")
            if strict:
                sys.exit(_NOT_RUN)
    become(arguments[cut + 1 :], dict(os.environ))


def _abi() -> int:
    if not sys.platform.startswith("linux"):
        return 0
    return int(_LIBRARY.syscall(_CREATE, None, 0, 1))


def _rules(handled: int, network: int, scopes: int, abi: int) -> int:
    """Return the file descriptor of a Landlock ruleset that denies these kinds of access."""
    fields = [handled]
    if abi >= _NETWORK_ABI:
        fields.append(network)
    if abi >= _SCOPE_ABI:
        fields.append(scopes)
    attributes = (ctypes.c_uint64 * len(fields))(*fields)
    return _call(_CREATE, ctypes.byref(attributes), ctypes.sizeof(attributes), 0)


def _call(number: int, *arguments: object) -> int:
    answer = int(_LIBRARY.syscall(number, *arguments))
    if answer < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return answer


if __name__ == "__main__":
    main(sys.argv[1:])
