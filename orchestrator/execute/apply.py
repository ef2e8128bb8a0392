"""Write the approved file contents of a plan into the user's working tree (PL-26, PL-28)."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from developer.verification import verify_plan
from developer.verify.job import Running
from developer.verify.trees import users_tree
from orchestrator.execute.waves import go_on
from orchestrator.executor import WORKFLOW
from orchestrator.run.other_runs import naming_other_runs
from orchestrator.submit.revise import VERIFY, begin_writing
from shared import drift, resources
from shared.execution.deeds import Execution
from shared.execution.holder import holding
from shared.git.apply import apply
from shared.git.carry import carry_over
from shared.git.fit import check_fit
from shared.git.journal import journal_state
from shared.git.kept import is_kept
from shared.git.repository import head
from shared.git.worktree import made_at
from shared.plan_file import load_approved
from shared.todo import refresh_todo
from shared.without_git import keep_up
from shared.workspace import base_of, open_repository
from state.changes import plan_changes
from state.errors import Refused
from state.files import write_json
from state.models import Base
from state.stages import ACTIVE, COMPLETED

if TYPE_CHECKING:
    from shared.run import State


def apply_plan(state: State) -> Running | None:
    """Write the plan's approved file contents into the user's tree, or finish an interrupted apply.

    If only intents are approved, the revision is opened in which their code is written, and the
    first milestones start. Returns what verify is still running, with nothing written; else None.
    """
    if state.run.depth == "intent":
        begin_writing(state)
    if state.is_writing:
        return go_on(state).running
    _keep_up(state)
    running = _verify_on_new_head(state)
    if running is not None:
        return running
    with state.lock("exec apply"), naming_other_runs(state), holding(state):
        plan = load_approved(state)
        if state.run.status == COMPLETED:
            return None
        repository, vault = open_repository(state)
        changes = plan_changes(plan)
        journal = resources.journal_path(state.state_dir)
        if journal_state(journal) in (None, "undone"):
            problems = check_fit(repository, vault, changes)
            if problems:
                raise Refused.of(problems)
        done = apply(repository, vault, changes, journal, plan.digest or "")
        if done.how != "already" or not os.path.exists(resources.scene_path(state.state_dir)):
            write_json(resources.scene_path(state.state_dir), users_tree(repository))
        drift.absorb(state, done.files)
        refresh_todo(state)
        with state.database as database:
            Execution(state).complete_all()
            last = max(WORKFLOW.steps)
            if state.run.step < last:
                passed = [(n, s.name) for n, s in WORKFLOW.steps.items() if n < last]
                database.add_steps(state.run, WORKFLOW.name, passed, "program")
                database.audit(state.run, "program", "apply", digest=plan.digest)
                state.go_to(WORKFLOW.name, last)
    return None


def _keep_up(state: State) -> None:
    """Without git, keep what the user has changed since the plan was made, before it is applied."""
    applied = journal_state(resources.journal_path(state.state_dir)) not in (None, "undone")
    if is_kept(state.run.repository) and not applied and state.run.status == ACTIVE:
        load_approved(state)
        keep_up(state.repository)


def _verify_on_new_head(state: State) -> Running | None:
    """Run verify again if HEAD moved since planning (PL-26); return the job if it still runs."""
    plan = load_approved(state)
    repository, vault = open_repository(state)
    at, base = head(repository), base_of(plan)
    applied = journal_state(resources.journal_path(state.state_dir)) not in (None, "undone")
    if applied or not plan.verify or at.commit == base.commit:
        return None
    with state.lock("exec apply"), naming_other_runs(state):
        changes = plan_changes(plan)
        problems = check_fit(repository, vault, changes)
        if problems:
            raise Refused.of(problems)
        if made_at(repository, state.worktree) != at.commit:
            old = base.snapshot or base.commit
            carry_over(repository, state.worktree, vault, old, changes, at.commit)
    on_head = Base(commit=at.commit, branch=base.branch, tree=at.tree)
    moved = plan.model_copy(update={"base": on_head})
    answer = verify_plan(state, moved)
    if isinstance(answer, Running):
        return answer
    if answer.failures:
        output = "\n".join(f"$ {r.command}\n{r.tail}" for r in answer.failures)
        text = f"HEAD has moved to {at.commit[:12]}, and there the verify commands fail"
        allowed = "revise the plan for the new HEAD"
        again = state.command("plan", "revise", "--cause", VERIFY)
        raise Refused("refused", "exec apply", text, allowed, again, output)
    return None
