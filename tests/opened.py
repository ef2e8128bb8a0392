"""Which files of a folder are opened meanwhile, by whatever process, as the kernel tells."""

from __future__ import annotations

import contextlib
import ctypes
import os
import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_OPEN, _IS_FOLDER = 0x20, 0x40000000
_EVENT = struct.Struct("iIII")


@contextlib.contextmanager
def opened_in(folder: Path) -> Iterator[list[str]]:
    """Yield a list that has the names of the files opened in a folder, once the block has ended."""
    libc = ctypes.CDLL(None, use_errno=True)
    found: list[str] = []
    descriptor = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
    assert descriptor >= 0, os.strerror(ctypes.get_errno())
    try:
        assert libc.inotify_add_watch(descriptor, os.fsencode(folder), _OPEN) >= 0
        yield found
        with contextlib.suppress(BlockingIOError):
            while data := os.read(descriptor, 1 << 16):
                found += _names(data)
    finally:
        os.close(descriptor)


def _names(data: bytes) -> Iterator[str]:
    at = 0
    while at < len(data):
        _, mask, _, length = _EVENT.unpack_from(data, at)
        name = data[at + _EVENT.size : at + _EVENT.size + length].rstrip(b"\0")
        at += _EVENT.size + length
        if name and not mask & _IS_FOLDER:
            yield os.fsdecode(name)
