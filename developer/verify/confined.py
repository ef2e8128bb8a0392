"""Runs formatters and hooks in the place; without one, those that a person has confirmed.

They may write only in the folder they run in, in a private one and below the paths that
`[verify] write` names.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import tempfile
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from developer.verify.process import (
    OUT_OF_TIME,
    private_folder,
    run_group,
    temporary_variables,
)
from shared.config import secret_paths, write_paths
from shared.git.settle import Ran
from shared.place.enter import CannotEnter, run
from shared.place.level import forget
from shared.place.planning import capture_place
from shared.place.turns import wait_for_file_tools
from shared.place.values import Limits
from shared.sandbox import adopt_orphans, is_available, wrap

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import IO

    from developer.verify.job import Job
    from state.errors import Refused

HOOK_LIMIT_S = 900.0
HOOK_OUTPUT_MAX_BYTES = 64_000
WRITE = 'so name there what else they need, for example "~/.cache/pre-commit"'
HOOK_LIMITS = (
    "formatters and hooks of a capture may write only in the worktree, in a private TMPDIR and "
    f"where `[verify] write` of planner.toml says, {WRITE}"
)
PLACE_LIMITS = (
    "formatters and hooks of a capture have no network and see no secrets, and what they write "
    "is lost but in the worktree, in a private TMPDIR and where `[verify] write` of planner.toml "
    f"says, {WRITE}"
)


@dataclass(frozen=True)
class Confined:
    """Runs a command in the place; without one, if it may, with limits on where it writes.

    If the kernel can limit writes and fails to, the command does not run.
    """

    writable: tuple[str, ...] = ()
    # The user's, "" if the folder that the command runs in lies in it.
    repository: str = ""
    # Files that the command may read although the place hides others of their kind.
    secrets: tuple[str, ...] = ()
    time_limit_s: float = HOOK_LIMIT_S
    # Why nothing may run without the place, None if it may.
    refused: Refused | None = None
    # Of the run, whose file tools it waits for; "" if none is near.
    state_dir: str = ""

    @classmethod
    def of(cls, job: Job) -> Confined:
        """Return the one for a run's worktrees, with what a person has confirmed."""
        writable = write_paths(job.config, job.repository) if job.confirmed else ()
        secrets = secret_paths(job.config, job.repository) if job.confirmed else ()
        return cls(
            tuple(writable), job.repository, tuple(secrets), refused=job.hooks_refused,
            state_dir=job.state_dir,
        )  # fmt: skip

    def __call__(self, argv: Sequence[str], cwd: str, env: Mapping[str, str], private: str) -> Ran:
        """Run the command `argv` in `cwd`, then end every process that it started."""
        if self.state_dir:
            wait_for_file_tools(self.state_dir)
        temporary = os.path.join(private, "tmp")
        surroundings = {**env, **temporary_variables(temporary)}
        with private_folder(temporary), tempfile.TemporaryFile() as output:
            try:
                code, limits = self._in_the_place(argv, cwd, surroundings, private, output)
            except CannotEnter:
                code = self._outside(argv, cwd, surroundings, private, output)
                limits = HOOK_LIMITS if is_available() else ""
            said = printed(output, code is None and self.time_limit_s)
        return Ran(OUT_OF_TIME if code is None else code, said, limits)

    def _in_the_place(
        self, argv: Sequence[str], cwd: str, env: Mapping[str, str], private: str, output: IO[bytes]
    ) -> tuple[int | None, str]:
        """Return the exit code, None after the time limit, and what limits hold there."""
        place = capture_place(cwd, self.repository, env, (cwd, private, *self.writable))
        place.allowed = {os.path.realpath(path) for path in self.secrets}
        place.shown += folder_of_hook(argv)
        place.limits = Limits(seconds=self.time_limit_s)
        try:
            report = run(place, argv, output=output.fileno())
        except CannotEnter as error:
            forget(place, str(error))
            raise
        if report.code == OUT_OF_TIME and report.limit:
            return None, PLACE_LIMITS
        return report.code, report.limit or PLACE_LIMITS

    def _outside(
        self, argv: Sequence[str], cwd: str, env: Mapping[str, str], private: str, output: IO[bytes]
    ) -> int | None:
        if self.refused:
            raise self.refused
        deadline = time.monotonic() + self.time_limit_s
        words = wrap((cwd, private, *self.writable), list(argv), strict=True)
        # A file, not a pipe: a process left running would keep a pipe open for ever.
        with _no_orphans():
            return run_group(words, cwd, env, output, lambda: time.monotonic() < deadline)


def folder_of_hook(argv: Sequence[str]) -> tuple[str, ...]:
    """Return the folder of the hook that a shell runs, none for a formatter (`Tool.words`).

    It may lie below a folder of which the place has one of its own.
    """
    return tuple(os.path.dirname(word) for word in argv[3:4] if os.path.isabs(word))


def printed(output: IO[bytes], late_s: float = 0) -> str:
    """Return the end of what a formatter or hook printed; with `late_s`, that its time was over."""
    output.seek(max(0, output.seek(0, os.SEEK_END) - HOOK_OUTPUT_MAX_BYTES))
    said = output.read().decode("utf-8", "replace")
    return f"{said}\n[ended by the time limit after {late_s:.0f} s]" if late_s else said


@contextlib.contextmanager
def _no_orphans() -> Iterator[None]:
    """On Linux, end processes that were started in the `with` block and left their group."""
    before = _children()
    adopt_orphans(True)  # noqa: FBT003 – it can only be on or off
    try:
        yield
    finally:
        # Repeated: a process becomes our child only once its parent has ended.
        while left := _children() - before:
            for pid in left:
                try:
                    os.kill(pid, signal.SIGKILL)
                    os.waitpid(pid, 0)
                except (ProcessLookupError, ChildProcessError):
                    continue
                except PermissionError:
                    before.add(pid)  # it runs as another user, such as after sudo
        adopt_orphans(False)  # noqa: FBT003


def _children() -> set[int]:
    found = set()
    for name in os.listdir("/proc") if sys.platform.startswith("linux") else []:
        with contextlib.suppress(OSError):
            if name.isdigit() and _parent(name) == os.getpid():
                found.add(int(name))
    return found


def _parent(pid: str) -> int:
    with open(f"/proc/{pid}/stat", "rb") as file:
        # The name of the program stands in brackets and may hold anything.
        return int(file.read().rpartition(b")")[2].split()[1])
