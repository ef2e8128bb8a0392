"""Commit an applied plan and prove that the commit holds exactly the plan's changes (PL-29)."""

from __future__ import annotations

import os
import textwrap
from typing import TYPE_CHECKING

from orchestrator.execute.reconcile import reconcile
from shared import cleanup, drift, resources
from shared.git.change import ends
from shared.git.commit import commit
from shared.git.journal import journal_state
from shared.git.proof import check_commit
from shared.git.repository import head
from shared.git.worktree import make_worktree
from shared.plan_file import load_approved
from shared.workspace import open_repository
from state.changes import plan_changes
from state.errors import Refused
from state.files import TEMPORARY, read_bytes

if TYPE_CHECKING:
    from shared.git.repository import Repository
    from shared.run import State
    from state.models import Change, Plan


SUBJECT_LENGTH = 72


def commit_plan(state: State) -> list[Change]:
    """Check the user's tree, commit with the user's hooks, prove the commit, end the run.

    Returns the changes that the commit was proven to hold; repeated, it proves them again.
    """
    with state.lock("exec commit"):
        plan = load_approved(state)
        repository, vault = open_repository(state)
        changes = plan_changes(plan)
        if state.run.status != "COMPLETED":
            _check_applied(state)
            _sweep_archive(state, repository)
            problems = reconcile(state, repository, vault, changes)
            if problems:
                raise Refused.of(problems)
            make_worktree_if_gone(state, repository)
            done = commit(
                repository, state.worktree, vault, changes, message_of(plan), _archive(state)
            )
            drift.absorb(state, ends(changes))
            with state.database as database:
                database.event(state.run, "PlanCompleted", {"commit": done.commit})
                state.move("finish", "program", detail=done.commit, commit_id=done.commit)
        cleanup.tidy(state)
        commit_id = state.run.commit_id or ""
        problems = check_commit(repository, commit_id, changes, _archive(state))
        if problems:
            raise Refused.of(problems)
        return changes


def _check_applied(state: State) -> None:
    found = journal_state(resources.journal_path(state.state_dir))
    if found != "applied":
        text = f"the plan is not applied (journal: {found or 'none'})"
        raise Refused("conflict", "exec commit", text, "", state.command("exec", "apply"))


def _sweep_archive(state: State, repository: Repository) -> None:
    """Remove temporary plan copies that a killed commit of this run left in the user's tree."""
    archived = os.path.join(repository.root, resources.archived_plan(state.run.run_id))
    folder, name = os.path.split(archived)
    for found in os.listdir(folder) if os.path.isdir(folder) else ():
        if found.startswith(f".{name}.") and found.endswith(TEMPORARY):
            os.unlink(os.path.join(folder, found))


def make_worktree_if_gone(state: State, repository: Repository) -> None:
    """Make a scratch git worktree at HEAD to commit in, if the run has none."""
    if not os.path.isdir(state.worktree):
        make_worktree(repository, state.worktree, head(repository).commit)


def _archive(state: State) -> dict[str, bytes]:
    data = read_bytes(state.plan_path)
    return {resources.archived_plan(state.run.run_id): data}


def message_of(plan: Plan) -> str:
    """Return the commit message: the plan's title, its approach, a trailer line with its digest."""
    title = " ".join(plan.overview.title.split()) or "Apply a plan"
    if len(title) > SUBJECT_LENGTH:
        title = title[: SUBJECT_LENGTH - 1].rstrip() + "…"
    paragraphs = plan.overview.approach.replace("\r\n", "\n").split("\n\n")
    body = "\n\n".join(_filled(p) for p in paragraphs if p.strip())
    return "\n\n".join(p for p in (title, body, f"Plan-Digest: {plan.digest}") if p) + "\n"


def _filled(paragraph: str) -> str:
    text = " ".join(paragraph.split())
    return textwrap.fill(text, SUBJECT_LENGTH, break_on_hyphens=False, break_long_words=False)
