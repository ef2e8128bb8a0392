"""Counts what runs in the place, ends all of it at a limit or with the command, says what was lost.

It runs in the first process of the place: what it sees in /proc is the place's alone.
"""

from __future__ import annotations

import os
import select
import time

from shared.place.process_usage import Usage, processes
from shared.place.report import Report

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    from collections.abc import Iterator

    from shared.place.values import Place

_EVERY_MS = 100
_KILL, _SIGNALLED = 9, 128
_OUT_OF_TIME, _STOPPED = 124, 137
# What tools leave everywhere: nobody misses it.
_BY_TOOLS = frozenset({
    ".git", "__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis", ".tox",
    ".nox", ".venv", "venv", "node_modules", "target", "build", "dist", ".gradle", ".next",
    ".turbo", ".cache", ".parcel-cache", ".nyc_output", "coverage", ".eggs", ".planner",
})  # fmt: skip
_ENDINGS = (".pyc", ".egg-info", ".tsbuildinfo")
_MOST_WALKED = 5_000


class Supervisor:
    """Watches the process `command` and all that it starts."""

    def __init__(self, place: Place, layer: int, command: int, alive: int) -> None:
        self._limits = place.limits
        # The open folder that takes what is written in the repository; less than 0 if it all lasts.
        self._layer = layer
        self._command = command
        self._alive = alive
        self._usage = Usage(place.limits.memory, network=place.network)
        self._deadline = time.monotonic() + place.limits.seconds
        self._memory = os.open("/tmp", os.O_RDONLY)  # noqa: S108 – the place's own

    def watch(self) -> Report:
        """Wait until the command ends, has to end or is no longer wanted; end all that is left."""
        limit, code = "", None
        end = os.pidfd_open(self._command)
        poll = select.poll()
        for descriptor in (end, self._alive):
            poll.register(descriptor, select.POLLIN)
        while code is None and not limit:
            ready = [descriptor for descriptor, _ in poll.poll(_EVERY_MS)]
            code = self._reap()
            if code is None:
                limit = self._stopped() if self._alive in ready else self._over()
        _end_all()
        if code is None:
            code = _OUT_OF_TIME if "time" in limit else _STOPPED
        lost = sorted(self._lost())
        return Report(code, limit=limit, lost=lost)

    def _reap(self) -> int | None:
        """Return the command's exit code if it has ended; take leave of orphans that have."""
        while True:
            try:
                ended, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return _STOPPED
            if not ended:
                return None
            if ended == self._command:
                code = os.waitstatus_to_exitcode(status)
                return code if code >= 0 else _SIGNALLED - code

    def _stopped(self) -> str:
        said = os.read(self._alive, 64)
        return f"more than {_size(self._limits.output)} of output" if said else "nobody waits"

    def _over(self) -> str:
        """Return which limit the run has passed, or nothing."""
        limits = self._limits
        if time.monotonic() > self._deadline:
            return f"time limit of {limits.seconds:g} s"
        found = processes()
        if len(found) > limits.processes:  # before a look at each: those that fork leave no time
            return f"more than {limits.processes} processes"
        threads, memory, files = self._usage.of(found)
        written = os.fstatvfs(self._memory)
        passed = {
            f"more than {limits.threads} threads": threads > limits.threads,
            f"more than {_size(limits.memory)} of memory": memory > limits.memory,
            f"more than {limits.open_files} open files": files > limits.open_files,
            f"more than {_size(limits.written)} written": not written.f_bavail,
            f"more than {limits.files} files and folders written": not written.f_favail,
        }
        return next((limit for limit, over in passed.items() if over), "")

    def _lost(self) -> Iterator[str]:
        """Yield the files of the repository that the run wrote or removed."""
        if self._layer < 0:
            return
        folders, left = [""], _MOST_WALKED
        while folders and left > 0:
            folder = folders.pop()
            for name, is_folder in _entries(self._layer, folder):
                left -= 1
                if name in _BY_TOOLS or name.endswith(_ENDINGS):
                    continue
                path = os.path.join(folder, name)
                if is_folder:
                    folders.append(path)
                else:
                    yield path


def _entries(top: int, folder: str) -> list[tuple[str, bool]]:
    """Return name and kind of what is in a folder below the open folder `top`."""
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
    try:
        opened = os.open(folder or ".", flags, dir_fd=top)
    except OSError:
        return []
    with os.scandir(opened) as found:
        entries = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in found]
    os.close(opened)
    return entries


def _end_all() -> None:
    """End all other processes of the place; each is gone when this returns."""
    try:
        while True:
            os.kill(-1, _KILL)
            ended, _ = os.waitpid(-1, 0)
            while ended:
                ended, _ = os.waitpid(-1, os.WNOHANG)
    except (ProcessLookupError, ChildProcessError):
        return


def _size(number: int) -> str:
    return f"{number >> 30} GiB" if number >= 1 << 30 else f"{number >> 20} MiB"
