"""An approved plan becomes a proven commit: approve, apply, commit, proof (PL-26, PL-29)."""

from __future__ import annotations

import os
import textwrap
from typing import TYPE_CHECKING

from shared import capturing, ending, fingerprints, plans, resources
from shared.builders import Block
from shared.capturing import open_repository
from shared.freezing import begin_writing
from shared.git.apply import apply
from shared.git.change import ends
from shared.git.commit import check_head, commit
from shared.git.journal import journal_state
from shared.git.proof import check_commit
from shared.git.rebase import carry_over
from shared.git.repository import head
from shared.git.tree import check_before
from shared.git.worktree import made_at, make_worktree
from shared.guard.consent import given, is_guarded
from shared.reconciling import reconcile
from shared.run import State, open_state
from shared.start import new_run
from shared.verify.job import Running
from shared.verify.scene import users_tree
from shared.workflow import find_workflow, print_current
from state import store
from state.changes import plan_changes
from state.database import Database
from state.errors import Refused
from state.models import Base

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shared.git.repository import Repository
    from state.models import Change, Plan

SUBJECT_LENGTH = 72


def open_or_adopt(state_dir: str | None, folder: str) -> State:
    """Return the run of a state directory; a frozen plan alone becomes a run (PL-19)."""
    try:
        return open_state(state_dir, folder)
    except Refused:
        if state_dir is None or not os.path.isfile(resources.plan_path(state_dir)):
            raise
    from shared.git.repository import find_repository

    real = os.path.realpath(state_dir)
    repository = find_repository(folder)
    database = Database(resources.database_path(real), create=True)
    with store.Lock(resources.lock_path(real), "adopt"), database:
        run = database.run_at(real) or new_run(
            database, os.path.basename(real), "", repository.root, real
        )
        state = State(real, database, run)
        plan = plans.check_frozen(state)
        if run.status == "IDLE":
            fingerprints.take(fingerprints.place_of(state))
            state.move(
                "adopt", "host", workflow="executor", step=1, digest=plan.digest,
                revision=plan.revision, request=plan.overview.title,
                depth="full" if plan_changes(plan) else "intent",
            )  # fmt: skip
    return state


def waiting_with(folder: str, digest: str) -> str | None:
    """Return the state directory of the one run around `folder` that waits with this digest."""
    path = resources.repository_database(folder)
    runs = Database(path).runs("ACTIVE") if path else []
    found = [r.state_dir for r in runs if r.digest == digest and os.path.isdir(r.state_dir)]
    return found[0] if len(found) == 1 else None


def approve(state: State, digest: str, now: float) -> str:
    """Record a person's approval of exactly this digest and let execution begin."""
    with state.lock("mode approve"):
        check_named(state, digest)
        if state.run.stage == "submitted":
            guarded = is_guarded(state.database, state.database.planning_of(state.run.run_id))
            consent = given(digest, guarded=guarded, now=now)
            fingerprints.check_run(state)
            with state.database as database:
                database.approve(state.run, digest, consent.who, consent.channel)
                state.move("approve", consent.who, detail=f"channel: {consent.channel}", step=2)
    return print_current(state)


def check_named(state: State, digest: str) -> Plan:
    """Return the frozen plan; Refused where it is another than the digest names, or has ended."""
    state.reload()
    plan, run = plans.check_frozen(state), state.run
    if run.status == "CANCELLED":
        raise Refused(
            "refused", state.state_dir, "the run is cancelled", "a new run", "planner start"
        )
    plans.check_going(state)
    if digest != run.digest:
        text = "this is not the digest of the submitted revision; nothing is approved"
        raise Refused("refused", digest, text, f"revision {run.revision}: {run.digest}")
    return plan


def apply_plan(state: State) -> str:
    """Write the approved bytes into the user's tree; finishes what a crash interrupted.

    Approved intents open the revision in which their code is written.
    """
    if state.run.depth == "intent":
        return begin_writing(state, find_workflow("planner"))
    running = _verify_on_new_head(state)
    if running is not None:
        return running
    with state.lock("exec apply"):
        plan = plans.load_approved(state)
        if state.run.status == "COMPLETED":
            return print_current(state)
        repository, vault = open_repository(state)
        changes = plan_changes(plan)
        journal = resources.journal_path(state.state_dir)
        if journal_state(journal) in (None, "undone"):
            problems = check_head(repository, changes)
            if problems:
                raise Refused.of(problems)
        done = apply(repository, vault, changes, journal, plan.digest or "")
        if done.how != "already" or not os.path.exists(resources.scene_path(state.state_dir)):
            store.write_json(resources.scene_path(state.state_dir), users_tree(repository))
        fingerprints.absorb(state, done.files)
        with state.database as database:
            for milestone in plan.milestones:
                database.set_milestone(state.run, milestone.id, "COMPLETED")
            if state.run.step < 3:  # noqa: PLR2004 – step 3 is commit
                database.audit(state.run, "program", "apply", digest=plan.digest)
                state.go_to("executor", 3)
    return print_current(state)


