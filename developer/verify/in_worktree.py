"""Runs the verify commands in worktrees, where the place is not to be had; a person confirms them.

Ignored files of the user, such as an environment, are there only as `[worktree]` links or makes
them.
"""

from __future__ import annotations

import contextlib
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from developer.verify.canary import break_files, restore_files
from developer.verify.prepare import runner_for, set_up
from developer.verify.process import log_name
from developer.verify.trees import show_names, stand_in
from shared.git.repository import repository_at
from shared.git.worktree import make_worktree, remove_worktree
from shared.resources import CANARY
from shared.sandbox import is_available

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from developer.verify.job import Job, Where
    from developer.verify.process import Ended

_DENIED = re.compile(
    r"permission denied|operation not permitted|\bEACCES\b|\bEPERM\b", re.IGNORECASE
)
_STAGES = {"base": "at the base", "broken": "with the changed files broken"}


class InWorktree:
    """The scratch worktree, and one more for the base; `say` tells what is done and may raise."""

    where: Where = "worktree"

    def __init__(self, job: Job, say: Callable[[str], bool]) -> None:
        self._job = job
        self._say = say
        self._notes: list[str] = []

    def prepare(self) -> list[str]:
        """Set up the scratch worktree; return remarks."""
        self._say("setting up the worktree")
        return [*set_up(self._job, self._job.worktree, "worktree", self._stopped)]

    def base(self) -> list[Ended]:
        """Run the commands on the base commit; Refused where that cannot be set up."""
        job = self._job
        repository, base = repository_at(job.repository, job.opened), job.file("base")
        remove_worktree(repository, base)
        make_worktree(repository, base, job.base_commit)
        try:
            self._say("setting up the base")
            set_up(job, base, "base", self._stopped)
            return [*self._each(base, "base")]
        finally:
            remove_worktree(repository, base)

    def change(self, _tree: str) -> list[Ended]:
        """Run the commands on the scratch worktree, and beside it what else is committed."""
        with self._broken(()):
            return [*self._each(self._job.worktree, "worktree")]

    def exercised(self, _tree: str, files: Sequence[str]) -> bool | None:
        """Return whether a command fails with these files broken; None if none can be broken."""
        with self._broken(files) as broken:
            if not broken:
                return None
            # The first that fails is the answer; the rest need not run.
            return any(not e.passed for e in self._each(self._job.worktree, "broken"))

    def notes(self, ended: Sequence[Ended]) -> list[str]:
        """Return what a reader should know of how the commands ended."""
        return [*self._notes, *_denied(ended)]

    def _each(self, worktree: str, stage: str) -> Iterator[Ended]:
        commands = self._job.commands
        runner = runner_for(self._job, worktree, self._stopped)
        for number, command in enumerate(commands, start=1):
            what = f"command {number} of {len(commands)} {_STAGES.get(stage, 'in the worktree')}"
            self._say(f"{what}: {command}")
            log = self._job.file(log_name(number, stage, command))
            yield replace(runner.run(self._job.text_of(command), log), command=command)

    @contextlib.contextmanager
    def _broken(self, files: Sequence[str]) -> Iterator[list[str]]:
        """Have files broken meanwhile, and stand-ins of ours that the commit adds (CM-1)."""
        job = self._job
        beside = {path: stand_in(path) for path in job.beside}
        try:
            yield break_files(job.file(CANARY), job.worktree, files, beside)
        finally:
            self._notes += displaced(restore_files(job.file(CANARY)))

    def _stopped(self) -> bool:
        return self._say("")


def displaced(paths: Sequence[str]) -> list[str]:
    """Return a note on the files that a command wrote over while they were broken on purpose."""
    if not paths:
        return []
    text = (
        "a command wrote over files that verify had broken on purpose; the originals were restored"
    )
    return [f"{text}: {show_names(paths)}"]


def _denied(ended: Sequence[Ended]) -> list[str]:
    """Return a note if a verify command may have failed only because it was denied writing."""
    failed = [e.command for e in ended if not e.passed and _DENIED.search(e.tail())]
    if not failed or not is_available():
        return []
    text = "commands may write only in the worktree, in TMPDIR and where [verify] write says"
    return [f"{text}, and the output of these mentions denied access: {'; '.join(failed)}"]
