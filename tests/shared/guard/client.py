"""A client for tests: it asks the hook before each tool call and obeys the answer."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

from shared.guard import hook
from shared.resources import ROOT, quote

if TYPE_CHECKING:
    from pathlib import Path

SESSION = "session-1"
GUARD = f"{ROOT}/hooks/guard"


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

    def types(self, args: str, *, within: str = "", **more: object) -> None:
        """Let the user type `/planner:approve ARGS`; `within` is the session that started it.

        A program of its own, as a client is, with hooks below it.
        """
        event = "UserPromptExpansion"
        given = {"command_name": "planner:approve", "command_args": args, **more}
        common = {"session_id": self.session, "cwd": self.cwd, "hook_event_name": event}
        kept = {n: v for n, v in os.environ.items() if not n.startswith("CLAUDE")}
        begun = {"CLAUDE_CODE_SESSION_ID": within} if within else {}
        hooked = f"CLAUDE_CODE_SESSION_ID={self.session} sh {quote(GUARD)} claude {event}; exit $?"
        subprocess.run(
            ["sh", "-c", hooked], input=json.dumps({**common, **given}).encode(), check=True,
            env={**kept, **begun, "PLANNER_PYTHON": sys.executable},
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
