"""Starts a verification as a process that outlives the command, waits for it, finds it again."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from developer.verify.job import Done, Running, read_note, verify_file
from developer.verify.lock import VARIABLE, recover, vacancy
from developer.verify.prepare import check_confirmed
from developer.verify.process import read_tail
from developer.verify.trees import current_tree
from shared.config import commands_hash
from shared.resources import ROOT
from state.errors import AGAIN, Problem, Refused
from state.files import write_json

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from developer.verify.job import Job

WAIT_S = 100.0
POLL_S = 0.05
STOP_S = 20.0
# Until a worker that was started has the lock.
BEGIN_S = 10.0

# The shell ends at once, so that the worker is not our child and no caller has to reap it.
_DETACH = '"$@" </dev/null >"$0" 2>&1 &'


def verify(
    job: Job,
    is_confirmed: Callable[[str], bool],
    *,
    wait_s: float = WAIT_S,
    again: bool = False,
    worker: Sequence[str] = (),
) -> Done | Running:
    """Return the verify commands' results for the present worktree, or that they still run.

    A result for the same tree and commands is returned at once; with `again`, or where a command
    fails, only one that no call has returned yet. Attaches to a running verification, and starts
    anew where the worktree was edited meanwhile. Refused where the commands are not confirmed, or
    where setting up fails. `worker` is the worker's command line, by default ours. Call it without
    the state lock, which others need while it waits.
    """
    if not job.commands:
        return Done()
    job = replace(job, confirmed=is_confirmed(commands_hash(job.to_confirm)))
    if not job.in_place:
        check_confirmed(job.to_confirm, is_confirmed, job.state_dir)
    deadline = time.monotonic() + wait_s
    started = False
    while True:
        with vacancy(job.state_dir) as lock:
            if lock is not None:
                recover(job.state_dir)
                answer = _take_result(job, again=again, ours=started)
                if answer is not None:
                    return answer
                # A result of ours that does not fit is that of a worktree edited meanwhile.
                if not started or has_result(job.state_dir):
                    _start(job, lock, worker or _our_worker(job.state_dir))
                    started = True
                elif _has_begun(job):
                    raise _died(job)
        if time.monotonic() >= deadline:
            return Running(describe_running(job.state_dir))
        time.sleep(POLL_S)


def has_result(state_dir: str) -> bool:
    """Return whether results are kept, of whatever tree."""
    return os.path.exists(verify_file(state_dir, "result.json"))


def forget_result(state_dir: str) -> None:
    """Have the next call run the verify commands again, whatever has changed on this machine."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(verify_file(state_dir, "result.json"))


def cancel_verify(state_dir: str) -> bool:
    """End a running verification, restore the files it broke on purpose; return False if none."""
    deadline = time.monotonic() + STOP_S
    asked = False
    while time.monotonic() < deadline:
        with vacancy(state_dir) as lock:
            if lock is not None:
                recover(state_dir)
                return asked
        pid = read_note(verify_file(state_dir, "worker.json")).get("pid", 0)
        if pid and not asked:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)
            asked = True
        time.sleep(POLL_S)
    raise Refused(
        "locked",
        "plan verify",
        "another `plan verify` of this run is running and did not end in time",
        "run the same command again",
    )


def wait_until_idle(state_dir: str, wait_s: float = 0.0) -> Running | None:
    """Wait until no verification runs, then return None; after a while return what still runs."""
    deadline = time.monotonic() + wait_s
    while True:
        with vacancy(state_dir) as lock:
            if lock is not None:
                recover(state_dir)
                return None
        if time.monotonic() >= deadline:
            return Running(describe_running(state_dir))
        time.sleep(POLL_S)


def describe_running(state_dir: str) -> str:
    """Return in words what a running verification does now and for how long."""
    started_at = read_note(verify_file(state_dir, "worker.json")).get("started_at", time.time())
    progress = read_note(verify_file(state_dir, "progress.json"))
    total = max(0, time.time() - started_at)
    if progress.get("since", 0) < started_at:
        return f"verify has run for {total:.0f} s and is preparing the worktree"
    step = max(0, time.time() - progress["since"])
    return f"verify has run for {total:.0f} s; for {step:.0f} s: {progress['what']}"


def _take_result(job: Job, *, again: bool, ours: bool) -> Done | None:
    """Return the stored verification result if it is valid for the present worktree, or None.

    Raises what the worker refused, once: the next call tries again. A result that was returned
    before is not valid if it blocks, since a command may fail now and then, nor with `again`; one
    is that is `ours`, since this call has started it.
    """
    path = job.file("result.json")
    found = read_note(path)
    if not found:
        return None
    if "problems" in found:
        os.unlink(path)
        raise Refused.of(Problem(**problem) for problem in found["problems"])
    key, returned = job.key(current_tree(job)), found.get("returned")
    done = Done.from_json(found["done"])
    is_old = returned and not ours and (again or done.failures)
    # What the commands themselves wrote into the worktree must not start them over and over. Later
    # it is part of what is captured, which has to be verified.
    fits = key == found["key"] or (key == found["after"] and not returned)
    if not fits or is_old:
        return None
    if not returned:
        write_json(path, {**found, "returned": True})
    return done


def _start(job: Job, lock: int, worker: Sequence[str]) -> None:
    """Start the verification's worker process, which inherits `lock` so that it stays locked."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(job.file("result.json"))
    write_json(job.file("job.json"), job.to_json())
    write_json(job.file("worker.json"), {"pid": 0, "started_at": time.time()})
    subprocess.run(
        ["sh", "-c", _DETACH, job.file("worker.log"), *worker],
        cwd=job.state_dir,
        env={**os.environ, VARIABLE: str(lock)},
        stdin=subprocess.DEVNULL,
        start_new_session=True,
        pass_fds=(lock,),
        check=True,
    )


def _our_worker(state_dir: str) -> list[str]:
    program = os.path.join(ROOT, "bin", "planner")
    python = [sys.executable, "-I", "-S", "-X", "utf8", program]
    return [*python, "plan", "verify", "--worker", "--state-dir", state_dir]


def _has_begun(job: Job) -> bool:
    """Return whether the worker has come to work, or has had the time.

    One that has lost the lock, which a program on the way to it may have closed, takes it anew.
    """
    note = read_note(job.file("worker.json"))
    return bool(note.get("pid")) or time.time() > note.get("started_at", 0) + BEGIN_S


def _died(job: Job) -> Refused:
    log = job.file("worker.log")
    text = "the background process of `plan verify` ended without a result"
    if said := read_tail(log):  # its own words: what it runs is kept in other files
        return Refused("internal", "plan verify", text, f"show the user {log}", output=said)
    cause = "something has ended it, such as a limit of memory"
    return Refused("conflict", "plan verify", f"{text}, and without a word: {cause}", "", AGAIN)
