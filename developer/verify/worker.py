"""Runs the verify commands on the base commit, in the worktree, and with changed files broken."""

from __future__ import annotations

import os
import re
import signal
import time
import traceback
from typing import TYPE_CHECKING, Any

from developer.verify.canary import break_files, is_code, restore_files
from developer.verify.job import Done, Job, Result, read_note, verify_file
from developer.verify.lock import adopt_lock
from developer.verify.prepare import runner_for, set_up
from developer.verify.process import Stopped
from developer.verify.trees import current_tree, differing, show_names, users_tree
from shared.config import commands_hash
from shared.git.repository import repository_at, within
from shared.git.worktree import make_worktree, remove_worktree
from shared.sandbox import is_available
from state.errors import Problem, Refused
from state.files import read_json, unusable, write_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from developer.verify.job import Baseline, Outcome
    from developer.verify.process import Ended
    from developer.verify.trees import Listed
    from shared.git.command import Git

STOPPED_CODE = 130
NOTE_CHARS = 600

_DENIED = re.compile(
    r"permission denied|operation not permitted|\bEACCES\b|\bEPERM\b", re.IGNORECASE
)


def worker_main(state_dir: str) -> int:
    """Run the verification described in job.json, write result.json; return the exit code.

    Does nothing while another worker runs. On SIGTERM it ends its commands, restores the files and
    leaves no result.
    """
    lock = adopt_lock(state_dir)
    if lock is None:
        return 0
    stopped = _listen()
    write_json(
        verify_file(state_dir, "worker.json"), {"pid": os.getpid(), "started_at": time.time()}
    )
    job = Job.from_json(read_json(verify_file(state_dir, "job.json")))
    answer: dict[str, Any]
    try:
        answer = _Verification(job, stopped).run()
    except Stopped:
        return STOPPED_CODE
    except Refused as refusal:
        answer = {"problems": [_as_json(problem) for problem in refusal.problems]}
    except OSError as error:
        full = unusable(str(error.filename or state_dir), error)
        answer = {"problems": [_as_json(problem) for problem in full.problems]}
    except Exception as error:  # noqa: BLE001 – the caller is in another process and must be told
        traceback.print_exc()
        text = f"verify failed: {error!r}; the traceback is in {job.file('worker.log')}"
        answer = {"problems": [_as_json(Problem("internal", "plan verify", text))]}
    finally:
        restore_files(job.file("canary"))
    write_json(job.file("result.json"), answer)
    return 0


