"""Folders whose subfolders lie apart on the disk, so that what one test removes slows no other.

ext4 puts a new file beside its folder, and without a journal it passes over each entry that was
removed there within the last minutes, one after the other. Thousands of tests that make and remove
some hundred files spend more on that than on anything else that they do to the disk.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import struct

# <linux/fs.h>. The flag: subfolders are like those at the top of a disk, each in its own region.
_GET_FLAGS, _SET_FLAGS = 0x80086601, 0x40086602
_TOP = 0x00020000


def set_apart(folder: str) -> None:
    """Have new subfolders of `folder` lie apart; nothing where the file system cannot do it."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            value = fcntl.ioctl(descriptor, _GET_FLAGS, bytes(struct.calcsize("l")))
            (flags,) = struct.unpack("l", value)
            fcntl.ioctl(descriptor, _SET_FLAGS, struct.pack("l", flags | _TOP))
        finally:
            os.close(descriptor)


def make_apart(folder: str) -> None:
    """Make a folder in one that was set apart, far from its namesakes that were removed.

    Where it lies follows from its first name.
    """
    first = f"{folder}-{os.urandom(8).hex()}"
    os.mkdir(first)
    os.rename(first, folder)
