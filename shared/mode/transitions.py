"""Changes stage and status of a run and its agents, with an audit entry, in a transaction (PM-1).

Nothing else changes them.
"""

from __future__ import annotations

import os
import time

from shared import resources
from shared.mode import sessions
from shared.mode.sessions import of_agent
from state import stages
from state.clock import now
from state.errors import Refused
from state.stages import ACTIVE, IDLE, INACTIVE, PAUSED, READ_ONLY, SUBMITTED

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    from state.database import Database, Planning, Run


def change_run(
    database: Database, run: Run, action: str, who: str, *, at: str = "", detail: str = "",
    **values: object,
) -> None:  # fmt: skip
    """Change the stage and status of a run and its agents by an action such as submit or approve.

    Use it in a transaction: it reads what the database holds now, and raises Refused if that does
    not allow the action any more. `values` are further columns of the run.
    """
    current = database.run(run.run_id) or run
    stage, status = stages.after(current.stage, current.status, action)
    database.move_run(run.run_id, stage, status, **values)
    moved = database.run(run.run_id) or current
    for row in database.planning_of(run.run_id):
        columns = _columns(action, stage, at or now(), who)
        database.set_planning(
            row.agent_name, phase=stage, revision=moved.revision, digest=moved.digest, **columns
        )
        _publish_later(database, row.agent_name, moved)
    if action == "resume":
        database.ask_again(run)  # no time limit counts while a run is paused
    if moved.status in (stages.COMPLETED, stages.CANCELLED) and action != "close":  # no plan ended
        # Imported at the end alone: the guard and printed steps come here too.
        from shared.execution.events import end_run

        end_run(database, moved)
    before, after = (stages.described(r.stage, r.status) for r in (current, moved))
    database.audit(
        run, who, action, before=before, after=after, digest=moved.digest or current.digest,
        detail=detail, at=at,
    )  # fmt: skip


def change_agent(
    database: Database, agent: str, action: str, who: str, *, at: str = "", detail: str = "",
    **values: object,
) -> None:  # fmt: skip
    """Change the stage and status of an agent without a run by an action such as enter or pause.

    As `change_run`; `values` are further columns of the agent's row, all of them if it is new.
    """
    row = database.planning(agent)
    stage, status = (INACTIVE, IDLE) if row is None else (row.phase, status_of(row))
    led, to = stages.after(stage, status, action)
    if row and row.run_id and stage != INACTIVE:
        text = (
            f"`mode {action}` is for a plan without a run, "
            f"but this session is part of the run {row.run_id}"
        )
        raise Refused("conflict", f"mode {action}", text, "", "planner status")
    if action == "enter":
        check_only_here(database.path, agent)
    columns = {"phase": led, **_columns(action, led, at or now(), who), **values}
    database.set_planning(agent, **columns)
    moved = database.planning(agent)
    _publish_later(database, agent, None)
    if action == "enter":
        _join_later(database, agent)
    database.audit(
        None, who, action, before=stages.described(stage, status),
        after=led if led == INACTIVE else stages.described(led, to),
        digest=moved.digest if moved else None, detail=detail, at=at, agent=agent,
    )  # fmt: skip


