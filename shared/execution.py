"""An approved plan becomes a proven commit: approve, apply, reconcile, commit, undo."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from shared import ending, plans, resources
from shared.builders import Block
from shared.capturing import open_repository
from shared.git.apply import apply, undo
from shared.git.change import revert_changes
from shared.git.commit import check_head, commit
from shared.git.journal import journal_state
from shared.git.proof import check_commit
from shared.git.repository import head
from shared.git.tree import check_tree
from shared.git.worktree import make_worktree
from shared.run import State, open_state
from shared.start import new_run
from shared.verify.scene import users_tree
from shared.workflow import print_current
from state import store
from state.changes import plan_changes
from state.database import Database
from state.errors import Problem, Refused

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shared.git.repository import Repository
    from state.models import Change, Plan

PERSON = "person (unproven)"
SUBJECT_LENGTH = 72


def open_or_adopt(state_dir: str | None, folder: str) -> State:
    """Return the run of a state directory; one that holds a frozen plan alone becomes a run (PL-19)."""
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
        state.go_to(
            "executor", 1, status="ACTIVE", stage="submitted", digest=plan.digest,
            revision=plan.revision, request=plan.overview.title,
        )  # fmt: skip
    return state


def approve(state: State, digest: str) -> str:
    """Record a person's approval of exactly this digest and let execution begin."""
    with state.lock("mode approve"):
        state.reload()
        plans.check_frozen(state)
        run = state.run
        if digest != run.digest:
            text = "this is not the digest of the submitted revision; nothing is approved"
            raise Refused("refused", digest, text, f"revision {run.revision}: {run.digest}")
        if run.stage == "submitted":
            with state.database as database:
                database.approve(run, digest, PERSON, "command")
                database.audit(run, PERSON, "approve", before="submitted", after="executing",
                               digest=digest)  # fmt: skip
                state.go_to("executor", 2, stage="executing")
    return print_current(state)


def _load_approved(state: State) -> Plan:
    """Return the frozen plan whose digest is approved (PL-26)."""
    state.reload()
    plan = plans.check_frozen(state)
    digest = state.run.digest or ""
    if not state.database.is_approved(state.run, digest):
        text = "no person has approved this revision"
        allowed = f"only a person runs this: {state.command('mode', 'approve', digest)}"
        raise Refused("refused", digest, text, allowed)
    if state.run.status == "CANCELLED":
        raise Refused("refused", state.state_dir, "the run is cancelled", "planner start")
    return plan


def apply_plan(state: State) -> str:
    """Write the approved bytes into the user's tree; finishes what a crash interrupted."""
    with state.lock("exec apply"):
        plan = _load_approved(state)
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
        if done.how != "already" or not os.path.exists(_scene_path(state)):
            store.write_json(_scene_path(state), users_tree(repository.root))
        with state.database as database:
            for milestone in plan.milestones:
                database.set_milestone(state.run, milestone.id, "COMPLETED")
            if state.run.step < 3:  # noqa: PLR2004 – step 3 is commit
                database.audit(state.run, "program", "apply", digest=plan.digest)
                state.go_to("executor", 3)
    return print_current(state)


def _scene_path(state: State) -> str:
    return os.path.join(resources.journal_path(state.state_dir), "tree.json")


def reconcile(state: State, repository: Repository, changes: Sequence[Change]) -> list[Problem]:
    """Return every deviation that nobody accepted: planned files that differ, others touched."""
    _, vault = open_repository(state)
    found = {p.at: p.problem for p in check_tree(repository, vault, changes)}
    planned = {c.file for c in changes} | {c.old_file for c in changes}
    then, now = store.read_json(_scene_path(state)), users_tree(repository.root)
    for file in sorted({*then, *now}):
        if file not in planned and list(now.get(file, ())) != list(then.get(file, ())):
            found.setdefault(file, "was touched after the apply and no milestone plans it")
    accepted = state.database.deviations(state.run)
    return [
        Problem("refused", file, f"{file} {text}" if not text.startswith(file) else text,
                "the file as it was after the apply, or a person accepts it",
                state.command("exec", "accept", "--file", file, "--reason", "TEXT"))
        for file, text in found.items()
        if not accepted.get(file)
    ]  # fmt: skip


