"""The JSON of each client's hooks: how an answer of the guard is written for it.

What a client sends has one shape, or is brought into it here: `tool_name`, `tool_input`, `cwd`,
`session_id`. The decision is made in `shared/guard/calls.py` and knows nothing of this.
"""

from __future__ import annotations

# The clients that call a tool with a text that the guard puts in place of the model's.
TAKES_CHANGED = ("claude", "vibe", "gemini", "opencode")

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    Payload = Mapping[str, Any]


class Form:
    """What Claude Code understands, and codex; our own plugin of opencode speaks it, too."""

    def read(self, payload: Payload) -> Payload:
        """Return a hook event as the guard reads it."""
        return payload

    def denied(self, reason: str) -> dict[str, Any]:
        """Return the answer that denies a tool call; the model reads the reason."""
        decided = {"permissionDecision": "deny", "permissionDecisionReason": reason}
        return {"hookSpecificOutput": {"hookEventName": "PreToolUse", **decided}}

    def changed(self, given: dict[str, Any], ask: str) -> dict[str, Any]:
        """Return the answer by which the tool is called with `given`, asking the user `ask`."""
        asked = {"permissionDecision": "ask", "permissionDecisionReason": ask} if ask else {}
        return {
            "hookSpecificOutput": {"hookEventName": "PreToolUse", **asked, "updatedInput": given}
        }

    def told(self, event: str, text: str) -> dict[str, Any]:
        """Return the answer to another event by which the model is told a text."""
        return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}

    def shown(self, text: str) -> dict[str, Any]:
        """Return the part of an answer that the client shows its user; empty without a text."""
        return {"systemMessage": text} if text else {}


class _Vibe(Form):
    def denied(self, reason: str) -> dict[str, Any]:
        return {"decision": "deny", "reason": reason}

    def changed(self, given: dict[str, Any], ask: str) -> dict[str, Any]:
        del ask  # it cannot
        return {"hook_specific_output": {"tool_input": given}}

    def shown(self, text: str) -> dict[str, Any]:
        return {"system_message": text} if text else {}


class _Gemini(Form):
    def denied(self, reason: str) -> dict[str, Any]:
        return {"decision": "deny", "reason": reason}

    def changed(self, given: dict[str, Any], ask: str) -> dict[str, Any]:
        del ask  # the guard asks nothing there: the user's rules see the witness
        return {"hookSpecificOutput": {"hookEventName": "BeforeTool", "tool_input": given}}


class _Cursor(Form):
    """One event comes before every tool; older versions have one for each of a few tools."""

    def read(self, payload: Payload) -> Payload:
        event = str(payload["hook_event_name"])
        name, given = payload.get("tool_name"), payload.get("tool_input")
        if event == "beforeShellExecution":
            name, given = "Shell", {"command": payload["command"]}
        elif event == "beforeReadFile":
            name, given = "Read", {"file_path": payload["file_path"]}
        elif event == "beforeMCPExecution":
            name = f"MCP:{name}"
        given = given if isinstance(given, dict) else {}
        path = next((str(given[field]) for field in _CURSOR_PATHS if given.get(field)), None)
        given = given if path is None else {**given, "file_path": path}
        cwd = payload.get("cwd") or next(iter(payload.get("workspace_roots") or ()), "")
        return {"tool_name": name, "tool_input": given, "cwd": cwd, "hook_event_name": event}

    def denied(self, reason: str) -> dict[str, Any]:
        return {"permission": "deny", "user_message": reason, "agent_message": reason}


# By which its tools name a file; the documentation has an example for the shell alone.
_CURSOR_PATHS = ("file_path", "path", "target_file", "filePath")
_FORMS = {"vibe": _Vibe(), "gemini": _Gemini(), "cursor": _Cursor()}
_COMMON = Form()


def form_of(host: str) -> Form:
    """Return the form in which a client reads our answers."""
    return _FORMS.get(host, _COMMON)
