"""Executes evidence: takes lines of a change out, and sees whether a test fails then (RV-9)."""

from __future__ import annotations

import ast
import io
import os
import re
import shlex
import signal
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from developer.candidates.checks import is_check
from developer.verification import job_of
from developer.verify.canary import is_code
from developer.verify.counts import counted
from developer.verify.in_place import scene
from developer.verify.job import verify_file
from developer.verify.process import log_name
from developer.verify.trees import commit_of, differing
from shared.config import commands_hash
from shared.git.few_paths import tree_at
from shared.git.repository import repository_at
from shared.git.scratch import scratch, sweep
from shared.place.enter import CannotEnter
from shared.test_files import is_test
from shared.tree_runs import (
    Trial,
    captured_tree,
    only_shows,
    record_trials,
    trials_on,
    tries_nothing,
)
from state.files import read_json, write_json
from state.validator import path_problem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from developer.verify.job import Job
    from developer.verify.process import Ended
    from shared.git.command import Git
    from shared.run import State
    from shared.tree_runs import Wanted
    from state.models import Plan

# How long all trials of an answer may take, how long one command, and how many run at once.
BUDGET_S, LIMIT_S, AT_ONCE = 300, 60, 4
_POLL_S = 0.01
_PYTEST = re.compile(r"\bpytest\b|\bpy\.test\b")
_PYTHON = (".py", ".pyi")
_PAIRS = {")": "(", "]": "[", "}": "{"}


def make_trials(state: State, plan: Plan, wanted: Sequence[Wanted]) -> None:
    """Try all that evidence names on the captured change, several at once; keep what came out.

    Nothing is kept of what cannot run here, or of what the budget of time does not reach.
    """
    job, tree = job_of(state, plan), captured_tree(state.state_dir)
    known = trials_on(state.state_dir, (tree,))
    due = [one for one in wanted if (one.lines, one.test) not in known]
    if not (due and tree and job.in_place):
        return
    job = replace(job, confirmed=state.database.is_confirmed(commands_hash(job.to_confirm)))
    folder = verify_file(state.state_dir, "runs")
    os.makedirs(folder, mode=0o700, exist_ok=True)
    sweep(folder)
    with scratch(folder) as made:
        found = _beside([_Case(job, tree, made, n, one) for n, one in enumerate(due)])
    with state.lock("qr set"):
        record_trials(state.state_dir, found)


@dataclass(frozen=True)
class _Case:
    """One trial: lines or changed code to be taken out of a git tree, and what runs without."""

    job: Job
    tree: str
    # For temporary files and the result.
    folder: str
    number: int
    wanted: Wanted

    @property
    def result(self) -> str:
        """The path of the file with the trial."""
        return os.path.join(self.folder, f"{self.number}.json")

    def make(self) -> Trial:
        """Run the test with and without; raises CannotEnter."""
        one = self.wanted
        command = self._command() if one.lines else one.test
        trial = Trial(one.lines, one.test, self.tree, command, "")
        if why := (self._unfit(command) or self._with(command)) if one.lines else "":
            return trial._replace(problem=why)
        changed = {one.file: self._taken_out()} if one.lines else {}
        if None in changed.values():
            why = f"without {one.lines} the file cannot be read, or reads the same, so this shows "
            return trial._replace(problem=f"{why}nothing: name the whole statements that matter")
        ended = self._run(
            command, "without", {f: text for f, text in changed.items() if text is not None}
        )
        what = f"without {one.lines}" if one.lines else "with the changed code made unparsable"
        if ended is None:
            return trial
        if ended.passed:
            return trial._replace(problem=f"{command} passes {what} too, so it shows nothing of it")
        if ended.out_of_time and not one.lines:
            why = f"{command} goes on for {LIMIT_S} s {what}, so it does not run the change"
            return trial._replace(problem=why)
        return trial._replace(said=f"fails, {_end(ended)}")

    def _command(self) -> str:
        """Return what runs the named test: itself, or a verify command with it; '' for none."""
        test, every = self.wanted.test, self.job.commands
        path = test.partition("::")[0]
        is_file = not path_problem(path) and tree_at(self._git, self.tree, [path])
        if not (is_file and is_test(path, self.job.tests)):
            return test
        # A linter that is given the test's file does not run it.
        commands = [c for c in every if _PYTEST.search(c) or not is_check(c)]
        named = [command for command in commands if path in command]
        by_pytest = [command for command in commands if _PYTEST.search(command)]
        if by_pytest and ("::" in test or not named):
            return f"{by_pytest[0]} {shlex.quote(test)}"
        return next(iter((*named, *commands)), "")

    def _unfit(self, command: str) -> str:
        """Return why a command is none that could show anything, or ''."""
        if not command:
            return f"no verify command runs {self.wanted.test}: name a whole command"
        shows = f"{command} only shows text, so it tries nothing" if only_shows(command) else ""
        return tries_nothing(command, "") or shows

    def _with(self, command: str) -> str:
        """Return why a command shows nothing with the lines in their place, or ''."""
        ended = self._run(command, "with", {})
        if ended is None:
            return ""
        if not ended.passed:
            return f"{command} fails with {self.wanted.lines} in place as well ({_end(ended)})"
        counts = counted(ended.tail())
        said = f"{counts[0]} passed, {counts[1]} failed" if counts else ended.tail()
        return tries_nothing(command, said)

    def _run(self, command: str, stage: str, changed: dict[str, bytes]) -> Ended | None:
        """Return how a command ends with changed files; of all code, None where none is changed."""
        confirmed = self.job.confirmed and command in self.job.config.verify
        limit = min(self.job.config.time_limit_s, LIMIT_S)
        config = replace(self.job.config, time_limit_s=limit)
        job = replace(self.job, confirmed=confirmed, config=config)
        log = os.path.join(self.folder, log_name(self.number, stage, command))
        with scene(job, self.tree, commit_of(job, self.tree), self.folder) as shown:
            for path, content in changed.items():
                shown.write(path, content)
            if not self.wanted.lines and not shown.break_files(self._code()):
                return None
            return shown.run([command], lambda _: log)[0]

    def _code(self) -> list[str]:
        """Return the changed code files that are no tests."""
        changed = differing(self._git, self.job.base_tree, self.tree, "AMT")
        return [path for path in changed if is_code(path) and not is_test(path, self.job.tests)]

    def _taken_out(self) -> bytes | None:
        """Return the file without the lines; None where it cannot be read or reads the same."""
        path = self.wanted.file
        entry = tree_at(self._git, self.tree, [path]).get(path)
        content = self._git.run("cat-file", "blob", entry.blob) if entry else b""
        return without_lines(path, content, self.wanted.first, self.wanted.last)

    @property
    def _git(self) -> Git:
        return repository_at(self.job.repository, self.job.opened).git


