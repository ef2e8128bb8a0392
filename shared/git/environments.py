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


def without_environments(files: set[bytes]) -> set[bytes]:
    """Return git's paths of files without those that lie in a virtual environment."""
    mark, interpreters = _MARK.encode(), [name.encode() for name in _INTERPRETERS]
    tops = {path.removesuffix(mark) for path in files if path.endswith(b"/" + mark)}
    tops = {top for top in tops if any(top + name in files for name in interpreters)}
    return {path for path in files if not any(map(path.startswith, tops))} if tops else files
