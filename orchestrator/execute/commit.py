"""Commit an applied plan and prove that the commit holds exactly the plan's changes (PL-29)."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from orchestrator.execute import by_hand
from orchestrator.execute.people import approved_people
from orchestrator.execute.reconcile import reconcile
from orchestrator.run import cleanup
from orchestrator.strategy_result import keep_goals
from orchestrator.submit.message import files_beside, message_of
from orchestrator.submit.plan_md import render_plan
from orchestrator.submit.readable import refresh
from shared import approval, archive, drift, plan_refs, resources
from shared.approval import Approval
from shared.execution.holder import holding
from shared.git.change import ends
from shared.git.commit import commit
from shared.git.few_paths import index_at, tree_at
from shared.git.intended import UNDO
from shared.git.journal import journal_state
from shared.git.proof import check_commit
from shared.git.repository import head
from shared.plan_file import load_approved
from shared.requirements_record import WORKFLOW, lane_of
from shared.workspace import open_repository
from state.beneath import Beneath
from state.changes import plan_changes
from state.channels import UNPROVEN_CHANNEL
from state.errors import AGAIN, Refused
from state.files import TEMPORARY, read_bytes
from state.stages import ACTIVE, CANCELLED, COMPLETED

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from shared.git.change import Change as AnyChange
    from shared.git.proof import Extra, Staged
    from shared.git.repository import Repository
    from shared.git.vault import Vault
    from shared.run import State
    from state.models import Change, Plan


class Also(NamedTuple):
    """What the commit of completed requirements has besides the plan: message and staged files."""

    message: str
    files: Mapping[str, Staged]
    # Changed files that the user has seen and left out.
    shown: Sequence[str] = ()


def commit_plan(state: State, also: Also | None = None) -> list[Change]:
    """Check the user's tree, commit with the user's hooks, prove the commit, end the run.

    Returns the changes that the commit was proven to hold; repeated, it proves them again. A run
    that implements requirements is committed with them alone, by way of `also`.
    """
    if also is None:
        _check_lane(state)
    with state.lock("exec commit"), holding(state):
        plan = load_approved(state)
        repository, vault = open_repository(state)
        changes = plan_changes(plan)
        copies = files_beside(state, plan, read_bytes(state.plan_path))
        extra: Extra = {**(also.files if also else {}), **copies}
        if state.run.status != COMPLETED:
            check_applied(state)
            sweep_archive(state, repository)
            known = (*also.files, *also.shown) if also else ()
            problems = reconcile(state, repository, vault, changes, known)
            if problems:
                raise Refused.of(problems)
            work = _Work(repository, vault, plan, changes)
            commit_id, detail = _commit(state, work, extra, also)
            drift.absorb(state, ends(changes))
            _keep(state, plan, commit_id, sorted({*extra} - {*copies}))
            with state.database:
                state.move("finish", "program", detail=detail, commit_id=commit_id)
            keep_goals(state)
            refresh(state)
        cleanup.tidy(state)
        if not by_hand.is_proved(state, repository, changes):
            problems = check_commit(repository, state.run.commit_id or "", changes, extra)
            if problems:
                raise Refused.of(problems)
        return changes


class _Work(NamedTuple):
    repository: Repository
    vault: Vault
    plan: Plan
    changes: list[Change]


def _commit(state: State, work: _Work, extra: Extra, also: Also | None) -> tuple[str, str]:
    """Commit what the user has not; return the commit's id and what the audit says of it."""
    repository, vault, plan, changes = work
    tip = head(repository).commit
    if also is not None:
        if part := by_hand.find_some(repository, tip, plan, changes):
            raise _left_to_the_user(state, part.commit)
        made = _make(state, work, changes, also.message, extra)
        return made, made
    if rest := by_hand.rest(repository, tip, vault, plan, changes):
        made = _make(state, work, rest.changes, rest.message, extra)
        return made, by_hand.remember(made, rest.parent, with_rest=True)
    if found := by_hand.find(repository, tip, plan, changes):
        return found.commit, by_hand.remember(found.commit, found.parent)
    made = _make(state, work, changes, message_of(plan), extra)
    return made, made


def _left_to_the_user(state: State, commit: str) -> Refused:
    """Return the refusal of a commit with requirements, of which the user has committed a part."""
    lane = lane_of(state.state_dir)["lifecycle"]
    text = "holds files of the plan already, so the commit that was shown can't be made any more"
    way = "a person commits what is left of it; it stays staged, and the next round begins"
    words = ("requirements", "startup", "--leave-commit")
    return Refused("conflict", commit, text, way, resources.command(*words, state_dir=lane))


