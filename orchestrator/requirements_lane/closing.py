"""Commit completed requirements: history lines, plan, planning folder, in one proved commit (RL-9).

All of it was staged and shown before. If the commit fails it stays open, and after a crash the next
command finds out whether it was made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from orchestrator.execute.commit import Also, applied_plan, commit_plan, commit_without_plan
from orchestrator.execute.people import other_people, proved_or_not
from orchestrator.requirements import closed
from orchestrator.requirements_lane import history, staging
from orchestrator.requirements_lane.transition import carry_out, forget
from orchestrator.requirements_steps import run_of
from shared import resources
from shared.builders import counted
from shared.git.proof import trailers
from shared.git.readiness import check_startable
from shared.requirements_record import read_lane
from state.errors import Refused
from state.files import write_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shared.git.repository import Repository
    from shared.requirements_record import Lane
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
    # How its people and signature are not as approved, in words.
    others: Sequence[str]


def commit_completed(state: State, facts: Lane) -> Closed:
    """Make the commit that was shown to the user, prove it, and begin a new round."""
    repository = state.repository
    problems = check_startable(facts.codepath)
    if problems:
        raise Refused.of(problems)
    again = state.command("requirements", "complete")
    if not facts.staged:
        text = "nothing is staged: the command that stages was interrupted"
        raise Refused("conflict", "requirements commit", text, "stage and show the user", again)
    staging.check_unchanged(repository, facts.staged, again)
    history.read_text(facts)
    write_json(resources.transition_path(state.state_dir), {"name": COMMIT})
    try:
        return _close(state, facts)
    except Refused:
        if not _is_committed(repository, facts):
            forget(state)
        raise


def recover(state: State) -> None:
    """Finish a commit that was made before a crash; one that was not made stays open."""
    facts = read_lane(state.state_dir)
    if _is_committed(state.repository, facts):
        _close(state, facts)
    else:
        forget(state)


def _close(state: State, facts: Lane) -> Closed:
    """Commit what is staged, and begin a new round; done again, it finds the same commit."""
    run = run_of(facts)
    plan = applied_plan(run) if run else None
    files = staging.as_entries(facts.staged, plan)
    if run is not None and plan is not None:
        changes = commit_plan(run, Also(facts.message, files, (*facts.others, *facts.left_out)))
        run.reload()
        commit = run.run.commit_id or ""
    else:
        changes = []
        commit = commit_without_plan(state, Also(facts.message, files))
    others = other_people(run, run.repository, [commit]) if run and plan else []
    made = Closed(commit, plan.digest if plan else None, changes, list(files), others)
    facts.end_round()
    facts.told = _proof_text(made)
    carry_out(state, facts, "closed", [], closed())
    return made


def _proof_text(closed: Closed) -> str:
    text = f"The last round is commit {closed.commit}."
    if closed.digest:
        files = counted(len(closed.changes), "file")
        text += f" {proved_or_not(closed.others)}: against its parent {files} exactly as the plan "
        text += f"{closed.digest} has them."
    return f"{text} Also in it: {', '.join(closed.files)}."


def _is_committed(repository: Repository, facts: Lane) -> bool:
    """Return whether the branch has a commit with the trailers of this round, which only it has."""
    log = repository.git.text("log", "--first-parent", f"-n{_SEARCHED}", "--format=%B%x00", "HEAD")
    wanted = trailers(facts.message)
    return any(set(body.split("\n")).issuperset(wanted) for body in log.split("\0"))
