"""The interpreter of all ratios: Debian's own Python where it is new enough, else this one.

It is the fastest to start, and a ratio over a slow base says little: where bare Python takes three
times as long, a command that takes twice as long seems the faster one.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

DEBIAN = "/usr/bin/python3"
PATH = "/usr/bin:/bin"
_IS_NEW_ENOUGH = "import sys; sys.exit(sys.version_info < (3, 11))"
_VERSION = "import platform; print(platform.python_version())"


def _base() -> str:
    if os.access(DEBIAN, os.X_OK) and not subprocess.call([DEBIAN, "-c", _IS_NEW_ENOUGH]):
        return DEBIAN
    # Of a virtual environment, the interpreter that it was made with.
    return os.path.realpath(sys.executable)


# What is measured and compared with.
PYTHON = _base()


def name() -> str:
    """Return the interpreter's version and path, as figures name it."""
    version = subprocess.check_output([PYTHON, "-c", _VERSION], text=True).strip()
    return f"Python {version}, {PYTHON}"


def become() -> None:
    """Start this program again under the interpreter, without what a user has set for Python."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    if PYTHON == DEBIAN and shutil.which("git", path=PATH):
        kept["PATH"] = PATH
    if (PYTHON, kept) != (sys.executable, dict(os.environ)):
        os.execve(PYTHON, [PYTHON, *sys.argv], kept)  # noqa: S606 – its purpose
