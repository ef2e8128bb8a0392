"""Decides how a plan's approval was given: by a person in client or terminal, or unproven (PM-13).

A client expands a typed `/planner:approve DIGEST` and reports that to its hooks; it never expands
what the model calls, schedules or writes. The consent is the hook's record of that expansion, not
the command that follows it.
"""

from __future__ import annotations

import json
import os
import sys

from shared import resources
from shared.mode import sessions
from shared.mode.sessions import path_of
from state.actors import PERSON, UNPROVEN
from state.errors import Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from state.database import Database, Planning

COMMAND = "planner:approve"
GUARDED = "guarded"  # the audit's word for the first tool call that a hook has seen
VALID_S = 600  # from typing the approval to the command that the client then runs
DIGITS = frozenset("0123456789abcdef")
# Variables that clients set for the commands that they run.
ASSISTANTS = (
    "CLAUDECODE", "AI_AGENT", "CODEX_SESSION_ID", "CODEX_CI", "VIBE_APP_SERVER_BIN", "GEMINI_CLI",
    "CURSOR_AGENT", "OPENCODE",
)  # fmt: skip


class Consent:
    """How a plan's approval was given (`channel`), and whom the audit names as giver (`who`)."""

    __slots__ = ("channel", "who")

    def __init__(self, channel: str) -> None:
        self.channel = channel
        self.who = UNPROVEN if channel == "unproven" else PERSON


def assistant_variable() -> str:
    """Return the environment variable that shows that an assistant runs this process, or ""."""
    return next((name for name in ASSISTANTS if os.environ.get(name)), "")


def is_guarded(database: Database, rows: Iterable[Planning]) -> bool:
    """Return whether a hook has checked a tool call of one of these agents while it planned."""
    return any(database.was_noted(r.agent_name, GUARDED, r.gathering_start or "") for r in rows)


def check_consent(digest: str, *, guarded: bool, now: float) -> Consent:
    """Return how the plan with hash `digest` was approved; Refused if an assistant approves it.

    `guarded` says whether hooks check the sessions that plan: without hooks, an assistant could
    have done whatever a person can do, so nothing is proven.
    """
    variable = assistant_variable()
    if variable:
        if _is_typed(digest, os.environ, now):
            return Consent("command")
        raise _not_typed(digest, f"an assistant runs this command ({variable} is set)")
    if not guarded:
        return Consent("unproven")
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise _not_typed(digest, "this command does not run in a terminal")
    return Consent("terminal")


def _not_typed(digest: str, why: str) -> Refused:
    text = f"{why}, and no person has typed the approval of this digest"
    terminal = resources.command("mode", "approve", digest)
    allowed = f"ask the user to type /{COMMAND} {digest} in Claude Code, or in a terminal of their"
    return Refused("refused", "mode approve", text, f"{allowed} own: {terminal}")


# the record of what was typed


def record_typed(payload: Mapping[str, object], now: float) -> None:
    """Record that the user typed a plan's approval, if this hook event of Claude Code shows it."""
    digest = str(payload.get("command_args", "")).strip()
    typed = payload.get("command_name") == COMMAND and payload.get("agent_id") is None
    if not typed or not digest or not DIGITS.issuperset(digest):
        return
    session = str(payload["session_id"])
    if _started_by_assistant(session):
        return
    path = _path(session)
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    temporary = f"{path}.{os.getpid()}"
    with open(temporary, "w", encoding="utf-8") as file:
        json.dump({"session": session, "digest": digest, "at": now}, file)
    os.replace(temporary, path)


def _is_typed(digest: str, environ: Mapping[str, str], now: float) -> bool:
    session = environ.get("CLAUDE_CODE_SESSION_ID", "")
    try:
        with open(_path(session), encoding="utf-8") as file:
            record = json.load(file)
    except (OSError, ValueError):
        return False
    fresh = 0 <= now - record["at"] <= VALID_S
    return fresh and (record["session"], record["digest"]) == (session, digest)


def _path(session: str) -> str:
    folder = os.path.join(os.path.dirname(sessions.folder()), "typed")
    return os.path.join(folder, os.path.basename(path_of(session)))


def _started_by_assistant(session: str) -> bool:
    """Return whether an assistant started the client program that runs this hook process.

    A client gives its session's id to all processes that it starts, so it is the first process
    above us without that id. False if /proc does not tell.
    """
    pid = os.getppid()
    while pid > 1:
        above, found = _parent(pid), _variable(pid, "CLAUDE_CODE_SESSION_ID")
        if found != session:
            return bool(found)
        pid = above
    return False


def _parent(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return int(file.read().rpartition(b")")[2].split()[1])
    except (OSError, IndexError, ValueError):
        return 0


def _variable(pid: int, name: str) -> str:
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            pairs = file.read().split(b"\0")
    except OSError:
        return ""
    start = os.fsencode(name) + b"="
    return next((os.fsdecode(p[len(start) :]) for p in pairs if p.startswith(start)), "")
