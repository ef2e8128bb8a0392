"""The skill folder that `planner setup` writes: a fixed place for assistants, whatever the version.

It holds a copy of SKILL.md, the launcher, the guard that clients call, and the interpreter to use.
Versions of a plugin lie in folders of their own that come and go; permission rules and hooks name
this one. A start brings it up to date.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import sys

from shared.clients import known
from shared.resources import PROGRAM, ROOT, installed_path, launcher_text
from state.errors import Refused
from state.files import write_atomic

_PLUGINS = f"{os.sep}plugins{os.sep}cache{os.sep}"
_PROGRAM_LINE = "program="


def contents() -> dict[str, tuple[bytes, int]]:
    """Return what belongs in the skill folder: bytes and permission bits by path."""
    return {
        installed_path("SKILL.md"): (_ours("SKILL.md"), 0o644),
        installed_path("hooks", "guard"): (_ours("hooks", "guard"), 0o755),
        **{installed_path("hooks", n): (_ours("hooks", n), 0o644) for n in known.PLUGINS},
        installed_path("bin", "planner"): (launcher_text(PROGRAM).encode(), 0o755),
        installed_path("python"): (f"{interpreter()}\n".encode(), 0o644),
    }


def interpreter() -> str:
    """Return the path of this Python, which outlives virtual environments and is no shim.

    A version manager's shim would cost each call of a tool eight times the start of Python.
    """
    return os.path.realpath(getattr(sys, "_base_executable", "") or sys.executable)


def keep_current() -> None:
    """Bring the skill folder up to date if it is this version's, or an older one's of a plugin.

    Where setup has not been run there is nothing to do, and the folder of another checkout stays.
    """
    if not _is_to_follow(_started_program()):
        return
    for path, (data, mode) in contents().items():
        if path != installed_path("python") and not _holds(path, data):
            # What cannot be written here is for the next setup, and keeps nobody from planning.
            with contextlib.suppress(Refused):
                write_atomic(path, data, mode)


def _is_to_follow(program: str) -> bool:
    """Return whether the launcher's program is ours or another version of the same plugin."""
    if program in ("", PROGRAM):
        return bool(program)
    versions = os.path.dirname(os.path.dirname(os.path.dirname(program)))
    return _PLUGINS in program and versions == os.path.dirname(ROOT)


def _started_program() -> str:
    """Return the program that the launcher of `planner setup` starts, "" without one."""
    try:
        with open(installed_path("bin", "planner"), encoding="utf-8") as file:
            lines = [line for line in file if line.startswith(_PROGRAM_LINE)]
        return shlex.split(lines[0][len(_PROGRAM_LINE) :])[0]
    except (OSError, ValueError, IndexError):
        return ""


def _holds(path: str, data: bytes) -> bool:
    try:
        with open(path, "rb") as file:
            return file.read() == data
    except OSError:
        return False


def _ours(*names: str) -> bytes:
    with open(os.path.join(ROOT, *names), "rb") as file:
        return file.read()
