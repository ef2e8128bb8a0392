"""End a run early: remove its scratch worktree, keep its plan and audit log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from developer.verify.background import cancel_verify
from orchestrator.run.cleanup import tidy
from shared import resources
from shared.builders import Block
from shared.git.journal import journal_state
from shared.which_run import quoted
from state.actors import UNPROVEN
from state.errors import Refused
from state.execution import Summary
from state.stages import CANCELLED, COMPLETED

if TYPE_CHECKING:
    from shared.run import State


def cancel(state: State) -> str:
    """End the run without applying anything more; return a note for the person who cancelled it.

    Repeated, it returns the same note.
    """
    return _end(state, "cancel", "")


def reject(state: State, reason: str) -> str:
    """End the run because a person rejects its plan; return a note for that person."""
    return _end(state, "reject", reason)


def _end(state: State, action: str, reason: str) -> str:
    with state.lock(action):
        state.reload()
        journal = journal_state(resources.journal_path(state.state_dir))
        if journal in ("applying", "undoing"):
            text = "`exec apply` or `undo` was interrupted"
            undo = state.command("undo")
            allowed = f"run an interrupted `exec apply` again, or undo the changes: {undo}"
            raise Refused("conflict", action, text, allowed)
        if state.run.status == COMPLETED:
            text = f"the run is completed as commit {state.run.commit_id}"
            raise Refused("refused", action, text, f"undo the commit: {state.command('undo')}")
        cancel_verify(state.state_dir)
        if state.run.status != CANCELLED:
            with state.database:
                state.move(action, UNPROVEN, detail=reason)
        tidy(state)
    note = f"The run {quoted(state.run.request)} is cancelled. Its plan and audit are kept."
    note += _summed_up(state)
    if journal == "applied":
        note += (
            f" What was applied stays in your tree; to undo the changes: {state.command('undo')}"
        )
    return note


def _summed_up(state: State) -> str:
    """Return how far the milestones were, and which were blocked and why; "" if none was begun."""
    summary = Summary(state.database.progress(state.run).values())
    if not summary.total:
        return ""
    blocked = "".join(f" {name}: {why}." for name, why in summary.blocked.items())
    return f" {summary.done} of {summary.total} milestones are done.{blocked}"


def render_end(note: str) -> str:
    """Return the printed block for a run that was cancelled or rejected."""
    return Block("result").data("cancelled", note).render()