def commit_plan(state: State) -> str:
    """Reconcile, commit with the user's hooks, prove it, move the branch, end the run."""
    with state.lock("exec commit"):
        plan = _load_approved(state)
        repository, vault = open_repository(state)
        changes = plan_changes(plan)
        if state.run.status != "COMPLETED":
            _check_applied(state)
            problems = reconcile(state, repository, changes)
            if problems:
                raise Refused.of(problems)
            make_worktree_if_gone(state, repository)
            done = commit(
                repository, state.worktree, vault, changes, message_of(plan), _archive(state)
            )
            with state.database as database:
                database.audit(state.run, "program", "commit", before="executing",
                               after="inactive", digest=plan.digest, detail=done.commit)  # fmt: skip
                database.event(state.run, "PlanCompleted", {"commit": done.commit})
                state.go_to("executor", 3, status="COMPLETED", stage="inactive",
                            commit_id=done.commit)  # fmt: skip
            ending.tidy(state)
        return _proof(state, repository, changes)


def _check_applied(state: State) -> None:
    found = journal_state(resources.journal_path(state.state_dir))
    if found != "applied":
        text = f"the plan is not applied (journal: {found or 'none'})"
        raise Refused("conflict", "exec commit", text, "", state.command("exec", "apply"))


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
    body = plan.overview.approach.strip()
    return "\n\n".join(p for p in (title, body, f"Plan-Digest: {plan.digest}") if p) + "\n"


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
        f"and {archived}. The run is complete; tell the user. To take it back: "
        f"{state.command('undo')}"
    )
    return block.task(text).render()


def deviate(state: State, milestone: str, file: str, reason: str) -> str:
    """Report a deviation; a person accepts it, else the commit is refused (PL-28)."""
    with state.lock("exec deviate"):
        plan = _load_approved(state)
        known = [m.id for m in plan.milestones]
        if milestone not in known:
            raise Refused("not_found", milestone, "there is no such milestone", ", ".join(known))
        with state.database as database:
            database.deviate(state.run, file, milestone, reason)
            database.audit(state.run, "host", "deviate", detail=f"{file}: {reason}")
    block = Block("result").data("deviation", f"{file}: {reason}")
    return block.person(state.command("exec", "accept", "--file", file, "--reason", reason)).render()


def accept_deviation(state: State, file: str, reason: str) -> str:
    """Accept a deviation, reported or not; the commit then leaves the file as it is."""
    with state.lock("exec accept"):
        _load_approved(state)
        with state.database as database:
            if not database.accept_deviation(state.run, file, reason):
                database.deviate(state.run, file, "", reason)
                database.accept_deviation(state.run, file, reason)
            database.audit(state.run, PERSON, "accept deviation", detail=f"{file}: {reason}")
    return print_current(state)


def undo_plan(state: State) -> str:
    """Take an apply back: the bytes from before it, or after the commit a revert commit."""
    with state.lock("undo"):
        state.reload()
        journal = resources.journal_path(state.state_dir)
        if state.run.commit_id is not None:
            return _revert(state)
        if journal_state(journal) is None:
            text = "nothing of this run was applied, so there is nothing to take back"
            raise Refused("conflict", "undo", text, "", state.command("step", "planner"))
        repository, _ = open_repository(state)
        files = undo(repository, journal)
        with state.database as database:
            database.audit(state.run, "host", "undo", digest=state.run.digest)
            if state.run.status == "ACTIVE":
                state.go_to("executor", 2)
    block = Block("result").data("taken back", "\n".join(files))
    block.next("again", state.command("exec", "apply"))
    return block.next("revise", state.command("plan", "revise")).render()


def _revert(state: State) -> str:
    plan = plans.check_frozen(state)
    repository, vault = open_repository(state)
    changes = revert_changes(vault, plan_changes(plan), repository.zero)
    folder = os.path.join(state.state_dir, "revert")
    digest = plan.digest or ""
    if journal_state(folder) in (None, "undone"):
        problems = check_head(repository, changes)
        if problems:
            raise Refused.of(problems)
    apply(repository, vault, changes, folder, digest)
    make_worktree_if_gone(state, repository)
    title = message_of(plan).splitlines()[0]
    message = f'Revert "{title}"\n\nThis reverts commit {state.run.commit_id}.\n\nPlan-Digest: {digest}\n'
    archived = {resources.archived_plan(state.run.run_id): None}
    done = commit(repository, state.worktree, vault, changes, message, archived)
    with state.database as database:
        database.audit(state.run, "host", "revert", digest=digest, detail=done.commit)
        database.set_run(state.run.run_id, status="CANCELLED")
    ending.tidy(state)
    return Block("result", commit=done.commit).data("reverted", state.run.commit_id or "").render()
