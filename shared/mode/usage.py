"""Stores the tokens that a client has counted of a sub-agent which wrote a milestone (PC-13).

Claude Code names the agent's transcript when the agent ends: JSON lines, in which each message of
the model has its usage. What cannot be read there stays unknown.
"""

from __future__ import annotations

import json

from shared.execution import costs
from shared.resources import plan_path
from state import store
from state.database import Database
from state.execution import IN_PROGRESS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from shared.mode.sessions import Session
    from state.database import Run

MOST_BYTES = 64 << 20
# Not what a cache has read again in each turn, which would count the same text many times.
_PROMPT = ("input_tokens", "cache_creation_input_tokens")


def record(payload: Mapping[str, Any], session: Session) -> None:
    """Store a sub-agent's usage as an event, and a warning near its milestone's limit."""
    agent = str(payload.get("agent_id") or "")
    stats = read_usage(str(payload.get("agent_transcript_path") or "")) if agent else None
    if stats is None:
        return
    database = Database(session.database)
    row = database.planning(session.agent)
    run = database.run(row.run_id) if row and row.run_id else None
    found = _written_by(database, run, agent) if run else None
    if run is None or found is None:
        return
    milestone, subagent = found
    plan = store.read_plan(plan_path(run.state_dir))
    limit = next((m["max_tokens"] for m in plan["milestones"] if m["id"] == milestone), None)
    warned = costs.warning(costs.tokens_of(stats) or 0, limit) if limit else None
    names = {"plan_id": plan["plan_id"], "subagent_id": subagent}
    with database:
        told = {**names, "subagent_step_id": milestone, "agent": agent, "stats": stats}
        database.event(run, costs.USAGE, told)
        if warned:
            database.event(run, costs.WARNING, {**names, "step_id": milestone, **warned})


def read_usage(path: str) -> dict[str, int] | None:
    """Return the tokens and calls in a transcript; None if it cannot be read or has none."""
    try:
        with open(path, "rb") as file:
            lines = file.read(MOST_BYTES + 1)
    except OSError:
        return None
    messages: dict[str, Mapping[str, Any]] = {}  # a message has a line for each of its parts
    calls: set[str] = set()
    for message in _messages(lines[:MOST_BYTES].splitlines()):
        if isinstance(message.get("usage"), dict):
            messages[str(message.get("id"))] = message["usage"]
        parts = message.get("content")
        for part in parts if isinstance(parts, list) else ():
            if isinstance(part, dict) and part.get("type") == "tool_use":
                calls.add(str(part.get("id")))
    if not messages:
        return None
    return {
        "prompt_tokens": sum(_figure(u, name) for u in messages.values() for name in _PROMPT),
        "completion_tokens": sum(_figure(u, "output_tokens") for u in messages.values()),
        "tool_calls": len(calls),
    }


def _messages(lines: list[bytes]) -> list[dict[str, Any]]:
    """Return the messages of the model in a transcript; lines of another form are passed over."""
    found = []
    for line in lines:
        try:
            value = json.loads(line)
        except ValueError:
            continue
        message = value.get("message") if isinstance(value, dict) else None
        if isinstance(message, dict) and value.get("type") == "assistant":
            found.append(message)
    return found


def _figure(usage: Mapping[str, Any], name: str) -> int:
    value = usage.get(name)
    return value if type(value) is int and value > 0 else 0


def _written_by(database: Database, run: Run, agent: str) -> tuple[str, str] | None:
    """Return the milestone that an agent has written or still writes, and our id of the agent."""
    for row in database.progress(run).values():
        if row.status == IN_PROGRESS and row.agent == agent:
            return row.id, row.subagent
    for event in reversed(database.event_rows(run)):
        told = event["payload"]
        if event["kind"] == costs.RESULT and told.get("agent") == agent:
            return told["subagent_step_id"], told["subagent_id"]
    return None
