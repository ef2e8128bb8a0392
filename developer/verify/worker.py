"""Runs the verify commands on the base commit, on the change, and with changed files broken."""

from __future__ import annotations

import os
import signal
import time
import traceback
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from developer.verify.canary import is_code, restore_files
from developer.verify.counts import counted
from developer.verify.in_place import InPlace
from developer.verify.in_worktree import InWorktree, displaced
from developer.verify.job import Done, Job, Result, read_note, verify_file
from developer.verify.lacking import wanting
from developer.verify.lock import adopt_lock
from developer.verify.prepare import check_confirmed
from developer.verify.process import Stopped, read_tail, without_progress
from developer.verify.trees import UNTRACKED, current_tree, differing, show_names, users_tree
from shared.candidates import read_chosen, read_found
from shared.config import commands_hash, write_paths
from shared.git.repository import repository_at, within
from shared.place.enter import CannotEnter
from shared.place.level import lesser
from shared.resources import CANARY
from shared.test_files import is_test
from state.errors import AGAIN, Problem, Refused
from state.files import read_json, unusable, write_json

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from developer.verify.job import Baseline, Counts, Outcome, Where
    from developer.verify.process import Ended
    from developer.verify.trees import Listed

STOPPED_CODE = 130
NOTE_CHARS = 600
# How often all is run where the user's files change meanwhile.
TRIES = 2
# How long the commands may take in all, to be run once more without the change.
MOST_AGAIN_S = 60


class AtBase(NamedTuple):
    """How a command ended on the base, its counts of tests, and what was missing, if it says so."""

    outcome: Baseline = "not-run"
    counts: Counts | None = None
    lacks: str = ""


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
        restore_files(job.file(CANARY))
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
        repository = repository_at(job.repository, job.opened)
        self.notes += displaced(restore_files(job.file(CANARY)))
        for attempt in range(TRIES):
            before = users_tree(repository)
            done = self._in_place() if job.in_place else self._by(InWorktree(job, self._say))
            then = users_tree(repository)
            moved = self._moved(before, then)
            if not moved:
                break
            if attempt == TRIES - 1:
                raise _void(moved)
        # Where the commands ran in the place, only an edit can have changed the worktree.
        in_place = any(result.where == "place" for result in done.results)
        after = done.tree if in_place else current_tree(job)
        wrote = _wrote(differing(repository.git, done.tree, after))
        touched = _touched(before, then)
        done = replace(done, touched=touched, wrote=wrote, notes=tuple(self.notes))
        return {"key": job.key(done.tree), "after": job.key(after), "done": done.to_json()}

    def _moved(self, before: dict[str, Listed], after: dict[str, Listed]) -> list[str]:
        """Return the user's tracked files that changed; commands may write where a person said."""
        allowed = write_paths(self.job.config, self.job.repository) if self.job.confirmed else []
        root = self.job.repository
        return [
            path
            for path in sorted({*before, *after})
            if before.get(path) != after.get(path)
            and UNTRACKED not in (before.get(path, ("",))[0], after.get(path, ("",))[0])
            and not any(within(os.path.join(root, path), folder) for folder in allowed)
        ]

    def _in_place(self) -> Done:
        try:
            return self._by(InPlace(self.job, self._say))
        except CannotEnter as error:
            confirmed = self.job.confirmed
            check_confirmed(self.job.to_confirm, lambda _: confirmed, self.job.state_dir)
            self.notes = [f"the commands ran in the worktree, since {lesser(str(error)).reason}"]
            return self._by(InWorktree(self.job, self._say))

    def _by(self, trials: InPlace | InWorktree) -> Done:
        """Return the results of the commands at the base, on the change and with it broken."""
        job = self.job
        exercised = None
        self.notes += trials.prepare()
        tree = current_tree(job)
        baselines = self._baselines(trials)
        ended = trials.change(tree)
        if all(e.passed for e in ended):
            exercised = trials.exercised(tree, self._code(tree))
        green = None
        if exercised and isinstance(trials, InPlace):
            green = self._green_without(trials, tree, ended, baselines)
        self.notes += trials.notes(ended)
        results = [
            replace(_result(job, e, base, tree, exercised, trials.where), green_without=green)
            for e, base in zip(ended, baselines, strict=True)
        ]
        if results:
            over = read_chosen(job.state_dir).passed_over
            results[0] = replace(results[0], passed_over=tuple(f"{c} ({why})" for c, why in over))
        return Done(tuple(results), tree)

    def _baselines(self, trials: InPlace | InWorktree) -> list[AtBase]:
        """Return how each verify command ends on the base commit; cached by base and commands."""
        job = self.job
        key: dict[str, object] = {"base_tree": job.base_tree}
        key["commands"] = commands_hash(job.to_confirm)
        key |= {"where": trials.where, "network": job.has_network}
        cached = read_note(job.file("baseline.json"))
        if cached.get("key") == key and "ended" in cached:
            return [AtBase(*row) for row in cached["ended"]]
        try:
            ended = trials.base()
        except Refused as refusal:
            self.notes.append(f"the base could not be set up: {refusal}"[:NOTE_CHARS])
            return [AtBase() for _ in job.commands]
        found = [_at_base(job, e, trials.where) for e in ended]
        write_json(job.file("baseline.json"), {"key": key, "ended": found})
        return found

    def _green_without(
        self, trials: InPlace, tree: str, ended: Sequence[Ended], baselines: Sequence[AtBase]
    ) -> bool | None:
        """Return whether the change's tests pass on the base's code too; None if nobody can tell.

        Slow commands are not run once more for it.
        """
        git = repository_at(self.job.repository, self.job.opened).git
        changed = differing(git, self.job.base_tree, tree)
        tests = [path for path in changed if is_test(path, self.job.tests)]
        code = [path for path in self._code(tree) if path not in tests]
        if not tests or not code or sum(e.seconds for e in ended) > MOST_AGAIN_S:
            return None
        found = trials.without(tree, tests)
        if not all(e.passed for e in found):
            return False
        counts = [counted(read_tail(e.log)) for e in ended]
        runs = [
            _runs_tests(with_code, counted(read_tail(e.log)), base.counts, e.command, tests)
            for e, with_code, base in zip(found, counts, baselines, strict=True)
        ]
        return True if any(runs) else None

    def _code(self, tree: str) -> list[str]:
        """Return the changed code files that are not tests."""
        git = repository_at(self.job.repository, self.job.opened).git
        changed = differing(git, self.job.base_tree, tree, "AMT")
        tests = [test.rstrip("/") for test in self.job.tests]
        return [p for p in changed if is_code(p) and not any(within(p, test) for test in tests)]

    def _say(self, what: str) -> bool:
        """Write down what is done now; raise Stopped if the verification is to end."""
        if self.stopped():
            raise Stopped
        if what:
            write_json(self.job.file("progress.json"), {"what": what, "since": time.time()})
        return False


