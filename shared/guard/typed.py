"""The record that the user typed a plan's approval into their client (PM-13, PP-7).

A client expands a typed `/planner:approve DIGEST` and reports that to its hooks; it never expands
what the model calls, schedules or writes. It counts only if the client itself has told the hook.
"""

from __future__ import annotations

import os
import sys

from shared.mode import sessions
from shared.mode.sessions import path_of
from shared.resources import sessions_path
from state.quick_json import read_json

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from shared.guard.ancestry import Process

COMMAND = "planner:approve"
VALID_S = 600  # from typing the approval to the command that the client then runs
DIGITS = frozenset("0123456789abcdef")
_CREDENTIALS = 12  # bytes: process, user, group


def record(payload: Mapping[str, object], full: Callable[[str], str], now: float) -> None:
    """Record that the user typed a plan's approval, if this hook event of a client shows it.

    `full` returns the one digest that begins as what was typed, or "".
    """
    typed = str(payload.get("command_args", "")).strip()
    ours = payload.get("command_name") == COMMAND and payload.get("agent_id") is None
    if not ours or not typed or not DIGITS.issuperset(typed):
        return
    digest = full(typed)
    client = _client()
    if not digest or client is None:
        return
    session = str(payload["session_id"])
    path = _path(session)
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    temporary = f"{path}.{os.getpid()}"
    found = {"session": session, "digest": digest, "at": now, "client": client.identity}
    import json  # not at the top: nearly all commands have nothing to write here

    with open(temporary, "w", encoding="utf-8") as file:
        json.dump(found, file)
    os.replace(temporary, path)


def is_typed(digest: str, environ: Mapping[str, str], now: float) -> bool:
    """Return whether the user has just typed the approval of a digest into the session's client."""
    session = sessions.client_session(environ)
    try:
        found = read_json(_path(session))
        fresh = 0 <= now - found["at"] <= VALID_S
        return fresh and (found["session"], found["digest"]) == (session, digest)
    except (OSError, ValueError, LookupError, TypeError):
        return False


def _path(session: str) -> str:
    folder = os.path.join(os.path.dirname(sessions_path()), "typed")
    return os.path.join(folder, os.path.basename(path_of(session)))


def _client() -> Process | None:
    """Return the client that sent this hook its event, None if it was another program.

    The kernel keeps who made a pair of sockets, and only the maker's own end can be written to: the
    shell of a tool has no such input. No assistant may have started the client.
    """
    from shared.guard import ancestry

    sender = _sender()
    chain = ancestry.above(os.getpid())
    at = next((n for n, p in enumerate(chain) if p.pid == sender), -1)
    if at < 0 or not chain[at].is_client or ancestry.assistant_in(chain[at + 1 :]) is not None:
        return None
    return chain[at]


def _sender() -> int:
    """Return the id of the process that made the pair of sockets which is our input, else 0."""
    # Not at the top: other events do without it.
    import socket

    wanted = getattr(socket, "SO_PEERCRED", None)
    try:
        with socket.socket(fileno=os.dup(sys.stdin.fileno())) as ours:
            named = ours.family != socket.AF_UNIX or ours.getpeername() or ours.getsockname()
            if wanted is None or named:
                return 0
            found = ours.getsockopt(socket.SOL_SOCKET, wanted, _CREDENTIALS)
    except (OSError, ValueError):
        return 0
    return int.from_bytes(found[:4], sys.byteorder)
