"""The processes above this one: who started each, and when it began.

Read from /proc, so on Linux alone; elsewhere none is seen.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    from collections.abc import Iterator

PROC = "/proc"
MOST = 200  # processes above another one


def stat_of(pid: int) -> tuple[str, int, str] | None:
    """Return name, parent and start time of a process, None if it has ended or is not shown."""
    try:
        with open(f"{PROC}/{pid}/stat", "rb") as file:
            before, _, after = file.read().rpartition(b")")
        fields = after.split()
        if fields[0] == b"Z":
            return None  # it has ended, and its parent has not asked how
        return os.fsdecode(before.partition(b"(")[2]), int(fields[1]), fields[19].decode()
    except (OSError, IndexError, ValueError):
        return None


def identity_of(pid: int, began: str) -> str:
    """Return a text that no other process has while the machine runs."""
    return f"{pid}:{began}"


def identities_above(pid: int) -> Iterator[str]:
    """Yield the identity of each process above one, its parent first."""
    found = stat_of(pid)
    for _ in range(MOST):
        pid = found[1] if found else 0
        found = stat_of(pid) if pid > 0 else None
        if found is None:
            return
        yield identity_of(pid, found[2])
