"""Counts the processes and threads of the place and their memory, from the place's own /proc."""

from __future__ import annotations

import os

from shared.place.kernel_memory import of_page_tables, of_queues, of_sockets

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    from collections.abc import Iterator

_PAGE = os.sysconf("SC_PAGE_SIZE")
_BLOCK = 512
_KIBIBYTE = 1024
_LINKS_OF_A_FOLDER = 2  # besides one for each folder in it
_MEMORY_FILE = "/memfd:"
# Page tables are counted where they could take this part of the limit.
_PART = 8


def processes() -> list[str]:
    """Return the names in /proc of all processes of the place besides this one."""
    return [name for name in os.listdir("/proc") if name.isdigit() and name != "1"]


class Usage:
    """Counts for one place."""

    def __init__(self, most: int, *, network: bool) -> None:
        # The memory in bytes above which the costly count is made.
        self._most = most
        # Whether the sockets that are seen are those of the machine.
        self._network = network

    def of(self, found: list[str]) -> tuple[int, int, int]:
        """Return of the processes `found` the threads, the memory in bytes, and the open files.

        Shared memory is looked at only where it could make the difference: that takes a walk
        through all open files.
        """
        threads = own = shared = addressed = files = 0
        for name in found:
            try:
                threads += os.stat(f"/proc/{name}/task").st_nlink - _LINKS_OF_A_FOLDER
                files += os.stat(f"/proc/{name}/fd").st_size  # 0 before Linux 6.2
                with open(f"/proc/{name}/statm", "rb") as file:
                    total, resident, of_others, *_ = map(int, file.read().split())
            except OSError:
                continue
            addressed += total * _PAGE
            own += (resident - of_others) * _PAGE
            shared += of_others * _PAGE
        own += of_queues() + of_page_tables(found, addressed, self._most // _PART)
        if not self._network:
            own += of_sockets()
        # How much it has grown would not do: others give theirs back meanwhile.
        if own <= self._most < own + max(shared, _shared_of_machine()):
            # Most of what is open is mapped too.
            own += max(_mapped(found), _in_files(found) + _of_system_v())
        return threads, own, files


def _shared_of_machine() -> int:
    """Return the shared memory of the whole machine in bytes."""
    return _kibibytes("/proc/meminfo", b"Shmem:")


def _mapped(processes: list[str]) -> int:
    """Return the shared memory that is mapped, each byte once."""
    paths = (f"/proc/{name}/smaps_rollup" for name in processes)
    return sum(_kibibytes(path, b"Pss_Shmem:") for path in paths)


def _in_files(processes: list[str]) -> int:
    """Return the size of the files in memory that are open."""
    sizes = {}
    for path in _open_files(processes):
        try:
            if os.readlink(path).startswith(_MEMORY_FILE):
                found = os.stat(path)
                sizes[found.st_dev, found.st_ino] = found.st_blocks * _BLOCK
        except OSError:
            continue
    return sum(sizes.values())


def _open_files(processes: list[str]) -> Iterator[str]:
    for name in processes:
        try:
            numbers = os.listdir(f"/proc/{name}/fd")
        except OSError:
            continue
        yield from (f"/proc/{name}/fd/{number}" for number in numbers)


def _of_system_v() -> int:
    """Return the memory of System V segments, also of those that nobody has mapped."""
    try:
        with open("/proc/sysvipc/shm", "rb") as file:
            heads, *rows = (line.split() for line in file)
        return sum(int(row[heads.index(b"rss")]) for row in rows)
    except (OSError, ValueError):
        return 0


def _kibibytes(path: str, name: bytes) -> int:
    try:
        with open(path, "rb") as file:
            return sum(int(line.split()[1]) * _KIBIBYTE for line in file if line.startswith(name))
    except OSError:
        return 0
