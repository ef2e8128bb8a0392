"""Cursor. It was not tried with the real client: its documentation has an example for the shell.

One event comes before every tool; older versions have one for each of a few tools.
"""

from __future__ import annotations

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from shared.clients import Settings

TOOLS: dict[str, tuple[str, str, Mapping[str, Any]]] = {
    "Read": ("file", "file_path", {}),
    "Grep": ("search", "file_path", {"names": "glob"}),
    "Task": ("agents", "", {}),
    "Shell": ("shell", "command", {"folder": "working_directory"}),
    **dict.fromkeys(("Write", "Delete"), ("write", "file_path", {})),
}
EVENTS = dict.fromkeys(
    ("preToolUse", "beforeShellExecution", "beforeMCPExecution", "beforeReadFile"), "call"
)
TAKES_CHANGED = False
ASKS = False
SESSION_VARIABLES = ()
MARKS = ("CURSOR_AGENT",)
PROGRAMS = ("cursor-agent",)
PROGRAM_PATHS = ()
SECRETS = (".cursor/mcp.json",)
SECRET_VARIABLES: dict[str, str] = {}
OWN_FILES = ()
HIDDEN_GIT: dict[str, str] = {}
PLUGINS = ()

_PATHS = ("file_path", "path", "target_file", "filePath")  # by which its tools name a file


def read_event(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Return a hook event with the names that the guard reads."""
    event = str(payload["hook_event_name"])
    name, given = payload.get("tool_name"), payload.get("tool_input")
    if event == "beforeShellExecution":
        name, given = "Shell", {"command": payload["command"]}
    elif event == "beforeReadFile":
        name, given = "Read", {"file_path": payload["file_path"]}
    elif event == "beforeMCPExecution":
        name = f"MCP:{name}"
    given = given if isinstance(given, dict) else {}
    paths = {str(given[field]) for field in _PATHS if given.get(field)}
    if len(paths) > 1:
        raise ValueError("the call names several files, each in another field")
    given = {**given, "file_path": paths.pop()} if paths else given
    cwd = payload.get("cwd") or next(iter(payload.get("workspace_roots") or ()), "")
    return {"tool_name": name, "tool_input": given, "cwd": cwd, "hook_event_name": event}


def deny(reason: str) -> dict[str, Any]:
    """Return the answer that denies a tool call."""
    return {"permission": "deny", "user_message": reason, "agent_message": reason}


def read_settings(found: Settings, folders: Iterable[str], mode: str) -> None:
    """Fill in that the parser decides: nobody has seen it run a command that a hook has changed."""
    del folders, mode
    found.others = True