def _runs_tests(
    on_change: Counts | None,
    without: Counts | None,
    at_base: Counts | None,
    command: str,
    tests: Sequence[str],
) -> bool:
    """Return whether a command runs the change's tests: it names one, or counts more of them."""
    if any(path in command for path in tests):
        return True
    return None not in (on_change, without, at_base) and on_change == without and without != at_base


def _void(moved: list[str]) -> Refused:
    """Return the Refused for a result that may be about files which the user was changing."""
    text = f"your tree changed while verify ran, so its result says nothing: {show_names(moved)}"
    return Refused("conflict", "plan verify", text, "leave these files alone meanwhile", AGAIN)


def _listen() -> Callable[[], bool]:
    """Return a function that tells whether this process has received a SIGTERM signal."""
    asked: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _frame: asked.append(number))
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
        # What a shell starts in the background, and all below, would ignore these signals.
        signal.signal(number, signal.SIG_DFL)
    return lambda: bool(asked)


def _at_base(job: Job, ended: Ended, where: Where) -> AtBase:
    tail = read_tail(ended.log)
    lacks = "" if ended.passed else wanting(job, tail, where)
    return AtBase("pass" if ended.passed else "fail", counted(tail), lacks)


def _result(
    job: Job, ended: Ended, base: AtBase, tree: str, exercised: bool | None, where: Where
) -> Result:
    tail = read_tail(ended.log)
    counts = counted(tail)
    outcome: Outcome = "pass" if ended.passed else "fail"
    # With more failing tests than on the base, some failures are new.
    more = counts is not None and base.counts is not None and counts[1] > base.counts[1]
    if outcome == "fail" and base.outcome == "fail" and not more:
        outcome = "known-failure"
    found = [candidate for candidate, _ in read_found(job.state_dir).candidates]
    return Result(
        ended.command,
        base.outcome,
        outcome,
        tree,
        exercised,
        round(ended.seconds, 1),
        ended.log,
        "" if ended.passed else without_progress(ended.tail()),
        where,
        "project"
        if ended.command in job.config.verify
        else "candidate"
        if ended.command in found
        else "assistant",
        counts,
        base.counts,
        base.lacks if outcome == "known-failure" and wanting(job, tail, where) else "",
    )


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