def bind(database: Database, run: Run, agent: str, limits: dict[str, object], at: str = "") -> None:
    """Make an agent join a run under way, at the run's stage, giving up the agent's earlier plan.

    Refused if joining would let a session that is read-only elsewhere start writing; a person must
    first end its planning mode. Use it in a transaction.
    """
    run, row = database.run(run.run_id) or run, database.planning(agent)
    if row is not None and row.run_id == run.run_id and row.phase == run.stage:
        return
    left = stages.described(row.phase, status_of(row)) if row else INACTIVE
    if run.stage == INACTIVE:
        text = f"the run is {run.status.lower()}: nobody can join it"
        raise Refused("conflict", run.run_id, text, "choose a run that is active", "planner status")
    if row and row.phase in READ_ONLY and run.stage not in READ_ONLY:
        text = (
            f"this session is {left} elsewhere; joining a run that is executing would end that plan"
        )
        raise Refused(
            "refused",
            agent,
            text,
            "ask the user to end the planning elsewhere: planner cancel",
        )
    check_only_here(database.path, agent)
    at = at or now()
    values: dict[str, object] = {
        "run_id": run.run_id, "phase": run.stage, "task_description": run.request,
        "plan_json": None, "reason": None, "revision": run.revision, "digest": run.digest,
        "gathering_start": at, "last_tool_at": at, "approved_at": None, "approved_by": None,
        "submitted_at": at if run.stage == SUBMITTED else None,
        "paused_at": at if run.status == PAUSED else None, **limits,
    }  # fmt: skip
    database.set_planning(agent, **values)
    _publish_later(database, agent, run)
    _join_later(database, agent)
    where = stages.described(run.stage, run.status)
    database.audit(run, "host", "bind", before=left, after=where, agent=agent, at=at)


def check_only_here(path: str, agent: str) -> None:
    """Raise Refused for an agent that already plans by another database than the one at `path`.

    There need be no database yet: a command asks this before it makes anything.
    """
    other = of_agent(agent)
    if other is None or other.database == os.path.realpath(path):
        return
    # Not at the top: nearly all commands find no other database.
    from shared.mode.memory import Memory

    left = Memory(other)
    if left.gone:
        text = f"this session plans elsewhere, and what remembers that is gone ({left.gone})"
        allowed = "a person ends the guarding of that plan"
        retry = f"planner cancel --agent {resources.quote(other.session)}"
        raise Refused("conflict", agent, text, allowed, retry)
    row = left.row
    if row is not None and row.phase != INACTIVE:
        home = other.state_dir or os.path.dirname(other.database)
        text = f"this session already plans elsewhere ({row.phase}), in {home}; it can plan once"
        end = resources.command("cancel", state_dir=home)
        allowed = "go on there, or ask the user to end the planning there"
        raise Refused("conflict", agent, text, allowed, end)


def status_of(row: Planning) -> str:
    """Return the status of an agent without a run: IDLE, ACTIVE or PAUSED, as a run's is called."""
    if row.phase == INACTIVE:
        return IDLE
    return PAUSED if row.paused_at else ACTIVE


def _publish_later(database: Database, agent: str, run: Run | None) -> None:
    def publish() -> None:
        row = database.planning(agent)
        if row is not None:
            sessions.publish(row, database.path, run)
        if not sessions.is_anyone_there():
            # Not at the top: a printed step does without it.
            from shared.guard import texts

            texts.tidy(time.time(), kept_s=-1)

    database.after_commit(publish)


def _join_later(database: Database, agent: str) -> None:
    """Once it is stored that an agent plans, let hooks find the client that runs this command."""

    def join() -> None:
        database.begun = True
        sessions.join_client(agent)

    database.after_commit(join)


def _columns(action: str, stage: str, at: str, who: str) -> dict[str, object]:
    """Return the columns, besides the stage, that an action changes in an agent's database row."""
    unanswered = {"submitted_at": None, "approved_at": None, "approved_by": None}
    waits = {"submitted_at": at} if stage == SUBMITTED else {}
    columns: dict[str, dict[str, object]] = {
        "enter": {**unanswered, "gathering_start": at, "last_tool_at": at, "paused_at": None},
        "adopt": {"submitted_at": at, "last_tool_at": at},
        "submit": {"submitted_at": at, "last_tool_at": at},
        "revise": {**unanswered, "last_tool_at": at},
        "approve": {"approved_at": at, "approved_by": who, "last_tool_at": at},
        "pause": {"paused_at": at},
        "resume": {"paused_at": None, "last_tool_at": at, **waits},
    }
    return columns.get(action, {"paused_at": None})
