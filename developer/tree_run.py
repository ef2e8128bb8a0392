"""Runs any command of an assistant on the files of a worktree, in the place (VR-3)."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from developer.verification import job_of
from developer.verify.counts import counted, summaries
from developer.verify.in_place import scene
from developer.verify.job import verify_file
from developer.verify.lock import undisturbed
from developer.verify.process import hides_failure, log_name, without_progress
from developer.verify.trees import commit_of, current_tree
from developer.waiting import frozen_tree, is_away
from shared.config import commands_hash
from shared.git.scratch import sweep
from shared.place.enter import CannotEnter
from shared.place.level import lesser, level
from shared.tree_runs import TreeRun, record
from shared.workspace import open_tree
from state.errors import Refused

if TYPE_CHECKING:
    from developer.verify.job import Counts, Job
    from shared.run import State
    from state.models import Plan

# A client waits no longer for a command.
LIMIT_S = 570
_MOST_LOGS = 20
_SAID_LINES, _LINE_CHARS = 5, 160


@dataclass(frozen=True)
class Shown:
    """How a command ended on a git tree."""

    # By which evidence names it.
    number: int
    command: str
    tree: str
    code: int
    seconds: float
    # The end of what it printed, without the lines that show how far tests have come.
    tail: str
    # The file with all that it printed.
    log: str
    # Its bytes, 0 where the end is all of it.
    size: int
    # Files of the repository that it wrote in vain.
    lost: tuple[str, ...] = ()


def run_on_tree(state: State, plan: Plan, command: str, milestone: str | None = None) -> Shown:
    """Run a shell command where the repository holds the files of a worktree; record how it ended.

    That is the run's scratch worktree or the one of a milestone that is being written. Refused
    where there is no place: nobody has confirmed the command.
    """
    job, tree = _job(state, plan, command, milestone)
    folder = verify_file(state.state_dir, "runs")
    os.makedirs(folder, mode=0o700, exist_ok=True)
    sweep(folder)
    log = os.path.join(folder, log_name(_next_number(folder), "run", command))
    try:
        with scene(job, tree, commit_of(job, tree), folder) as shown:
            (ended,) = shown.run([command], lambda _: log)
    except CannotEnter as error:
        raise _no_place(state, lesser(str(error)).reason) from None
    read = ended.tail()
    tail, size = without_progress(read), os.path.getsize(log)
    with state.lock("tree run"):
        seconds = round(ended.seconds)
        counts = counted(read)
        hides = not ended.code and hides_failure(command, pipes=job.text_of(command) == command)
        run = TreeRun(
            command=command, tree=tree, code=ended.code, seconds=seconds,
            said=_summary(tail, counts, hides=hides),
            passed=counts[0] if counts and not counts[1] else 0,
        )  # fmt: skip
        number = record(state.state_dir, run)
    return Shown(
        number, command, tree, ended.code, round(ended.seconds, 1), tail, log,
        size if size > len(read.encode()) + 1 else 0, ended.lost,
    )  # fmt: skip


def _summary(tail: str, counts: Counts | None, *, hides: bool) -> str:
    """Return the counts of tests, where they are known, and the last lines of an output.

    Before them stands what the exit code does not tell; counts are those of the last summary.
    """
    parts = ["(this exit code is that of the last part)"] if hides else []
    if counts:
        many = summaries(tail)
        last = f" (the last of {many} summaries)" if many > 1 else ""
        parts.append(f"{counts[0]} passed, {counts[1]} failed{last}")
    lines = [" ".join(line.split()) for line in tail.splitlines() if line.strip()]
    parts += ["…"] if len(lines) > _SAID_LINES else []
    return " · ".join([*parts, *(line[:_LINE_CHARS] for line in lines[-_SAID_LINES:])])


def _job(state: State, plan: Plan, command: str, milestone: str | None) -> tuple[Job, str]:
    """Return what the command needs, and the git tree of the worktree as it is now."""
    job = job_of(state, plan)
    if not job.in_place:
        raise _no_place(state, level(job.repository).reason)
    limit = min(job.config.time_limit_s, LIMIT_S)
    # A command that nobody has seen gets neither network nor secrets; one of `[verify]` what it
    # has when it verifies.
    seen = command in job.config.verify
    confirmed = seen and state.database.is_confirmed(commands_hash(job.to_confirm))
    job = replace(job, confirmed=confirmed, config=replace(job.config, time_limit_s=limit))
    if milestone is not None:
        there = open_tree(state, milestone)
        start = there.made_at or job.base_commit
        tree = there.repo.git.text("rev-parse", f"{start}^{{tree}}")
        job = replace(job, worktree=there.path, base_commit=start, base_tree=tree)
    elif is_away(state, plan):
        return job, frozen_tree(state, plan)
    with undisturbed(state.state_dir):
        return job, current_tree(job)


def _no_place(state: State, reason: str) -> Refused:
    text = f"any command may run only in the place, and here {reason}"
    named = state.command("tree", "run", "NAME")
    allowed = f"a command that planner.toml names and a person has confirmed: `{named}`"
    return Refused("refused", "tree run", text, allowed)


def _next_number(folder: str) -> int:
    """Return the number of the next log, after removing all but the newest."""
    logs = {int(name.split("-")[0]): name for name in os.listdir(folder) if name[:1].isdigit()}
    for number in sorted(logs)[: -_MOST_LOGS + 1]:
        os.unlink(os.path.join(folder, logs[number]))
    return max(logs, default=0) + 1
