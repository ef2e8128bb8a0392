"""What a client's hook answers: pass, deny with the safe alternative, or run this instead (PM-4).

`planner hook CLIENT EVENT` reads the event as JSON and prints the answer in the client's own
format. Passing prints nothing, so that the client's permission rules decide as ever; whatever
fails denies.
"""

from __future__ import annotations

import json
import os
import sys
import time

from shared import resources
from shared.guard import consent
from shared.guard.calls import Call
from shared.guard.denial import Denied
from shared.mode import limits, reminder, sessions
from state.database import Database
from state.errors import Refused
from state.stages import INACTIVE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from shared.mode.sessions import Session
    from state.database import Planning, Run

    Payload = Mapping[str, Any]

TOOL_EVENTS = ("PreToolUse", "pre_tool")
MOST_DETAIL = 300


def main(argv: list[str]) -> int:
    """Answer one event of a client on standard output; always 0, since a fault denies."""
    host, event = argv if len(argv) == 2 else ("", "")  # noqa: PLR2004 – client and event
    found = answer(host, event, sys.stdin.buffer.read(), time.time())
    if found:
        sys.stdout.write(json.dumps(found) + "\n")
    return 0


def answer(host: str, event: str, raw: bytes, now: float) -> dict[str, Any]:
    """Return what the client is answered, nothing where the event passes; never raises."""
    try:
        return EVENTS[event](host, json.loads(raw), now)
    except Exception as error:  # noqa: BLE001 – the guard's one handler: it fails closed
        return _failed(host, event, error)


def _failed(host: str, event: str, error: Exception) -> dict[str, Any]:
    """Deny a tool because of a fault; for other events, tell what went wrong."""
    said = error.problems[0].text() if isinstance(error, Refused) else repr(error)
    text = f"the guard failed: {said}"
    if event in TOOL_EVENTS or event not in EVENTS:
        doctor = resources.command("doctor")
        return _deny(host, f"{text}. Tell the user; this says what is wrong: {doctor}")
    return _tell(event, f"Planning mode: {text}")


# What the model is told


def tell(host: str, payload: Payload, now: float) -> dict[str, Any]:
    """Begin a session or a prompt with what holds in this stage (PM-10)."""
    del host
    session = _session(payload)
    text = reminder.injected(session, now) if session else ""
    return _tell(str(payload["hook_event_name"]), text) if text else {}


def note_typed(host: str, payload: Payload, now: float) -> dict[str, Any]:
    """Keep that the user typed an approval."""
    del host
    consent.note(payload, now)
    return {}


def _tell(event: str, text: str) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}


# Whether a tool may be called


def check(host: str, payload: Payload, now: float) -> dict[str, Any]:
    """Decide on one call of a tool; an empty answer lets it pass."""
    session = _session(payload)
    if session is None:
        return {}
    database = Database(session.database)
    # By the calls before this one: its own time would make every limit seem far away.
    limits.settle(database, session.agent, now)
    session.touch()
    row = database.planning(session.agent)
    if row is None or row.phase == INACTIVE:
        return {}
    run = database.run(row.run_id) if row.run_id else None
    _note_guard(database, row, run)
    try:
        return Call(host, payload, session, row, run).answer()
    except Denied as denied:
        text = f"Planning mode ({row.phase}): {denied.reason}. Instead: {denied.instead}"
        return _deny(host, text + _record(database, row, run, payload, denied.reason))


def _session(payload: Payload) -> Session | None:
    return sessions.find(str(payload.get("session_id") or ""), str(payload.get("cwd") or os.sep))


def _note_guard(database: Database, row: Planning, run: Run | None) -> None:
    """Record once that hooks hold this agent: only then can a person's approval be told apart."""
    if not consent.is_guarded(database, [row]):
        with database:
            database.audit(run, "guard", consent.GUARDED, agent=row.agent_name)


def _record(
    database: Database, row: Planning, run: Run | None, payload: Payload, reason: str
) -> str:
    """Write a denial into the audit; where that fails it is denied all the same, and said so."""
    given = payload.get("tool_input") or {}
    what = given.get("command") or next((v for k, v in given.items() if k.endswith("path")), "")
    detail = f"{payload['tool_name']} {str(what)[:MOST_DETAIL]}: {reason}"
    detail = detail.encode("utf-8", "backslashreplace").decode()
    try:
        with database:
            database.audit(run, "guard", "deny", agent=row.agent_name, detail=detail)
    except Refused as refusal:
        return f". (It could not be recorded: {refusal})"
    return ""


def _deny(host: str, reason: str) -> dict[str, Any]:
    if host == "vibe":
        return {"decision": "deny", "reason": reason}
    denied = {"permissionDecision": "deny", "permissionDecisionReason": reason}
    return {"hookSpecificOutput": {"hookEventName": "PreToolUse", **denied}}


EVENTS: dict[str, Callable[[str, Payload, float], dict[str, Any]]] = {
    "PreToolUse": check,
    "pre_tool": check,
    "SessionStart": tell,
    "UserPromptSubmit": tell,
    "UserPromptExpansion": note_typed,
}
