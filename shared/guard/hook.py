"""Answers an assistant's hook event: let a tool call pass, deny it, or replace its command (PM-4).

`planner hook CLIENT EVENT` reads the event as JSON and prints the answer in the client's own
format. To let an event pass it prints nothing, so that the client's permission rules still decide;
any fault denies.
"""

from __future__ import annotations

import json
import os
import sys
import time

from shared import resources
from shared.builders import problem_text
from shared.clients import client_of
from shared.guard import consent, typed
from shared.guard.calls import Call, check_outside, give_back, owner_of
from shared.guard.denial import Denied
from shared.guard.forms import form_of
from shared.guard.places import MOST_PATH
from shared.mode import context_budget, limits, memory, reminder, sessions
from shared.mode.memory import Memory
from shared.mode.where import database_path
from state.errors import Refused
from state.stages import GATHERING, INACTIVE

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from shared.mode.sessions import Session
    from state.database import Database, Planning, Run

    Payload = Mapping[str, Any]

MOST_DETAIL = 300
_CALL = "call"
_BEGINS, _GOES_ON = "SessionStart", ("resume", "compact")


def main(argv: list[str]) -> int:
    """Print the JSON answer to one hook event of an assistant's client; always return 0."""
    host, event = argv if len(argv) == 2 else ("", "")  # noqa: PLR2004 – client and event
    found = answer(host, event, sys.stdin.buffer.read(), time.time())
    if found:
        sys.stdout.write(json.dumps(found) + "\n")
    return 0


def answer(host: str, event: str, raw: bytes, now: float) -> dict[str, Any]:
    """Return the JSON answer to a hook event, empty if the event passes; never raises."""
    try:
        deed = DEEDS[client_of(host).EVENTS[event]]
        return deed(host, form_of(host).read_event(json.loads(raw)), now)
    except Exception as error:  # noqa: BLE001 – the guard's one handler: it fails closed
        return _failed(host, event, error)


def _failed(host: str, event: str, error: Exception) -> dict[str, Any]:
    """Return the answer when the hook itself fails: deny a tool call, else tell what failed."""
    said = problem_text(error.problems[0]) if isinstance(error, Refused) else repr(error)
    text = f"the guard failed: {said}"
    if _stops_a_call(host, event):
        doctor = resources.command("doctor")
        reason = f"{text}. Tell the user; this command shows what is wrong: {doctor}"
        return form_of(host).deny(reason)
    return form_of(host).add_context(event, f"Planning mode: {text}")


def _stops_a_call(host: str, event: str) -> bool:
    """Return whether an event comes before a tool call; what is not known may."""
    try:
        return client_of(host).EVENTS.get(event, _CALL) == _CALL
    except ImportError:
        return True


# what the model is told


def tell(host: str, payload: Payload, now: float) -> dict[str, Any]:
    """Return the text that tells the model the rules of the session's planning stage (PM-10)."""
    session = _session(payload)
    if session is None:
        return _tell_new(host, payload)
    form, left = form_of(host), Memory(session)
    if left.database is None or left.row is None:
        text = f"Planning mode: {left.sentence()}"
        return form.show_user(text) | form.add_context(str(payload["hook_event_name"]), text)
    said = limits.settle(left.database, session.agent, now)
    told = (said, reminder.injected(session, now), context_budget.budget_note(payload, session))
    text = "\n".join(filter(None, told))
    if not text:
        return {}
    shown = form.show_user(said) if said else {}
    return shown | form.add_context(str(payload["hook_event_name"]), text)


def _tell_new(host: str, payload: Payload) -> dict[str, Any]:
    """Return what a session that begins is told of plans that wait for its user (SD-8)."""
    event = str(payload.get("hook_event_name"))
    if event != _BEGINS or payload.get("source") in _GOES_ON:
        return {}
    text = reminder.waiting_in(str(payload.get("cwd") or os.sep))
    return form_of(host).add_context(event, text) if text else {}


def note_typed(host: str, payload: Payload, now: float) -> dict[str, Any]:
    """Record that the user typed a plan's approval, if this hook event shows it."""
    del host
    typed.record(payload, lambda given: _full(payload, given), now)
    return {}


def note_usage(host: str, payload: Payload, now: float) -> dict[str, Any]:
    """Store what the client has counted of a sub-agent that has ended, if it wrote a milestone.

    No file tool of it writes any more.
    """
    from shared.mode.token_usage import record

    session = _session(payload)
    if session is not None and not Memory(session).gone:
        record(payload, session)
    return note_written(host, payload, now)


def note_written(host: str, payload: Payload, now: float) -> dict[str, Any]:
    """Let commands of the place begin again: the file tool that this event tells of has ended."""
    del host, now
    session = _session(payload)
    if session is not None:
        give_back(session, owner_of(payload))
    return {}


