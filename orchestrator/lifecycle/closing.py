"""Commit completed requirements: history lines, plan, planning folder, in one proved commit (RL-9).

The history gets its two lines before the commit. If that fails they are taken back, and after a
crash the next command finds out whether the commit was made.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

from orchestrator.execute.commit import Also, applied_plan, commit_plan, commit_without_plan
from orchestrator.lifecycle import history, staging
from orchestrator.lifecycle.transition import append, carry_out, forget, perform
from orchestrator.requirements import closed
from orchestrator.requirements_steps import run_of
from shared import resources
from shared.git.proof import trailers
from shared.git.repository import check_startable, repository_at
from shared.lifecycle import HISTORY, read_lifecycle
from state.errors import Refused
from state.files import read_bytes, write_atomic, write_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shared.git.repository import Repository
    from shared.lifecycle import Lifecycle
    from shared.run import State
    from state.models import Change

COMMIT = "commit"
_SEARCHED = "200"


class Closed(NamedTuple):
    """The commit of completed requirements: the plan's changes in it, and its other files."""

    commit: str
    digest: str | None
    changes: Sequence[Change]
    files: Sequence[str]


def commit_completed(state: State, facts: Lifecycle) -> Closed:
    """Make the commit that was shown to the user, prove it, and begin a new round."""
    repository = repository_at(state.run.repository)
    problems = check_startable(facts.codepath)
    if problems:
        raise Refused.of(problems)
    again = state.command("requirements", "complete")
    staging.check_unchanged(repository, facts.staged, again)
    path = facts.path(HISTORY)
    history.read_text(path)
    lines = history.completed(_names(facts)) + history.stamped(f"GIT COMMIT ({facts.text})")
    recorded: dict[str, Any] = {"name": COMMIT, "append": append(path, lines)}
    write_json(resources.transition_path(state.state_dir), recorded)
    try:
        perform(recorded["append"])
        return _close(state, facts)
    except Refused:
        if not _is_committed(repository, facts):
            _take_back(state, facts, lines)
        raise


def _names(facts: Lifecycle) -> list[str]:
    """Return the names of the completed files that are in the commit."""
    staged = {path.rpartition("/")[2] for path in facts.staged}
    return [name for name in facts.completed if name in staged]


def recover(state: State, recorded: dict[str, Any]) -> None:
    """Finish a commit that was made before a crash, or take its history lines back."""
    facts = read_lifecycle(state.state_dir)
    if _is_committed(repository_at(state.run.repository), facts):
        _close(state, facts)
    else:
        _take_back(state, facts, recorded["append"][2])


def _close(state: State, facts: Lifecycle) -> Closed:
    """Stage the history, commit, and begin a new round; done again, it finds the same commit."""
    repository = repository_at(state.run.repository)
    name = _history(repository, facts)
    staged = {**facts.staged, **staging.stage(repository, [name])}
    run = run_of(facts)
    plan = applied_plan(run) if run else None
    files = staging.as_entries(staged, plan)
    shown = (*facts.others, *facts.left_out)
    if run is not None and plan is not None:
        changes = commit_plan(run, Also(facts.message, files, shown))
        run.reload()
        commit = run.run.commit_id or ""
    else:
        changes = []
        commit = commit_without_plan(state, Also(facts.message, files))
    made = Closed(commit, plan.digest if plan else None, changes, list(files))
    facts.begin_round()
    facts.told = _told(made)
    carry_out(state, facts, "closed", [], closed())
    return made


def _told(closed: Closed) -> str:
    text = f"The last round is commit {closed.commit}."
    if closed.digest:
        text += (
            f" Proved against its parent: {len(closed.changes)} files exactly as the plan "
            f"{closed.digest} has them."
        )
    return f"{text} Also in it: {', '.join(closed.files)}."


def _history(repository: Repository, facts: Lifecycle) -> str:
    return os.path.relpath(facts.path(HISTORY), repository.root)


def _is_committed(repository: Repository, facts: Lifecycle) -> bool:
    """Return whether the branch has a commit with the trailers of this round, which only it has."""
    log = repository.git.text("log", "--first-parent", f"-n{_SEARCHED}", "--format=%B%x00", "HEAD")
    wanted = trailers(facts.message)
    return any(set(body.split("\n")).issuperset(wanted) for body in log.split("\0"))


def _take_back(state: State, facts: Lifecycle, lines: str) -> None:
    """Remove the lines of a commit that was not made from history and index."""
    path, added = facts.path(HISTORY), lines.encode()
    old = read_bytes(path)
    if added in old:
        at = old.rindex(added)
        write_atomic(path, old[:at] + old[at + len(added) :])
    repository = repository_at(state.run.repository)
    staging.stage(repository, [_history(repository, facts)])
    forget(state)
