"""Make the locked third-party packages importable; install them when they are first needed.

They live in `<interpreter and platform>-<set>-<lock>/` in the user's cache, never in an environment
of the user, so that all versions of the planner with the same lock share them. The lock's checksum
is part of the name, so a renewed lock is simply a folder that is not there yet. `.deps/` beside our
own folders comes first where it has that folder: bin/test installs there, and whoever offers one
checkout to several users can. Only the standard library, and little of it.
"""

from __future__ import annotations

import os
import sys
import zlib
from importlib.machinery import EXTENSION_SUFFIXES

from shared.resources import ROOT as LINKED_ROOT
from shared.resources import packages_path

# Packages are shared by all links that lead to this checkout.
ROOT = os.path.realpath(LINKED_ROOT)
BESIDE = os.path.join(ROOT, ".deps")


def platform_tag() -> str:
    """Return interpreter, processor and C library as one word: `cpython-311-x86_64-linux-gnu`.

    It is the suffix of this interpreter's own extension modules, which is what a wheel must fit;
    macOS leaves the processor out of it.
    """
    tag = EXTENSION_SUFFIXES[0].strip(".").removesuffix(".so")
    return f"{tag}-{os.uname().machine}" if sys.platform == "darwin" else tag


def lock_path(lock: str = "core") -> str:
    """Return the path of the lock file named `lock` ("core", "dev" or "ci")."""
    return os.path.join(ROOT, "requirements", f"{lock}.lock")


def folder(lock: str = "core", home: str = "") -> str:
    """Return the folder for the packages of lock file `lock`, for this Python; it may not exist.

    `home` is where it is if it is not beside our folders; the user's cache unless given.
    """
    with open(lock_path(lock), "rb") as file:
        checksum = zlib.crc32(file.read())
    name = f"{platform_tag()}-{lock}-{checksum:08x}"
    beside = os.path.join(BESIDE, name)
    return beside if os.path.isdir(beside) else os.path.join(home or packages_path(), name)


def ensure(lock: str = "core", home: str = "", *, fresh: bool = False) -> str:
    """Make the packages of the lock file `lock` importable and return the folder they are in.

    Writes nothing when they are installed, unless `fresh`. Raises `Refused` when they cannot be.
    """
    target = folder(lock, home)
    if fresh or not os.path.isdir(target):
        # It needs subprocess and more, which no later start should pay for.
        from shared.installation import install

        install(lock_path(lock), target, fresh=fresh)
    if target not in sys.path:
        index = sys.path.index(ROOT) + 1 if ROOT in sys.path else 0
        sys.path.insert(index, target)
    return target