def _full(payload: Payload, given: str) -> str:
    """Return the one digest that the user can have meant, "" if it is none or one of several."""
    from shared.digests import find, known

    session = _session(payload)
    paths = [database_path(str(payload.get("cwd") or os.sep))]
    paths += [session.database] if session else []
    return find(given, known(paths))


# Whether a tool may be called


def check(host: str, payload: Payload, now: float) -> dict[str, Any]:
    """Return the answer to a tool call's hook event: a denial, a new command, or empty to allow."""
    session = _session(payload)
    if session is None:
        return _outside(host, payload)
    left = Memory(session)
    said = _settle(left, now)
    database, row, run = left.database, left.row, left.run
    if database is None or row is None:
        return _forgotten(host, payload, left)
    if said:
        return _late(host, said, ended=row.phase == INACTIVE)
    if row.phase == INACTIVE:
        return _outside(host, payload)
    try:
        agent = payload.get("agent_id")
        milestone = _hold_agent(host, payload, database, run) if agent else ""
        return Call(host, payload, session, row.phase, run, milestone).answer()
    except Denied as denied:
        text = f"Planning mode ({row.phase}): {denied.reason}. Instead: {denied.instead}"
        remark = _record(database, row, run, payload, denied.reason)
        return form_of(host).deny(text + remark)


def _settle(left: Memory, now: float) -> str:
    """Note a session's call; return in words what a time limit has changed, "" if nothing.

    A database that fails meanwhile is gone.
    """
    database, row = left.database, left.row
    said = ""
    try:
        if database is not None and row is not None:
            # Before touch(): this call's own time would make every limit seem far away.
            said = limits.settle(database, row.agent_name, now)
            if said:
                left.row = database.planning(row.agent_name) or row
            elif row.phase != INACTIVE:
                consent.note_guarded(database, row, left.run)
    except Refused as refusal:
        left.lose(refusal)
    left.session.touch()
    return said


def _forgotten(host: str, payload: Payload, left: Memory) -> dict[str, Any]:
    """Return the answer to a tool call of a session whose memory is gone: as while planning."""
    # What is known of the repository may be gone, or its place.
    left.session.repository = sessions.repository_root(str(payload.get("cwd") or os.sep))
    try:
        return Call(host, payload, left.session, GATHERING, None).answer()
    except Denied as denied:
        reason = denied.reason
    except Refused as refusal:
        reason = problem_text(refusal.problems[0])
    text = f"Planning mode: {reason}. Instead: tell the user that {left.sentence()}"
    return form_of(host).deny(text)


def _hold_agent(host: str, payload: Payload, database: Database, run: Run | None) -> str:
    # Not at the top: most tool calls are the main assistant's.
    from shared.guard.milestones import hold_agent

    return hold_agent(host, payload, database, run)


def _late(host: str, said: str, *, ended: bool) -> dict[str, Any]:
    """Return the denial of the call that finds a time limit passed: both sides are to hear of it.

    `said` says what the limit has changed.
    """
    resume = f"when they want to go on: {resources.command('resume')}"
    then = "ask before you change anything" if ended else resume
    reason = f"{said} This call was not made. Instead: tell the user, and {then}"
    form = form_of(host)
    return form.show_user(said) | form.deny(reason)


def _outside(host: str, payload: Payload) -> dict[str, Any]:
    """Return the answer to a tool call of a session that does not plan; another may (PP-5)."""
    try:
        check_outside(host, payload)
    except Denied as denied:
        text = f"A session of this user plans: {denied.reason}. Instead: {denied.instead}"
        return form_of(host).deny(text)
    return {}


def _session(payload: Payload) -> Session | None:
    folder = str(payload.get("cwd") or os.sep)
    if len(folder) > MOST_PATH:
        raise ValueError("the folder's path is longer than any")
    found = sessions.find(str(payload.get("session_id") or ""), folder)
    return found or memory.moved(folder)


def _path(given: Mapping[str, Any]) -> object:
    """Return the value of the first field that a tool's input has for a path."""
    return next((value for name, value in given.items() if name.lower().endswith("path")), "")


def _record(
    database: Database, row: Planning, run: Run | None, payload: Payload, reason: str
) -> str:
    """Record a denied tool call in the audit; return "", or a remark for the model on failure."""
    given = payload.get("tool_input") or {}
    what = given.get("command") or _path(given)
    detail = f"{payload['tool_name']} {str(what)[:MOST_DETAIL]}: {reason}"
    detail = detail.encode("utf-8", "backslashreplace").decode()
    try:
        with database:
            database.audit(run, "guard", "deny", agent=row.agent_name, detail=detail)
    except Refused as refusal:
        return f". (It could not be recorded: {refusal})"
    return ""


# What a client's EVENTS name: a tool is called, a prompt comes, what the user typed is expanded, a
# sub-agent ends, a tool that writes has ended.
DEEDS: dict[str, Callable[[str, Payload, float], dict[str, Any]]] = {
    _CALL: check,
    "prompt": tell,
    "expansion": note_typed,
    "end": note_usage,
    "after": note_written,
}
