"""A run ends: completed or cancelled; its worktree goes, its plan and audit stay."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from shared import resources
from shared.builders import Block
from shared.git.files import remove_tree
from shared.git.journal import journal_state
from shared.git.repository import repository_at
from shared.git.vault import remove_vault
from shared.git.worktree import remove_worktree
from shared.run import PERSON
from shared.verify.background import cancel_verify
from state.errors import Refused

if TYPE_CHECKING:
    from shared.run import State


def cancel(state: State) -> str:
    """End the run without applying anything more; repeated, it says the same."""
    return _end(state, "cancel", "")


def reject(state: State, reason: str) -> str:
    """End the run because a person does not want what was submitted."""
    return _end(state, "reject", reason)


def _end(state: State, action: str, reason: str) -> str:
    with state.lock(action):
        state.reload()
        journal = journal_state(resources.journal_path(state.state_dir))
        if journal in ("applying", "undoing"):
            text = "an apply was interrupted; finish it or take it back first"
            raise Refused("conflict", action, text, state.command("undo"))
        if state.run.status == "COMPLETED":
            text = f"the run is completed as commit {state.run.commit_id}"
            raise Refused("refused", action, text, state.command("undo"))
        cancel_verify(state.state_dir)
        if state.run.status != "CANCELLED":
            with state.database as database:
                database.event(state.run, "PlanCompleted", {"status": "CANCELLED"})
                state.move(action, PERSON, detail=reason)
        tidy(state)
    note = "The run is cancelled. Its plan and audit are kept."
    if journal == "applied":
        note += f" What was applied stays in your tree; to take it back: {state.command('undo')}"
    return Block("result").data("cancelled", note).render()


def tidy(state: State) -> None:
    """Remove what only an active run needs, the worktree, vault and the like, as far as it goes.

    The run has ended by now: a file that cannot be removed is no reason to say that it failed.
    """
    with contextlib.suppress(OSError, Refused):
        repository = repository_at(state.run.repository)
        remove_worktree(repository, state.worktree)
        remove_worktree(repository, resources.part_worktree_path(state.state_dir))
        remove_tree(resources.fingerprint_path(state.state_dir))
    remove_vault(resources.vault_path(state.state_dir))
