"""Keeps files of other owners out of the folders in which writing lasts.

As root a command may give files away, or become another user. So each of these folders is seen by
a mount that knows only our own ids and those of the folder: as anybody else nothing can be made or
changed there. The mounts have to be made before we leave the namespaces of the machine.
"""

from __future__ import annotations

import os

from shared.place import kernel

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    from collections.abc import Iterable

_KILL = 9


def mounts_of_our_own(folders: Iterable[str]) -> dict[str, int]:
    """Return such a mount, attached nowhere, for each of the paths that exist.

    None at all where that can't be had: not as root, or in a file system that can't do it.
    """
    found = {folder: os.stat(folder) for folder in folders if os.path.exists(folder)}
    if os.geteuid() or not found:
        return {}
    made = dict[str, int]()
    try:
        users = {os.geteuid(), *(one.st_uid for one in found.values())}
        groups = {os.getegid(), *(one.st_gid for one in found.values())}
        ids = _namespace(users, groups)
        for folder in found:
            made[folder] = kernel.clone_mount(folder)
            kernel.map_owners(made[folder], ids)
        os.close(ids)
    except OSError:
        for mount in made.values():
            os.close(mount)
        return {}
    return made


def _namespace(users: set[int], groups: set[int]) -> int:
    """Return an open namespace of users that knows these ids alone; raises OSError."""
    ready, hold = os.pipe(), os.pipe()
    process = os.fork()
    if not process:
        _hold_namespace(ready[1], hold)
    try:
        os.close(ready[1])
        os.read(ready[0], 1)
        for kind, ids in (("uid", users), ("gid", groups)):
            with open(f"/proc/{process}/{kind}_map", "w", encoding="ascii") as file:
                file.write("".join(f"{one} {one} 1\n" for one in sorted(ids)))
        return os.open(f"/proc/{process}/ns/user", os.O_RDONLY | os.O_CLOEXEC)
    finally:
        os.kill(process, _KILL)
        os.waitpid(process, 0)
        for descriptor in (ready[0], *hold):
            os.close(descriptor)


def _hold_namespace(ready: int, hold: tuple[int, int]) -> None:
    """Be in a new namespace of users until we are killed or our parent ends; never returns."""
    try:
        os.close(hold[1])
        kernel.unshare(kernel.USERS)
        os.write(ready, b"\n")
        os.read(hold[0], 1)
    finally:
        os._exit(0)
