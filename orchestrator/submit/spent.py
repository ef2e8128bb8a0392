"""What a plan has cost: the time that went by, and what agents are known to have used (LP-1)."""

from __future__ import annotations

import calendar
import time
from typing import TYPE_CHECKING, NamedTuple

from shared.execution.costs import whole_cost

if TYPE_CHECKING:
    from shared.execution.costs import Cost
    from shared.run import State
    from state.models import Plan


class Spent(NamedTuple):
    """What a plan has cost until it was frozen, or until now."""

    # From the request on; None where a time cannot be read.
    seconds: int | None
    # What agents have used, as far as their client has told.
    agents: Cost


def spent_on(state: State, plan: Plan) -> Spent:
    """Return what a run has cost from its request until its plan was frozen, or its last event."""
    rows = state.database.audit_rows(state.run)
    until = plan.frozen_at or (rows[-1]["at"] if rows else "")
    begun, ended = _seconds(state.run.created_at), _seconds(until)
    seconds = None if begun is None or ended is None else max(0, ended - begun)
    return Spent(seconds, whole_cost(state.database, state.run))


def _seconds(text: str) -> int | None:
    try:
        return calendar.timegm(time.strptime(text, "%Y-%m-%dT%H:%M:%SZ"))
    except ValueError:
        return None