class _Verification:
    """Runs the project's verify commands on one captured tree, from start to stored result."""

    def __init__(self, job: Job, stopped: Callable[[], bool]) -> None:
        self.job = job
        self.stopped = stopped
        self.notes: list[str] = []

    def run(self) -> dict[str, Any]:
        """Run all verify commands and return the content for result.json."""
        job = self.job
        repository = repository_at(job.repository)
        before = users_tree(repository)
        self.notes += _displaced(restore_files(job.file("canary")))
        self._say("setting up the worktree")
        self.notes += set_up(job, job.worktree, "worktree", self.stopped)
        tree = current_tree(job)
        baselines = self._baselines()
        ended = self._run_all(job.worktree, "worktree")
        exercised = self._exercised(repository.git, tree) if all(e.passed for e in ended) else None
        after = current_tree(job)
        results = tuple(
            _result(e, baseline, tree, exercised)
            for e, baseline in zip(ended, baselines, strict=True)
        )
        self.notes += _denied(ended)
        wrote = _wrote(differing(repository.git, tree, after))
        touched = _touched(before, users_tree(repository))
        done = Done(results, tree, touched, wrote, tuple(self.notes))
        return {"key": job.key(tree), "after": job.key(after), "done": done.to_json()}

    def _baselines(self) -> list[Baseline]:
        """Return how each verify command ends on the base commit; cached by base and commands."""
        job = self.job
        key = {"base_tree": job.base_tree, "commands": commands_hash(job.config)}
        cached = read_note(job.file("baseline.json"))
        if cached.get("key") == key:
            return list(cached["baselines"])
        repository, base = repository_at(job.repository), job.file("base")
        remove_worktree(repository, base)
        make_worktree(repository, base, job.base_commit)
        try:
            self._say("setting up the base")
            set_up(job, base, "base", self.stopped)
            ended = self._run_all(base, "base")
        except Refused as refusal:
            self.notes.append(f"the base could not be set up: {refusal}"[:NOTE_CHARS])
            return ["not-run" for _ in job.config.verify]
        finally:
            remove_worktree(repository, base)
        found: list[Baseline] = ["pass" if e.passed else "fail" for e in ended]
        write_json(job.file("baseline.json"), {"key": key, "baselines": found})
        return found

    def _exercised(self, git: Git, tree: str) -> bool | None:
        """Return whether a verify command fails with changed files broken; None if none can be."""
        job = self.job
        files = [
            path
            for path in differing(git, job.base_tree, tree, "AMT")
            if is_code(path) and not any(within(path, test.rstrip("/")) for test in job.tests)
        ]
        broken = break_files(job.file("canary"), job.worktree, files)
        try:
            # The first that fails is the answer; the rest need not run.
            return any(not e.passed for e in self._each(job.worktree, "broken")) if broken else None
        finally:
            self.notes += _displaced(restore_files(job.file("canary")))

    def _run_all(self, worktree: str, stage: str) -> list[Ended]:
        return list(self._each(worktree, stage))

    def _each(self, worktree: str, stage: str) -> Iterator[Ended]:
        commands = self.job.config.verify
        runner = runner_for(self.job, worktree, self.stopped)
        for number, command in enumerate(commands, start=1):
            where = {"base": "at the base", "broken": "with the changed files broken"}
            what = f"command {number} of {len(commands)} {where.get(stage, 'in the worktree')}"
            self._say(f"{what}: {command}")
            yield runner.run(command, self.job.file(f"{number}-{stage}-{_slug(command)}.log"))

    def _say(self, what: str) -> None:
        if self.stopped():
            raise Stopped
        write_json(self.job.file("progress.json"), {"what": what, "since": time.time()})


def _listen() -> Callable[[], bool]:
    """Return a function that tells whether this process has received a SIGTERM signal."""
    asked: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _frame: asked.append(number))
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
        # What a shell starts in the background, and all below, would ignore these signals.
        signal.signal(number, signal.SIG_DFL)
    return lambda: bool(asked)


def _result(ended: Ended, baseline: Baseline, tree: str, exercised: bool | None) -> Result:
    failed: Outcome = "known-failure" if baseline == "fail" else "fail"
    return Result(
        ended.command,
        baseline,
        "pass" if ended.passed else failed,
        tree,
        exercised,
        round(ended.seconds, 1),
        ended.log,
        "" if ended.passed else ended.tail(),
    )


def _displaced(paths: list[str]) -> list[str]:
    if not paths:
        return []
    text = (
        "a command wrote over files that verify had broken on purpose; the originals were restored"
    )
    return [f"{text}: {show_names(paths)}"]


def _denied(ended: list[Ended]) -> list[str]:
    """Return a note if a verify command may have failed only because it was denied writing."""
    failed = [e.command for e in ended if not e.passed and _DENIED.search(e.tail())]
    if not failed or not is_available():
        return []
    text = "commands may write only in the worktree, in TMPDIR and where [verify] write says"
    return [f"{text}, and the output of these mentions denied access: {'; '.join(failed)}"]


def _wrote(paths: list[str]) -> str:
    if not paths:
        return ""
    names = show_names(paths)
    return f"files of the worktree changed while the commands ran: {names}"


def _touched(before: dict[str, Listed], after: dict[str, Listed]) -> str:
    paths = {path for path in (*before, *after) if before.get(path) != after.get(path)}
    if not paths:
        return ""
    return f"files of your own tree changed while verify ran: {show_names(paths)}"


def _as_json(problem: Problem) -> dict[str, str]:
    return {name: getattr(problem, name) for name in Problem.__slots__}


def _slug(command: str) -> str:
    return re.sub(r"[^A-Za-z0-9]+", "-", command).strip("-")[:40] or "command"
