"""Compare the user's tree with the applied plan; record and accept differences (PL-28, PL-29)."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from developer.verify.trees import users_tree
from orchestrator.run.other_runs import written_by_others
from shared import archive, resources
from shared.drift import tree_of
from shared.git.repository import within
from shared.git.users_files import check_tree
from shared.plan_file import load_approved, open_plan
from state import store
from state.actors import HOST, UNPROVEN
from state.edits import apply_edits
from state.errors import Problem, Refused
from state.kept_files import read_kept
from state.milestones import files_of
from state.validator import path_problem

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from shared.git.repository import Repository
    from shared.git.vault import Vault
    from shared.run import State
    from state.models import Change, Plan


def reconcile(
    state: State,
    repository: Repository,
    vault: Vault,
    changes: Sequence[Change],
    agreed: Iterable[str] = (),
) -> list[Problem]:
    """Return the unaccepted differences: planned files that differ, other files that changed.

    `agreed` are files that the user has agreed to commit with the plan.
    """
    found = {p.at: p.problem for p in check_tree(repository, vault, changes)}
    planned = {c.file for c in changes} | {c.old_file for c in changes} | {*agreed}
    # A commit that was killed has written its archive already.
    planned |= {*archive.paths(state)}
    ours = tree_of(state).aside
    then, now = _scene(state), users_tree(repository)
    others = [
        file
        for file in sorted(now)
        if file not in planned
        and not any(within(file, folder) for folder in ours)
        and list(now[file][1:]) != list(then.get(file, ()))[1:]
    ]
    elsewhere = written_by_others(state, repository) if others else ()
    for file in others:
        if file not in elsewhere:
            found[file] = "was changed after the plan was applied, and no milestone lists this file"
    accepted = state.database.deviations(state.run)
    return [
        Problem("refused", file, f"{file} {text}" if not text.startswith(file) else text,
                "restore the file as `exec apply` wrote it, or let a person accept the difference",
                state.command("exec", "accept", "--file", file))
        for file, text in found.items()
        if not accepted.get(file)
    ]  # fmt: skip


def _scene(state: State) -> dict[str, list[object]]:
    """Return the user's tree as the apply has left it; Refused where that record is damaged."""
    path = resources.scene_path(state.state_dir)
    if not os.path.exists(path):
        text = "the record of your tree after the apply is gone"
        allowed = "have it made again: what is changed in the tree by then counts as known"
        raise Refused("not_found", path, text, allowed, state.command("exec", "apply"))
    return read_kept(path, lambda rows: {str(name): [*row] for name, row in rows.items()})


def deviate(state: State, milestone: str, file: str, reason: str, who: str = HOST) -> None:
    """Record that a file differs from the plan; a commit needs a person to accept it (PL-28)."""
    with state.lock("exec deviate"):
        plan = _plan_of(state)
        known = [m.id for m in plan.milestones]
        if milestone not in known:
            raise Refused(
                "not_found", milestone, "the plan has no such milestone", ", ".join(known)
            )
        if wrong := path_problem(file):
            raise Refused("invalid", "--file", wrong, "a relative path of a file in the repository")
        if not reason.strip():
            raise Refused("invalid", "--reason", "the reason is empty", "say why the file differs")
        known_rows = {row.file: row for row in state.database.deviations_of(state.run)}
        same = file in known_rows and known_rows[file].milestone == milestone
        if same and known_rows[file].reason == reason:
            return  # reported already, and perhaps accepted since
        with state.database as database:
            database.deviate(state.run, file, milestone, reason)
            database.audit(state.run, who, "deviate", detail=f"{file}: {reason}")


def accept_deviation(state: State, file: str, reason: str) -> None:
    """Record that a person accepts a file differing from the plan; the commit leaves it alone.

    While agents write, the file becomes an intent of the milestone that reported it, so it will
    be part of the change that is approved.
    """
    with state.lock("exec accept"):
        plan = _plan_of(state)
        if state.is_writing:
            store.save_plan(state.plan_path, _with_intent(state, plan, file))
        with state.database as database:
            if not database.accept_deviation(state.run, file, reason):
                database.deviate(state.run, file, "", reason)
                database.accept_deviation(state.run, file, reason)
            database.audit(state.run, UNPROVEN, "accept deviation", detail=f"{file}: {reason}")


def _plan_of(state: State) -> Plan:
    """Return the approved plan, or the open revision in which agents write approved intents."""
    state.reload()
    return open_plan(state) if state.is_writing else load_approved(state)


def _with_intent(state: State, plan: Plan, file: str) -> Plan:
    """Return the plan with an intent for a file that an agent reported as a deviation."""
    found = {row.file: row for row in state.database.deviations_of(state.run)}
    if file not in found:
        known = ", ".join(found) or "no file is reported"
        raise Refused("not_found", "--file", f"{file} is not reported as a deviation", known)
    row = found[file]
    milestone = next(m for m in plan.milestones if m.id == row.milestone)
    if file in files_of(milestone):
        return plan
    fields = {"milestone": milestone.id, "file": file, "behavior": row.reason}
    listed = {"files": [*milestone.files, file]}
    edits = [
        {"op": "set", "id": milestone.id, "version": milestone.version, "fields": listed},
        {"op": "add", "kind": "intent", "fields": fields},
    ]
    return apply_edits(plan, edits, None)[0]
