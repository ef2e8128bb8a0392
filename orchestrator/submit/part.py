"""Submit some milestones of a submitted plan as a revision of their own (PM-7).

The part is submitted, not approved: its digest names other bytes than those that the person has
seen, and only now do the project's commands and hooks judge the smaller tree.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

from developer.verification import job_of, with_results
from developer.verify.background import WAIT_S, verify, wait_until_idle
from developer.verify.job import Done, Running
from developer.verify.lock import undisturbed
from developer.verify.trees import current_tree
from developer.waiting import discard, put_away
from orchestrator.submit.freeze import keep_draft, rehearsed
from orchestrator.submit.readable import write_readable
from shared import resources
from shared.drift import check_run
from shared.git.carry import carry_over
from shared.git.few_paths import rebuild
from shared.git.worktree import remove_worktree
from shared.plan_file import check_named
from shared.workspace import base_of, open_repository, open_workspace
from state import store
from state.actors import UNPROVEN
from state.changes import plan_changes
from state.errors import AGAIN, Refused
from state.files import read_bytes, write_atomic
from state.frozen_bytes import digest_of
from state.parts import part_of
from state.stages import SUBMITTED

if TYPE_CHECKING:
    from collections.abc import Collection

    from developer.verify.job import Job
    from shared.run import State
    from state.models import Plan


_COMMAND = "approve --only"
_ALLOWED = "approve the whole plan or other milestones; nothing was changed"


def submit_part(
    state: State, digest: str, only: Collection[str], who: str = UNPROVEN
) -> Running | None:
    """Verify, freeze and submit some milestones of a plan as its next revision.

    Refused, with the revision `digest` as it was, if they need other milestones, do not pass verify
    without them, or could not be committed so. A repeated call continues where the first one
    stopped. Returns what verify is still running, or None once the part is submitted.
    """
    with state.lock(_COMMAND):
        state.reload()
        if _is_frozen(state, digest, only):
            _submit(state, only, who)
            return None
        part = part_of(_submitted(state, digest), only)
        _check_alone(state, part)
    answer = _verified(state, part)
    if isinstance(answer, Running):
        return answer
    with state.lock(_COMMAND):
        whole = _submitted(state, digest)
        path = state.plan_path
        open_workspace(state)  # hooks are looked up in the worktree, which was put away
        try:
            data = _rehearsed(state, with_results(part, answer))
        except Refused:
            put_away(state, whole)
            raise
        kept = resources.superseded_plan_path(state.state_dir, whole.revision)
        write_atomic(kept, read_bytes(path))
        write_atomic(path, data)
        _submit(state, only, who)
    return None


def _submitted(state: State, digest: str) -> Plan:
    """Return the submitted plan; raise Refused if it is approved or the user's tree has changed."""
    plan = check_named(state, digest)
    if state.run.stage != SUBMITTED:
        text = f"the plan is already approved: the run is {state.run.stage}"
        raise Refused(
            "conflict", "--only", text, "revise the plan", state.command("plan", "revise")
        )
    check_run(state)
    return plan


def _is_frozen(state: State, digest: str, only: Collection[str]) -> bool:
    """Return whether plan.json already holds only the chosen milestones, after a killed command."""
    plan = store.load_plan(state.plan_path)
    whole = resources.superseded_plan_path(state.state_dir, plan.revision - 1)
    if plan.frozen_at is None or not os.path.exists(whole):
        return False
    same = {m.id for m in plan.milestones} == set(only)
    return same and digest_of(read_bytes(whole))[0] == digest


def _submit(state: State, only: Collection[str], who: str) -> None:
    """Update worktree and database to the chosen milestones, which plan.json already holds."""
    plan = store.load_plan(state.plan_path)
    if state.run.revision != plan.revision:
        discard(state)  # it holds the whole plan
        _remove(state)
        keep_draft(state, plan)
        with state.database:
            state.move(
                "submit", who, detail=f"{', '.join(sorted(only))} of revision {plan.revision - 1}",
                workflow="executor", step=1, digest=plan.digest, revision=plan.revision,
            )  # fmt: skip
            write_readable(state, plan)


def _check_alone(state: State, part: Plan) -> str:
    """Apply only the chosen milestones to the base commit; return the tree id or raise Refused."""
    _, vault = open_repository(state)
    try:
        return rebuild(vault, base_of(part).tree, plan_changes(part))
    except Refused as refusal:
        text = f"these milestones cannot be applied without the others: {refusal}"
        raise Refused("refused", "--only", text, _ALLOWED) from refusal


def _verified(state: State, part: Plan) -> Done | Running:
    """Run verify on the chosen milestones in a separate worktree; raise Refused if a command fails.

    The run's worktree holds the whole plan until the part is submitted.
    """
    job = job_of(state, part)
    if not job.commands:
        return Done()
    job = replace(job, worktree=resources.part_worktree_path(state.state_dir))
    running = wait_until_idle(state.state_dir, WAIT_S)
    if running is not None:
        return running
    _fill(state, part, job.worktree, job)
    answer = verify(job, state.database.is_confirmed, wait_s=WAIT_S)
    if isinstance(answer, Done) and answer.failures:
        _remove(state)
        output = "\n".join(f"$ {r.command}\n{r.tail}" for r in answer.failures)
        failed = "; ".join(r.command for r in answer.failures)
        text = f"these milestones do not pass verify without the others: {failed} fails"
        raise Refused("refused", "--only", text, _ALLOWED, output=output)
    return answer


def _rehearsed(state: State, part: Plan) -> bytes:
    """Return the bytes of the frozen part; Refused with what would keep it from being committed."""
    try:
        return rehearsed(state, part)
    except Refused as refusal:
        for problem in refusal.problems:
            # The others are ways to another revision of the whole.
            if problem.retry != AGAIN:
                problem.allowed, problem.retry = _ALLOWED, ""
        raise


def _fill(state: State, plan: Plan, worktree: str, job: Job | None = None) -> None:
    """Make `worktree` hold the base commit with the plan's changes and nothing else.

    With a `job`, a worktree that already holds just that is kept, and so is its verify result.
    """
    repository, vault = open_repository(state)
    base, changes = base_of(plan), plan_changes(plan)
    commit = base.snapshot or base.commit
    with undisturbed(state.state_dir):
        known = job if os.path.isdir(worktree) else None
        if known is None or current_tree(known) != _check_alone(state, plan):
            carry_over(repository, worktree, vault, commit, changes, commit)


def _remove(state: State) -> None:
    repository, _ = open_repository(state)
    remove_worktree(repository, resources.part_worktree_path(state.state_dir))
