"""Undo an applied plan: restore the old file contents, or make a revert commit (PL-31)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from orchestrator.execute.commit import sweep_archive
from orchestrator.path import going_back
from orchestrator.run import cleanup
from orchestrator.run.other_runs import naming_other_runs
from orchestrator.strategy_result import keep_goals
from orchestrator.submit.message import message_of
from orchestrator.submit.readable import refresh
from shared import archive, drift, resources
from shared.git.apply import TakenBack, apply, undo
from shared.git.change import ends, revert_changes
from shared.git.commit import commit
from shared.git.files import remove_tree
from shared.git.fit import Ways, check_fit
from shared.git.intended import UNDO, check_index, check_state, whole
from shared.git.journal import journal_state
from shared.git.proof import find_committed
from shared.git.repository import head
from shared.git.users_files import check_tree
from shared.plan_file import check_frozen
from shared.todo import refresh_todo
from shared.workspace import open_repository
from state.actors import HOST
from state.changes import plan_changes
from state.errors import Refused
from state.files import write_atomic
from state.stages import CANCELLED, EXECUTING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from shared.run import State
    from state.models import Plan


class Undone(NamedTuple):
    """The result of undoing an applied plan: the files restored, or the revert commit made."""

    files: tuple[str, ...]
    revert: str = ""
    # Planned files that the user has committed after an interrupted apply.
    left: tuple[str, ...] = ()
    # Whether the revert commit was there already.
    before: bool = False


def undo_plan(state: State, who: str = HOST) -> Undone:
    """Undo the applied plan of a run: restore the old file contents, or make a revert commit."""
    with state.lock("undo"), naming_other_runs(state):
        done = _undo(state, who)
        refresh(state)
    return done


def _undo(state: State, who: str) -> Undone:
    state.reload()
    journal = resources.journal_path(state.state_dir)
    if state.run.commit_id is not None:
        return _revert(state, who)
    if journal_state(journal) is None and (files := _undo_by_plan(state)):
        return _undone(state, who, TakenBack(files))
    if journal_state(journal) is None:
        text = "this run has applied nothing, so there is nothing to undo"
        raise Refused("conflict", "undo", text, "", state.command("step", "planner"))
    repository, _ = open_repository(state)
    done = undo(repository, journal)
    sweep_archive(state, repository)
    return _undone(state, who, done)


def _undo_by_plan(state: State) -> tuple[str, ...]:
    """Take back a plan whose journal is lost, where all its files are as it has them."""
    if state.run.stage != EXECUTING or state.run.depth == "intent":
        return ()
    plan, folder = check_frozen(state), resources.revert_journal_path(state.state_dir)
    repository, vault = open_repository(state)
    changes = plan_changes(plan)
    if not changes or (journal_state(folder) is None and check_tree(repository, vault, changes)):
        return ()
    back = revert_changes(vault, changes, repository.zero)
    apply(repository, vault, back, folder, plan.digest or "")
    remove_tree(folder)
    return tuple(ends(changes))


def _undone(state: State, who: str, done: TakenBack) -> Undone:
    drift.absorb(state, done.files)
    refresh_todo(state)
    with state.database as database:
        database.audit(state.run, who, "undo", digest=state.run.digest)
        if state.run.stage == EXECUTING:  # not where the next revision is planned already
            with going_back(state, "undone"):
                state.go_to("executor", 2)
    return Undone(done.files, left=done.left)


def _revert(state: State, who: str) -> Undone:
    plan = check_frozen(state)
    repository, vault = open_repository(state)
    changes = revert_changes(vault, plan_changes(plan), repository.zero)
    if state.run.status == CANCELLED:
        cleanup.tidy(state)
        return Undone(tuple(ends(changes)), state.database.reverts(state.run)[-1], before=True)
    folder = resources.revert_journal_path(state.state_dir)
    digest = plan.digest or ""
    archived = dict.fromkeys(archive.paths(state))
    message = _message_of_revert(state, plan)
    is_new = journal_state(folder) in (None, "undone")
    if is_new and (made := find_committed(repository, changes, message, archived)):
        return _reverted(state, who, made, ends(changes))  # made by hand
    at = head(repository)
    # What the commit would refuse is refused before a file is written.
    problems = check_state(repository, at)
    if is_new:
        moved = f"later commits changed this file; see `git revert {state.run.commit_id}`"
        problems += check_fit(repository, vault, changes, Ways(moved))
        problems = problems or check_index(repository, whole(repository, changes, archived))
    if problems:
        raise Refused.of(problems)
    apply(repository, vault, changes, folder, digest)
    try:
        made = commit(repository, vault, changes, message, archived).commit
    except Refused as refusal:
        if head(repository).commit == at.commit:
            undo(repository, folder)  # the files stay as they are committed
        raise _without_undo(state, refusal, message) from None
    return _reverted(state, who, made, ends(changes))


def _message_of_revert(state: State, plan: Plan) -> str:
    title = message_of(plan).splitlines()[0]
    reverts = f"This reverts commit {state.run.commit_id}."
    return f'Revert "{title}"\n\n{reverts}\n\nPlan-Digest: {plan.digest}\n'


def _without_undo(state: State, refusal: Refused, message: str) -> Refused:
    """Return the refusal of a revert commit with ways that do not lead through undo again."""
    title, commit_id = message.splitlines()[0], state.run.commit_id or ""
    start = resources.command("start", "--codepath", state.run.repository, title)
    path = resources.revert_message_path(state.state_dir)
    write_atomic(path, message.encode())
    by_hand = f"`git revert --no-commit {commit_id}`, then "
    by_hand += f"`git commit --no-verify --file {resources.quote(path)}`, then this command again"
    for problem in refusal.problems:
        if problem.retry == UNDO:
            problem.allowed = "make the revert a plan, whose title a hook accepts; or make it "
            problem.allowed += f"without hooks, as your own choice in a terminal: {by_hand}"
            problem.retry = start
    return refusal


def _reverted(state: State, who: str, made: str, files: Iterable[str]) -> Undone:
    """End the run whose commit is taken back by the commit `made`."""
    drift.absorb(state, files)
    with state.database:
        state.move("revert", who, detail=made)
    keep_goals(state)
    cleanup.tidy(state)
    return Undone(tuple(files), made)
