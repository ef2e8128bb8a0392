"""Runs project commands in the place, where a plan's files lie at the repository's own path (VR-2).

Below them are the user's files that git ignores: environments, installed packages, what is
generated. So absolute paths, editable installs and links lead to the change. Nothing lasts.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import secrets
import tempfile
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from developer.verify.canary import broken_text
from developer.verify.cover import cover
from developer.verify.lacking import CUT_OFF, network_way, unreached
from developer.verify.process import (
    OUT_OF_TIME,
    Ended,
    Stopped,
    environment,
    log_name,
)
from developer.verify.trees import commit_of, committed_tree, with_files_of
from shared.builders import counted
from shared.config import secret_paths, write_paths
from shared.git.repository import repository_at
from shared.git.scratch import scratch
from shared.place.enter import CannotEnter, run
from shared.place.git_folders import git_folders
from shared.place.level import forget
from shared.place.planning import verifying_place
from shared.place.unseen import note
from shared.place.values import Covering, Limits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from developer.verify.job import Job, Where
    from shared.place.report import Report
    from shared.place.values import Place

OUTPUT_MAX_BYTES = 64 << 20
# What of the place may make a command fail, and what its output then mentions.
_READ_ONLY = re.compile(r"read-only file system|\bEROFS\b", re.IGNORECASE)
_WRITES = "commands may write only in the repository, the home and TMPDIR, and nothing of it lasts"
TEMPORARY = "/tmp"  # noqa: S108 – the place's own
_NAME_SERVERS = "/etc/resolv.conf"
_SPARE_S = 60.0

# Runs each command by a shell of its own, ends all that it has left behind, and says how it ended:
# our mark, its exit code, the seconds that the system is up. A command that takes too long takes
# all others with it. With a third word, it stops at the first that fails.
_DRIVER = """
mark=$0 limit=$1 stop=$2; shift 2
said() { read -r up _ </proc/uptime; printf '\\n%s %s %s\\n' "$mark" "$1" "$up"; }
said begun
for line
do
  { sleep "$limit"; said late; kill -s KILL -- -1; } &
  sh -c "$line"; code=$?
  { kill -s KILL -- -1; wait; } 2>/dev/null
  said "$code"
  if [ "$stop" ] && [ "$code" != 0 ]; then exit 0; fi
done
"""


@dataclass(frozen=True)
class Scene:
    """A place that shows a git tree at the repository's own path."""

    job: Job
    place: Place
    # The files of this folder lie over the user's.
    files: str

    def break_files(self, paths: Iterable[str]) -> list[str]:
        """Make files of the tree unparsable in the place; return their paths."""
        broken = []
        for path in paths:
            target = os.path.join(self.files, path)
            users = os.path.join(self.place.repository, path)
            original = target if os.path.lexists(target) else users
            if os.path.islink(original) or not os.path.isfile(original):
                continue
            self.write(path, broken_text(path))
            broken.append(path)
        return broken

    def write(self, path: str, content: bytes) -> None:
        """Give a file of the tree another content in the place; its mode stays."""
        target = os.path.join(self.files, path)
        users = os.path.join(self.place.repository, path)
        mode = os.stat(target if os.path.exists(target) else users).st_mode & 0o777
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "wb") as file:
            file.write(content)
        os.chmod(target, mode)

    def run(
        self,
        commands: Sequence[str],
        log: Callable[[int], str],
        stopped: Callable[[], bool] = bool,
        *,
        until_failure: bool = False,
    ) -> list[Ended]:
        """Run shell commands one after the other; return how each ended; raises CannotEnter.

        They see what those before them have written. After one that a limit ended, those that are
        left begin anew. `log` gives the path for the output of a command by its number, from 1.
        """
        ended: list[Ended] = []
        while len(ended) < len(commands):
            left = commands[len(ended) :]
            paths = [log(len(ended) + number) for number in range(1, len(left) + 1)]
            found = self._run(left, paths, stopped, until_failure=until_failure)
            ended += found
            if until_failure and not all(e.passed for e in found):
                break
        return ended

    def _run(
        self,
        commands: Sequence[str],
        logs: Sequence[str],
        stopped: Callable[[], bool],
        *,
        until_failure: bool,
    ) -> list[Ended]:
        """Run commands in one place; return how those ended that were begun."""
        mark = f"planner-{secrets.token_hex(8)}"
        seconds = self.job.config.time_limit_s
        longest = seconds * len(commands) + _SPARE_S
        self.place.limits = Limits(seconds=longest, output=OUTPUT_MAX_BYTES)
        words = ["sh", "-c", _DRIVER, mark, str(seconds), "stop" * until_failure]
        words += map(self.job.text_of, commands)

        def heartbeat() -> None:
            if stopped():
                raise Stopped

        with tempfile.TemporaryFile(dir=os.path.dirname(logs[0])) as output:
            try:
                report = run(self.place, words, output=output.fileno(), heartbeat=heartbeat)
            except CannotEnter as error:
                forget(self.place, str(error))
                raise
            output.seek(0)
            said = output.read()
        report.leave_out_ignored(self.place.repository)
        ended = _ended(commands, logs, said, mark, report)
        for one in ended:
            missed = "" if one.passed else note(self.place, [one.command, one.tail()])
            if missed:
                with open(one.log, "a", encoding="utf-8") as file:
                    file.write(f"\n[{missed}]\n")
        return ended


