"""Tells virtual environments of Python, which are installed and never count as work."""

from __future__ import annotations

import os

_MARK = "pyvenv.cfg"
_INTERPRETERS = ("bin/python", "bin/python3", "Scripts/python.exe")


def is_environment(folder: str) -> bool:
    """Return whether a folder is a virtual environment: it has the file that marks one, and runs.

    The mark alone may be a file that a test reads.
    """
    found = (os.path.lexists(os.path.join(folder, name)) for name in _INTERPRETERS)
    return os.path.isfile(os.path.join(folder, _MARK)) and any(found)


def without_environments(root: str, files: set[bytes]) -> set[bytes]:
    """Return git's paths of untracked files without those of virtual environments.

    Of an environment git may list the mark alone, since `bin` and `lib` are often ignored anywhere.
    """
    mark = _MARK.encode()
    tops = {path.removesuffix(mark) for path in files if path.endswith(b"/" + mark)}
    tops = {top for top in tops if is_environment(os.path.join(root, os.fsdecode(top)))}
    return {path for path in files if not any(map(path.startswith, tops))} if tops else files
