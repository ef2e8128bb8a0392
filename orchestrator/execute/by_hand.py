"""Complete a run whose applied files the user has committed by hand (PL-29)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shared.builders import first_of
from shared.git.by_hand import find_by_hand
from shared.git.repository import head

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shared.git.by_hand import ByHand
    from shared.git.repository import Repository
    from shared.run import State
    from state.models import Change, Plan

_MADE = "committed by hand up to "
_SHOWN = 10


def find(repository: Repository, plan: Plan, changes: Sequence[Change]) -> ByHand | None:
    """Return how the user has committed the plan by hand; None for the planner's own commit."""
    made = find_by_hand(repository, head(repository).commit, changes)
    if made is None:
        return None
    bodies = repository.git.text("log", "--format=%B", f"{made.parent}..{made.commit}", "--")
    return None if f"Plan-Digest: {plan.digest}" in bodies.split("\n") else made


def remember(made: ByHand) -> str:
    """Return what the audit says of a plan that was committed by hand."""
    return f"{_MADE}{made.commit}, after {made.parent}"


def is_proved(state: State, repository: Repository, changes: Sequence[Change]) -> bool:
    """Return whether the run was completed by commits of the user's that hold all of the plan."""
    commit = state.run.commit_id or ""
    return _is_by_hand(state) and find_by_hand(repository, commit, changes) is not None


def told(state: State, repository: Repository, changes: Sequence[Change]) -> str:
    """Return the proof in words if the user has committed the plan by hand, else an empty text."""
    made = find_by_hand(repository, state.run.commit_id or "", changes)
    if made is None or not _is_by_hand(state):
        return ""
    beside = ", ".join(first_of(made.beside, _SHOWN))
    also = (
        f" They also hold what is not of the plan, as you committed it: {beside}." if beside else ""
    )
    return (
        f"Proved: your own commits, {made.parent[:12]}..{made.commit[:12]}, hold all approved "
        f"changes, blob by blob, so nothing more is committed.{also}"
    )


def _is_by_hand(state: State) -> bool:
    rows = state.database.audit_rows(state.run)
    return any(r["action"] == "finish" and r["detail"].startswith(_MADE) for r in rows)
