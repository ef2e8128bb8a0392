"""Time limits of planning mode: which have passed, and how that changes a run or agent (PM-8).

Hooks call this before each tool and each prompt, so it imports little. Nothing runs while a plan
waits: the next command or hook finds the time passed. One that only reads shows what that changes
(`run_at`, `row_at`); hooks, and commands that change something, store it first (`settle`).
"""

from __future__ import annotations

from shared.mode.sessions import last_call
from shared.mode.transitions import change_agent, change_run, status_of
from state import stages
from state.clock import moment

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any, TypeVar

    from state.database import Database, Planning, Run

    Row = TypeVar("Row", Planning, Run)

TIME_LIMIT = "time limit"  # who it was, in the audit


def columns(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return a project's time limits of planning as column values of an agent's database row."""
    minutes = 60
    return {
        "gathering_timeout_s": config.get("gathering_timeout_minutes", 60) * minutes,
        "approval_timeout_s": config.get("approval_timeout_minutes", 30) * minutes,
        "on_timeout": config.get("on_timeout", "pause"),
    }


def run_at(run: Run, rows: Sequence[Planning], now: float) -> tuple[Run, str]:
    """Return a run with a passed time limit applied (paused or ended), and which; stores nothing.

    `rows` are its agents. The text is "" if none has passed. `now` is in seconds since the epoch,
    here and below.
    """
    text = _passed(rows, now)
    if not text:
        return run, ""
    stage, status = stages.after(run.stage, run.status, rows[0].on_timeout)
    return _with(run, stage=stage, status=status), text


def row_at(database: Database, agent: str, now: float) -> tuple[Planning | None, str]:
    """Return an agent's database row with a passed time limit applied, and which limit passed.

    Stores nothing. The row is None for an agent that never planned, the text "" as in `run_at`.
    """
    row = database.planning(agent)
    if row is None:
        return None, ""
    text = _passed(_bound_with(database, row), now)
    if not text:
        return row, ""
    phase, status = stages.after(row.phase, status_of(row), row.on_timeout)
    paused_at = moment(now) if status == stages.PAUSED else None
    return _with(row, phase=phase, paused_at=paused_at), text


def settle(database: Database, agent: str, now: float) -> str:
    """Pause or cancel a run or agent past its time limit; return in words what changed."""
    row = database.planning(agent)
    if row is None or not _passed(_bound_with(database, row), now):
        return ""
    with database:
        row = database.planning(agent) or row
        text = _passed(_bound_with(database, row), now)
        if not text:
            return ""
        run = database.run(row.run_id) if row.run_id else None
        at, action = moment(now), row.on_timeout
        if run is None:
            change_agent(database, agent, action, TIME_LIMIT, at=at, detail=text)
        else:
            change_run(database, run, action, TIME_LIMIT, at=at, detail=text)
    return limit_sentence(row, text)


def limit_sentence(row: Planning, passed: str) -> str:
    """Return a sentence saying that a passed time limit has paused or ended an agent's planning."""
    if row.on_timeout == "cancel":
        return f"Planning has ended by its time limit: {passed}."
    return f"Planning is paused by its time limit: {passed}. Nothing is lost."


def _bound_with(database: Database, row: Planning) -> list[Planning]:
    """Return the database rows of all agents in the run of `row`, or just `row` without a run."""
    return database.planning_of(row.run_id) if row.run_id else [row]


def _passed(rows: Iterable[Planning], now: float) -> str:
    """Return in words the time limit that all of these agents have passed, or ""."""
    # A session's file is read only where the rows alone say that it is too late.
    texts = [
        stages.overdue(row, now) and stages.overdue(row, now, last_call(row.agent_name))
        for row in rows
    ]
    return texts[0] if texts and all(texts) else ""


def _with(row: Row, **values: object) -> Row:
    """Return a copy of a database row with the given values replaced."""
    found = object.__new__(type(row))
    for name in row.__slots__:
        setattr(found, name, values.get(name, getattr(row, name)))
    return found
