"""Compare the user's tree with the applied plan; record and accept differences (PL-28, PL-29)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from developer.verify.trees import users_tree
from shared import resources
from shared.drift import tree_of
from shared.git.repository import within
from shared.git.users_files import check_tree
from shared.plan_file import load_approved
from state.actors import UNPROVEN
from state.errors import Problem, Refused
from state.files import read_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shared.git.repository import Repository
    from shared.git.vault import Vault
    from shared.run import State
    from state.models import Change


def reconcile(
    state: State, repository: Repository, vault: Vault, changes: Sequence[Change]
) -> list[Problem]:
    """Return the unaccepted differences: planned files that differ, other files that changed."""
    found = {p.at: p.problem for p in check_tree(repository, vault, changes)}
    planned = {c.file for c in changes} | {c.old_file for c in changes}
    # A commit that was killed has written its archive already.
    planned.add(resources.archived_plan(state.run.run_id))
    ours = tree_of(state).aside
    then, now = read_json(resources.scene_path(state.state_dir)), users_tree(repository)
    for file in sorted(now):
        mine = file in planned or any(within(file, folder) for folder in ours)
        if not mine and list(now[file][1:]) != list(then.get(file, ()))[1:]:
            found.setdefault(
                file, "was changed after the plan was applied, and no milestone lists this file"
            )
    accepted = state.database.deviations(state.run)
    return [
        Problem("refused", file, f"{file} {text}" if not text.startswith(file) else text,
                "restore the file as `exec apply` wrote it, or let a person accept the difference",
                state.command("exec", "accept", "--file", file))
        for file, text in found.items()
        if not accepted.get(file)
    ]  # fmt: skip


def deviate(state: State, milestone: str, file: str, reason: str) -> None:
    """Record that a file differs from the plan; a commit needs a person to accept it (PL-28)."""
    with state.lock("exec deviate"):
        plan = load_approved(state)
        known = [m.id for m in plan.milestones]
        if milestone not in known:
            raise Refused(
                "not_found", milestone, "the plan has no such milestone", ", ".join(known)
            )
        with state.database as database:
            database.deviate(state.run, file, milestone, reason)
            database.audit(state.run, "host", "deviate", detail=f"{file}: {reason}")


def accept_deviation(state: State, file: str, reason: str) -> None:
    """Record that a person accepts a file differing from the plan; the commit leaves it alone."""
    with state.lock("exec accept"):
        load_approved(state)
        with state.database as database:
            if not database.accept_deviation(state.run, file, reason):
                database.deviate(state.run, file, "", reason)
                database.accept_deviation(state.run, file, reason)
            database.audit(state.run, UNPROVEN, "accept deviation", detail=f"{file}: {reason}")
