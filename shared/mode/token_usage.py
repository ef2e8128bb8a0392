"""Stores the tokens that a client has counted of a sub-agent which wrote a milestone (PC-13).

Claude Code names the agent's transcript when the agent ends: JSON lines, in which each message of
the model has its usage. What cannot be read there stays unknown. The client writes the transcript
a moment behind what happens, so an end that is not there yet is waited for.
"""

from __future__ import annotations

import json
import time

from shared.execution import costs
from shared.resources import plan_path
from state import store
from state.database import Database
from state.execution import IN_PROGRESS

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from shared.mode.sessions import Session
    from state.database import Run

MOST_BYTES = 64 << 20
LAG_S = 1.0  # waited at most for the end of a transcript; an agent that is cut off writes none
_LOOK_S = 0.05
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
    limit = next((m.max_tokens for m in plan.milestones if m.id == milestone), None)
    warned = costs.warning(costs.tokens_of(stats) or 0, limit) if limit else None
    names = {"plan_id": plan.plan_id, "subagent_id": subagent}
    with database:
        told = {**names, "subagent_step_id": milestone, "agent": agent, "stats": stats}
        database.event(run, costs.USAGE, told)
        if warned:
            database.event(run, costs.WARNING, {**names, "step_id": milestone, **warned})


def read_usage(path: str, wait_s: float = LAG_S) -> dict[str, int] | None:
    """Return the tokens and calls in a transcript; None if it cannot be read or has none.

    It has ended when the last message of the model calls no tool; until then it is read again, for
    `wait_s` seconds at most, and counts as it is then.
    """
    ends = time.monotonic() + wait_s
    while True:
        try:
            with open(path, "rb") as file:
                lines = file.read(MOST_BYTES)
        except OSError:
            return None
        messages = _messages(lines.splitlines())
        if (messages and not _calls(messages[-1])) or time.monotonic() >= ends:
            return _counted(messages)
        time.sleep(_LOOK_S)


def _counted(messages: list[dict[str, Any]]) -> dict[str, int] | None:
    # A message has a line for each of its parts; the last one has its last figures.
    usages = {str(m.get("id")): m["usage"] for m in messages if isinstance(m.get("usage"), dict)}
    if not usages:
        return None
    return {
        "prompt_tokens": sum(_figure(u, name) for u in usages.values() for name in _PROMPT),
        "completion_tokens": sum(_figure(u, "output_tokens") for u in usages.values()),
        "tool_calls": len({call for message in messages for call in _calls(message)}),
    }


def _calls(message: Mapping[str, Any]) -> list[str]:
    """Return the ids of the calls of tools in a part of a message."""
    parts = message.get("content")
    return [
        str(part.get("id"))
        for part in (parts if isinstance(parts, list) else ())
        if isinstance(part, dict) and part.get("type") == "tool_use"
    ]


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
