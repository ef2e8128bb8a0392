"""Counts the processes and threads of the place and their memory, from the place's own /proc."""

from __future__ import annotations

import os

from shared.place import kernel_memory as kernel

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
        own += kernel.of_queues() + kernel.of_page_tables(found, addressed, self._most // _PART)
        if not self._network:
            own += kernel.of_sockets()
        # How much it has grown would not do: others give theirs back meanwhile.
        if own <= self._most < own + max(shared, _shared_of_machine()):
            # Most of what is open is mapped too.
            own += max(
                _mapped(found), _in_files(found) + sum(kernel.columns("/proc/sysvipc/shm", b"rss"))
            )
        return threads, own, files


def _shared_of_machine() -> int:
    """Return the shared memory of the whole machine in bytes."""
    return _KIBIBYTE * sum(kernel.numbers("/proc/meminfo", b"Shmem:"))


def _mapped(processes: list[str]) -> int:
    """Return the shared memory that is mapped, each byte once."""
    paths = (f"/proc/{name}/smaps_rollup" for name in processes)
    return _KIBIBYTE * sum(
        number for path in paths for number in kernel.numbers(path, b"Pss_Shmem:")
    )


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