@contextlib.contextmanager
def scene(job: Job, tree: str, commit: str, folder: str = "") -> Iterator[Scene]:
    """Yield a place in which the repository holds the git tree `tree` and HEAD is `commit`.

    Temporary files lie in `folder`, by default where whoever calls holds the lock on the worktree.
    """
    repo = repository_at(job.repository, job.opened)
    with scratch(folder or os.path.dirname(job.file(""))) as made:
        found = cover(repo, tree, commit, os.path.join(made, "cover"))
        root = os.path.realpath(repo.root)
        covered = {root: Covering(found.folder, found.gone)}
        git_dir = os.path.realpath(repo.git_dir)
        for above in (root, *git_folders(root)):
            if git_dir.startswith(f"{above}/") or git_dir == above:
                into = found.folder if above == root else os.path.join(made, "git")
                target = os.path.join(into, os.path.relpath(git_dir, above))
                os.makedirs(os.path.dirname(os.path.normpath(target)), exist_ok=True)
                os.rename(found.git_files, os.path.normpath(target))
                covered.setdefault(above, Covering(into))
        given = environment(root, TEMPORARY)
        place = verifying_place(root, given, covered, [job.state_dir])
        _allow(job, place, [os.path.join(root, path) for path in found.files])
        yield Scene(job, place, found.folder)


def _allow(job: Job, place: Place, planned: Iterable[str]) -> None:
    """Show the plan's own files whatever their names, and what a person has confirmed."""
    shown = set(planned)
    if job.confirmed:
        shown.update(map(os.path.realpath, secret_paths(job.config, job.repository)))
        place.kept = tuple(map(os.path.realpath, write_paths(job.config, job.repository)))
        place.network = job.config.network
        if place.network:
            place.shown += (os.path.realpath(_NAME_SERVERS),)
    place.allowed = shown


def _ended(
    commands: Sequence[str], logs: Sequence[str], said: bytes, mark: str, report: Report
) -> list[Ended]:
    """Return how the commands ended that were begun, each with its own part of the output."""
    row = re.compile(rb"\n?" + mark.encode() + rb" (begun|late|\d+) ([\d.]+)\n")
    ends = [*row.finditer(said)]
    if not ends:
        raise CannotEnter(report.limit or "the shell did not start")
    found = []
    for number, (begun, end) in enumerate(itertools.pairwise(ends)):
        late, seconds = end[1] == b"late", float(end[2]) - float(begun[2])
        code = OUT_OF_TIME if late else int(end[1])
        found.append(Ended(commands[number], code, seconds, logs[number], late))
        _write(logs[number], said[begun.end() : end.start()])
    unfinished = report.code and not (found and found[-1].out_of_time)
    if len(found) < len(commands) and (unfinished or not found):
        limit = f"\n[ended: {report.limit}]\n" if report.limit else ""
        log = logs[len(found)]
        _write(log, said[ends[-1].end() :] + limit.encode())
        found.append(Ended(commands[len(found)], report.code or OUT_OF_TIME, 0.0, log))
    return [*found[:-1], replace(found[-1], lost=tuple(report.lost))]


def _write(log: str, data: bytes) -> None:
    with open(log, "wb") as file:
        file.write(data)


class InPlace:
    """A place for each tree of a verification; `say` tells what is done and may raise."""

    where: Where = "place"

    def __init__(self, job: Job, say: Callable[[str], bool]) -> None:
        self._job = job
        self._say = say

    def prepare(self) -> list[str]:
        """Do nothing: the user's own environment is there."""
        return []

    def base(self) -> list[Ended]:
        """Run the commands on the base commit."""
        self._tell("at the base")
        with self._scene(self._job.base_tree) as shown:
            return self._run(shown, "base")

    def change(self, tree: str) -> list[Ended]:
        """Run the commands on the git tree `tree`, as it will be committed."""
        self._tell("on the change")
        with self._scene(committed_tree(self._job, tree)) as shown:
            return self._run(shown, "place")

    def exercised(self, tree: str, files: Sequence[str]) -> bool | None:
        """Return whether a command fails with these files broken; None if none can be broken."""
        if not files:
            return None
        self._tell("with the changed files broken")
        with self._scene(committed_tree(self._job, tree)) as shown:
            if not shown.break_files(files):
                return None
            return not all(e.passed for e in self._run(shown, "broken", until_failure=True))

    def without(self, tree: str, tests: Sequence[str]) -> list[Ended]:
        """Run the commands on the base with these tests of the tree, up to the first that fails."""
        self._tell("on the base with the change's tests")
        mixed = committed_tree(self._job, with_files_of(self._job, tree, tests))
        with self._scene(mixed) as shown:
            return self._run(shown, "without", until_failure=True)

    def notes(self, ended: Sequence[Ended]) -> list[str]:
        """Return what in the place may be the reason that a command failed."""
        tails = {e.command: e.tail() for e in ended if not e.passed}
        reach = f"{CUT_OFF}; {network_way(self._job)}"
        kinds = (
            (reach, [c for c, tail in tails.items() if unreached(self._job, tail)]),
            (_WRITES, [c for c, tail in tails.items() if _READ_ONLY.search(tail)]),
        )
        return [
            f"{text}, and the output of these mentions it: {'; '.join(found)}"
            for text, found in kinds
            if found
        ]

    def _scene(self, tree: str) -> contextlib.AbstractContextManager[Scene]:
        return scene(self._job, tree, commit_of(self._job, tree))

    def _tell(self, where: str) -> None:
        commands = self._job.commands
        self._say(f"{counted(len(commands), 'command')} {where}: {'; '.join(commands)}")

    def _run(self, shown: Scene, stage: str, *, until_failure: bool = False) -> list[Ended]:
        commands, job = self._job.commands, self._job

        def log(number: int) -> str:
            return job.file(log_name(number, stage, commands[number - 1]))

        return shown.run(commands, log, lambda: self._say(""), until_failure=until_failure)
