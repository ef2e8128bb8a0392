"""Carry out an approved plan with one command: apply, compare, commit, prove (FC-1).

Without git what was applied is compared and nothing is committed (PL-35).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from orchestrator.execute.apply import apply_plan
from orchestrator.execute.commit import check_applied, commit_plan, finish_uncommitted
from orchestrator.execute.reconcile import reconcile
from orchestrator.executor import WORKFLOW
from shared import resources
from shared.execution.holder import holding
from shared.git.journal import journal_state
from shared.git.new_branch import switch_to_new
from shared.git.repository import head
from shared.git.users_files import check_tree
from shared.plan_file import load_approved
from shared.requirements_record import lane_of
from shared.workspace import open_repository
from state.changes import plan_changes
from state.errors import Refused
from state.stages import COMPLETED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from developer.verify.job import Running
    from shared.run import State
    from state.models import Change


class Ran(NamedTuple):
    """How far the plan came: verify that still runs, or the changes that the commit holds.

    With neither, the step that is due says what is to be done.
    """

    running: Running | None = None
    proved: Sequence[Change] | None = None


def run_plan(state: State, branch: str | None = None) -> Ran:
    """Apply an approved plan, compare the tree with it, commit it with the user's hooks, prove it.

    With `branch` all of that is on a new branch of this name, and the one before stays as it is.
    Repeated, also after a crash at any point, it finishes what is left. Of approved intents it
    starts the first milestones; a plan that implements requirements is applied and not committed,
    since they are committed together (RL-9).
    """
    if branch is not None:
        _go_to_branch(state, branch)
    applied = journal_state(resources.journal_path(state.state_dir)) == "applied"
    # What was changed since is for the comparison to judge: it knows what a person has accepted.
    running = None if applied and state.run.step == max(WORKFLOW.steps) else apply_plan(state)
    if running is not None or state.is_writing or lane_of(state.state_dir):
        return Ran(running)
    return Ran(proved=commit_or_end(state))


def _go_to_branch(state: State, branch: str) -> None:
    """Put the user's HEAD on a new branch for an approved plan that is not committed yet."""
    with state.lock("exec run"):
        load_approved(state)
        repository = state.repository
        if repository.is_private or lane_of(state.state_dir):
            text = "this run makes no commit of its own that could be on a branch"
            raise Refused("usage", "--branch", text, "leave --branch out")
        if state.run.commit_id and head(repository).branch != branch:
            text = f"the plan is committed already, as {state.run.commit_id[:12]}"
            raise Refused("conflict", f"--branch {branch}", text, "leave --branch out")
        switch_to_new(repository, branch)


def commit_or_end(state: State) -> Sequence[Change]:
    """Commit an applied plan and prove the commit; without git, compare its files and end the run.

    Returns the changes that are proved.
    """
    if not state.repository.is_private:
        return commit_plan(state)
    with state.lock("exec commit"), holding(state):
        changes = plan_changes(load_approved(state))
        repository, vault = open_repository(state)
        if state.run.status == COMPLETED:
            problems = check_tree(repository, vault, changes)
            for problem in problems:
                problem.allowed = "the run has ended: nothing is left to do"
                problem.retry = "planner status"
        else:
            check_applied(state)
            problems = reconcile(state, repository, vault, changes)
        if problems:
            raise Refused.of(problems)
    finish_uncommitted(state, "not committed: the folder is in no git repository")
    return changes
