"""A client for tests: it asks the hook before each tool call and obeys the answer."""

from __future__ import annotations

import functools
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shared.guard import hook
from shared.resources import ROOT, quote
from tests.journey import call
from tests.prepared import prepared

if TYPE_CHECKING:
    from tests.conftest import Repository

SESSION = "session-1"
GUARD = f"{ROOT}/hooks/guard"
FAKE = Path(__file__).with_name("fake_client.py")


@functools.cache
def alone() -> tuple[str, ...]:
    """Return the words that start a program where it sees no process but its own, if they work.

    The tests may run below an assistant or beside one, and that would be seen.
    """
    words = ("unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc")
    tried = (*words, "--kill-child") if shutil.which("unshare") else ("false",)
    done = subprocess.run([*tried, "true"], capture_output=True, check=False)
    return tried if done.returncode == 0 else ()


def planned_in(repository: Repository, agent: str = SESSION) -> Repository:
    """Have the session of an agent, "" for any, plan without a run; return the repository."""
    words = ("mode", "enter", *(("--agent", agent) if agent else ()))

    def enter() -> None:
        assert call(repository.path, *words).code == 0

    prepared(repository, words, enter)
    return repository


class Client:
    """One session of a client in a folder; `host` is claude, vibe or codex."""

    def __init__(self, cwd: Path | str, session: str = SESSION, host: str = "claude") -> None:
        self.cwd = str(cwd)
        self.session = session
        self.host = host

    def sends(self, event: str, **more: object) -> dict[str, Any]:
        """Return what the hook answers to an event."""
        common = {"session_id": self.session, "cwd": self.cwd, "hook_event_name": event}
        raw = json.dumps({**common, **more}).encode()
        return hook.answer(self.host, event, raw, time.time())

    def types(self, args: str, **more: object) -> None:
        """Let the user type `/planner:approve ARGS` into a client."""
        self.run_client({"hooks": [self.hooked(args, **more)]})

    def hooked(self, args: str, **more: object) -> tuple[str, str]:
        """Return the line by which a client runs its hook when that is typed, and what it sends."""
        event = "UserPromptExpansion"
        given = {"command_name": "planner:approve", "command_args": args, **more}
        common = {"session_id": self.session, "cwd": self.cwd, "hook_event_name": event}
        line = f"CLAUDE_CODE_SESSION_ID={self.session} sh {quote(GUARD)} claude {event}; exit $?"
        return line, json.dumps({**common, **given})

    def run_client(self, given: dict[str, Any], *before: str) -> subprocess.CompletedProcess[str]:
        """Run a program that is called claude, in a process space of its own where that can be.

        `before` are words before it that start it.
        """
        kept = {n: v for n, v in os.environ.items() if not n.startswith("CLAUDE")}
        words = [sys.executable, "-I", str(FAKE), "claude"]
        return subprocess.run(
            [*alone(), *before, *words], input=json.dumps(given), text=True, cwd=self.cwd,
            capture_output=True, check=False, env={**kept, "PLANNER_PYTHON": sys.executable},
        )  # fmt: skip

    def asks(self, tool: str, /, **given: object) -> dict[str, Any]:
        """Return what the hook answers before a call of a tool."""
        event = "pre_tool" if self.host == "vibe" else "PreToolUse"
        return self.sends(event, tool_name=tool, tool_input=given)

    def denial(self, tool: str, /, **given: object) -> str:
        """Return why a call is denied; fails if it passes."""
        answer = self.asks(tool, **given)
        if self.host == "vibe":
            assert answer.get("decision") == "deny", answer
            return str(answer["reason"])
        decided = answer.get("hookSpecificOutput", {})
        assert decided.get("permissionDecision") == "deny", answer
        return str(decided["permissionDecisionReason"])

    def changed(self, command: str) -> str:
        """Return the command that the client runs instead of this one."""
        name = {"claude": "Bash", "vibe": "file_system.bash"}[self.host]
        answer = self.asks(name, command=command, description="why")
        if self.host == "vibe":
            given = answer["hook_specific_output"]["tool_input"]
        else:
            assert set(answer["hookSpecificOutput"]) == {"hookEventName", "updatedInput"}
            given = answer["hookSpecificOutput"]["updatedInput"]
        assert given["description"] == "why"  # what else was asked for stays
        return str(given["command"])