def _verify_on_new_head(state: State) -> str | None:
    """Verify again where HEAD has moved since the plan was made (PL-26); a block while it runs."""
    plan = plans.load_approved(state)
    repository, vault = open_repository(state)
    at, base = head(repository), capturing.base_of(plan)
    applied = journal_state(resources.journal_path(state.state_dir)) not in (None, "undone")
    if applied or not plan.verify or at.commit == base.commit:
        return None
    with state.lock("exec apply"):
        changes = plan_changes(plan)
        problems = check_before(repository, vault, changes) + check_head(repository, changes)
        if problems:
            raise Refused.of(problems)
        if made_at(repository, state.worktree) != at.commit:
            old = base.snapshot or base.commit
            carry_over(repository, state.worktree, vault, old, changes, at.commit)
    on_head = Base(commit=at.commit, branch=base.branch, tree=at.tree)
    moved = plan.model_copy(update={"base": on_head})
    answer = capturing.verify_plan(state, moved)
    if isinstance(answer, Running):
        return capturing.running_block(state, answer, state.command("exec", "apply"))
    if answer.failures:
        output = "\n".join(f"$ {r.command}\n{r.tail}" for r in answer.failures)
        text = f"HEAD has moved to {at.commit[:12]}, and there verify fails"
        allowed = "a revision on the new base"
        again = state.command("plan", "revise")
        raise Refused("refused", "exec apply", text, allowed, again, output)
    return None


def commit_plan(state: State) -> str:
    """Reconcile, commit with the user's hooks, prove it, move the branch, end the run."""
    with state.lock("exec commit"):
        plan = plans.load_approved(state)
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
            fingerprints.absorb(state, ends(changes))
            with state.database as database:
                database.event(state.run, "PlanCompleted", {"commit": done.commit})
                state.move("finish", "program", detail=done.commit, commit_id=done.commit)
        ending.tidy(state)
        return _proof(state, repository, changes)


def _check_applied(state: State) -> None:
    found = journal_state(resources.journal_path(state.state_dir))
    if found != "applied":
        text = f"the plan is not applied (journal: {found or 'none'})"
        raise Refused("conflict", "exec commit", text, "", state.command("exec", "apply"))


def _sweep_archive(state: State, repository: Repository) -> None:
    """Remove the temporary file that a killed commit of this run left in the user's tree."""
    archived = os.path.join(repository.root, resources.archived_plan(state.run.run_id))
    folder, name = os.path.split(archived)
    for found in os.listdir(folder) if os.path.isdir(folder) else ():
        if found.startswith(f".{name}.") and found.endswith(store.TEMPORARY):
            os.unlink(os.path.join(folder, found))


def make_worktree_if_gone(state: State, repository: Repository) -> None:
    """Make a worktree at HEAD to commit in, where the run has none."""
    if not os.path.isdir(state.worktree):
        make_worktree(repository, state.worktree, head(repository).commit)


def _archive(state: State) -> dict[str, bytes]:
    data = store.read_bytes(resources.plan_path(state.state_dir))
    return {resources.archived_plan(state.run.run_id): data}


def message_of(plan: Plan) -> str:
    """Return the commit message: the title, the approach, the trailer that names the digest."""
    title = " ".join(plan.overview.title.split()) or "Apply a plan"
    if len(title) > SUBJECT_LENGTH:
        title = title[: SUBJECT_LENGTH - 1].rstrip() + "…"
    paragraphs = plan.overview.approach.replace("\r\n", "\n").split("\n\n")
    body = "\n\n".join(_filled(p) for p in paragraphs if p.strip())
    return "\n\n".join(p for p in (title, body, f"Plan-Digest: {plan.digest}") if p) + "\n"


def _filled(paragraph: str) -> str:
    text = " ".join(paragraph.split())
    return textwrap.fill(text, SUBJECT_LENGTH, break_on_hyphens=False, break_long_words=False)


def _proof(state: State, repository: Repository, changes: Sequence[Change]) -> str:
    commit_id = state.run.commit_id or ""
    problems = check_commit(repository, commit_id, changes, _archive(state))
    if problems:
        raise Refused.of(problems)
    lines = [
        f"{c.file}: {(c.before or 'absent')[:10]} → {(c.after or 'absent')[:10]}" for c in changes
    ]
    archived = resources.archived_plan(state.run.run_id)
    block = Block("result", commit=commit_id, digest=state.run.digest)
    block.data("proof", "\n".join(lines), files=len(lines))
    text = (
        "Proved: against its parent the commit holds exactly the approved changes, blob by blob, "
        f"and {archived}. The run is complete and planning has ended; tell the user. To take it "
        f"back: {state.command('undo')}"
    )
    return block.task(text).render()
