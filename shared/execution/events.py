"""Store how milestones of a run moved, and tell it as events (PC-12).

The hook comes here too, as it ends a run whose time limit has passed, so this imports little.
"""

from __future__ import annotations

import time

from state import execution
from state.clock import moment
from state.execution import BLOCKED, IN_PROGRESS, NEEDS_DECISION, PENDING, Summary
from state.stages import ACTIVE

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from state.database import Database, Run
    from state.rows import Asked, Progress


def overdue(
    progress: Iterable[Progress], checkpoints: Mapping[str, Asked], now: float
) -> list[Progress]:
    """Return the milestones that wait for a decision whose time limit has passed at `now`."""
    late = {
        asked.id
        for asked in checkpoints.values()
        if asked.timeout_s and "" < asked.asked_at <= moment(now - asked.timeout_s)
    }
    return [
        row for row in progress if row.status == NEEDS_DECISION and not late.isdisjoint(row.waits)
    ]


def settle(database: Database, run: Run) -> None:
    """Store, in a transaction, the milestones of an active run whose decision has timed out."""
    if run.status == ACTIVE and _late(database, run):
        with database:
            for row in _late(database, run):
                store(database, run, database.plan_id(run), execution.after(row, "time out"))


def _late(database: Database, run: Run) -> list[Progress]:
    return overdue(database.progress(run).values(), database.checkpoints(run), time.time())


def store(database: Database, run: Run, plan_id: str, moved: Progress) -> None:
    """Store how far a milestone is now, with the event PlanStepUpdate.

    What failed before stays known of a milestone that is tried again; its event is not told again.
    """
    before = database.progress(run).get(moved.id)
    is_told = before is not None and before.note == moved.note and moved.status != BLOCKED
    database.set_progress(run, moved)
    payload = {
        "plan_id": plan_id, "step_id": moved.id,
        "old_status": before.status if before else PENDING, "new_status": moved.status,
        "notes": "" if is_told else moved.note, "subagent_id": moved.subagent,
    }  # fmt: skip
    database.event(run, "PlanStepUpdate", payload)


def end_run(database: Database, run: Run) -> None:
    """Block what is in progress as its run ends, and tell the summary with PlanCompleted (PC-9).

    Nobody holds the run any more, and an approval in advance ends with it.
    """
    plan_id = database.plan_id(run)
    for row in database.progress(run).values():
        if row.status == IN_PROGRESS:
            moved = execution.after(row, "end", note=execution.ENDED)
            store(database, run, plan_id, moved)
    summary = Summary(database.progress(run).values()).to_json()
    payload = {"plan_id": plan_id, "final_status": run.status, "summary": summary}
    database.event(run, "PlanCompleted", payload)
    database.drop_holder(run)
    database.drop_auto(run)