def _make(
    state: State, work: _Work, changes: Sequence[AnyChange], message: str, extra: Extra
) -> str:
    """Make the commit without the files whose deviation a person accepted; return its id.

    What leads out by an undo is one of the plan's run, also where requirements are committed.
    """
    accepted = [f for f, yes in state.database.deviations(state.run).items() if yes]
    people = approved_people(state, work.repository)
    words = (work.repository, work.vault, changes, message, extra)
    try:
        made = commit(*words, leave=accepted, people=people)
    except Refused as refusal:
        raise _leading(refusal, state.command("undo")) from None
    return made.commit


def _leading(refusal: Refused, undo: str) -> Refused:
    """Return the refusal of a commit with the way out `undo` where the apply is to be undone."""
    for problem in refusal.problems:
        if problem.at == "git commit" and problem.retry == AGAIN and undo != AGAIN:
            problem.allowed += f"; or take the apply back: {undo}"
        problem.retry = undo if problem.retry == UNDO else problem.retry
    return refusal


def _keep(state: State, plan: Plan, commit: str, staged: Sequence[str]) -> None:
    """Write down what the approval became, and keep it with the plan; repeated after a crash."""
    approved = state.database.approved_by(state.run, plan.digest or "")
    channel, who = approved or (UNPROVEN_CHANNEL, "")
    digest, base = plan.digest or "", plan.base.commit if plan.base else ""
    # Without a file nothing says who was to commit it, which form 1 leaves open.
    given = Approval(digest, base, word=channel, who=who, form=1)
    given = given._replace(commit=commit, staged=tuple(staged))
    approval.note_commit(state.state_dir, given)
    plan_refs.keep(state, plan, render_plan(plan, state.database.answers(state.run)))


def commit_without_plan(state: State, also: Also) -> str:
    """Commit completed requirements that no plan was applied for; return the commit's id."""
    cleanup.tidy(state)
    repository, vault = open_repository(state)
    try:
        done = commit(repository, vault, [], also.message, also.files)
    except Refused as refusal:  # nothing was applied
        raise _leading(refusal, AGAIN) from None
    cleanup.tidy(state)
    return done.commit


def applied_plan(state: State) -> Plan | None:
    """Return a run's approved plan whose bytes are in the user's tree; None if they are not."""
    if journal_state(resources.journal_path(state.state_dir)) != "applied":
        return None
    ended = state.run.status == CANCELLED or state.run.digest is None
    return None if ended else load_approved(state)


def check_planned(state: State, plan: Plan, known: Sequence[str]) -> None:
    """Raise Refused for planned files that are not as applied; `known` files are not judged."""
    repository, vault = open_repository(state)
    problems = reconcile(state, repository, vault, plan_changes(plan), known)
    if problems:
        raise Refused.of(problems)


def finish_uncommitted(state: State, why: str) -> None:
    """End a run whose applied plan the program does not commit."""
    with state.lock("exec finish"):
        state.reload()
        if state.run.status == ACTIVE:
            with state.database:
                state.move("finish", "program", detail=why)
            keep_goals(state)
        cleanup.tidy(state)


def _check_lane(state: State) -> None:
    """Raise Refused for a run that implements requirements: they are committed together."""
    lane = lane_of(state.state_dir)
    if lane:
        text = "this plan implements requirements, and is committed together with them"
        retry = resources.command("step", WORKFLOW, state_dir=lane["lifecycle"])
        allowed = "complete the requirements"
        raise Refused("conflict", "exec commit", text, allowed, retry)


def check_applied(state: State) -> None:
    """Raise Refused unless the run's plan is applied."""
    found = journal_state(resources.journal_path(state.state_dir))
    if found != "applied":
        text = f"the plan is not applied (journal: {found or 'none'})"
        raise Refused("conflict", "exec commit", text, "", state.command("exec", "apply"))


def sweep_archive(state: State, repository: Repository) -> None:
    """Remove copies of the plan that a killed commit of this run left in the user's tree."""
    files, archived = Beneath(repository.root), archive.paths(state)
    if not archived:
        return
    tracked = {*index_at(repository.git, archived), *tree_at(repository.git, "HEAD", archived)}
    for path in archived:
        folder, name = os.path.split(path)
        left = [n for n in files.names(folder) if n.startswith(f".{name}.")]
        ours = [n for n in left if n.endswith(TEMPORARY)] + [name] * (path not in tracked)
        for found in ours:
            files.remove(os.path.join(folder, found))