def without_lines(path: str, content: bytes, first: int, last: int) -> bytes | None:
    """Return a file without some of its lines, from 1; None where that cannot be read any more.

    Also where it reads the same: then nothing that runs was taken out. In Python a `pass` takes
    their place where a block would be empty.
    """
    lines = io.BytesIO(content).readlines()
    before, named, after = lines[: first - 1], lines[first - 1 : last], lines[last:]
    if not b"".join(named).strip():
        return None
    if not path.endswith(_PYTHON):
        return b"".join(before + after) if _is_balanced(b"".join(named).decode("latin-1")) else None
    indent = named[0][: len(named[0]) - len(named[0].lstrip())]
    for instead in ([], [indent + b"pass\n"]):
        made = b"".join([*before, *instead, *after])
        with suppress(SyntaxError, ValueError, RecursionError):
            read = ast.dump(ast.parse(made))
            return None if read == ast.dump(ast.parse(content)) else made
    return None


def _is_balanced(text: str) -> bool:
    """Return whether a text closes each bracket that it opens, and no other."""
    still: list[str] = []
    for char in re.sub(r"\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", "", text):
        if char in "([{":
            still.append(char)
        elif char in _PAIRS and (not still or still.pop() != _PAIRS[char]):
            return False
    return not still


def _end(ended: Ended) -> str:
    """Return how a command ended, in few words."""
    counts = counted(ended.tail())
    tests = f", {counts[1]} of {sum(counts)} tests" if counts and counts[1] else ""
    return f"out of time{tests}" if ended.out_of_time else f"exit {ended.code}{tests}"


def _beside(cases: Sequence[_Case]) -> list[Trial]:
    """Make trials in processes of their own, so many at once; return those that came to an end."""
    until, left = time.monotonic() + BUDGET_S, [*cases]
    running: set[int] = set()
    try:
        while left or running:
            while left and len(running) < AT_ONCE:
                running.add(_begin(left.pop(0)))
            running = {child for child in running if os.waitpid(child, os.WNOHANG) == (0, 0)}
            if time.monotonic() > until:
                break
            time.sleep(_POLL_S)
    finally:
        for child in running:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
    done = [case.result for case in cases if os.path.exists(case.result)]
    return [Trial(**read_json(path)) for path in done]


def _begin(case: _Case) -> int:
    """Make a trial in a new process, which writes the result; return the process id."""
    if child := os.fork():
        return child
    try:  # nothing of this process may go on here
        with suppress(CannotEnter):
            write_json(case.result, case.make()._asdict())
    finally:  # whatever it was, the parent sees that there is no result
        os._exit(0)
