"""Google's Gemini CLI."""

from __future__ import annotations

import json
import os

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from shared.clients import Settings

TOOLS: dict[str, tuple[str, str, Mapping[str, Any]]] = {
    **dict.fromkeys(
        ("web_fetch", "google_web_search", "get_internal_docs", "list_mcp_resources"),
        ("read", "", {}),
    ),
    "read_file": ("file", "file_path", {}),
    **dict.fromkeys(("list_directory", "glob"), ("folder", "dir_path", {})),
    "grep_search": (
        "search", "dir_path", {"names": "include_pattern", "ignored": ("no_ignore", True)},
    ),
    **dict.fromkeys(("ask_user", "enter_plan_mode", "exit_plan_mode"), ("ask", "", {})),
    **dict.fromkeys(("invoke_agent", "codebase_investigator", "cli_help"), ("agents", "", {})),
    "write_todos": ("todo", "", {}),
    **dict.fromkeys(
        ("update_topic", "complete_task", "tracker_create_task", "tracker_update_task",
         "tracker_get_task", "tracker_list_tasks", "tracker_add_dependency", "tracker_visualize"),
        ("tasks", "", {}),
    ),
    "run_shell_command": ("shell", "command", {"folder": "dir_path"}),
    **dict.fromkeys(("write_file", "replace"), ("write", "file_path", {})),
    "activate_skill": ("skill", "name", {}),
}  # fmt: skip
EVENTS = {"BeforeTool": "call", "BeforeAgent": "prompt"}
TAKES_CHANGED = True
ASKS = False  # the guard asks nothing there: the user's rules see the witness
SESSION_VARIABLES = ()
MARKS = ("GEMINI_CLI",)
PROGRAMS = ("gemini",)
PROGRAM_PATHS = ("/@google/gemini-cli",)
SECRETS = (".gemini/oauth_creds.json",)
SECRET_VARIABLES: dict[str, str] = {}
OWN_FILES = ()
# It hides name, hooks and signing from every git that its shell starts.
HIDDEN_GIT = {"GEMINI_CLI": r"GIT_CONFIG_\w+|GIT_ASKPASS"}
PLUGINS = ()

_SYSTEM = "/etc/gemini-cli"
# What in its settings can deny or ask; a whole list of the tools that it has does so, too.
_RULES = (b'"exclude', b'"core"', b'olicyPaths"')


def deny(reason: str) -> dict[str, Any]:
    """Return the answer that denies a tool call."""
    return {"decision": "deny", "reason": reason}


def change(given: dict[str, Any], ask: str) -> dict[str, Any]:
    """Return the answer by which a tool is called with `given`."""
    del ask
    return {"hookSpecificOutput": {"hookEventName": "BeforeTool", "tool_input": given}}


def read_settings(found: Settings, folders: Iterable[str], mode: str) -> None:
    """Fill in what settings and policies hold; they are compared with the changed text."""
    del mode
    home = os.path.join(os.environ.get("GEMINI_CLI_HOME") or os.path.expanduser("~"), ".gemini")
    homes = [home, *(os.path.join(folder, ".gemini") for folder in dict.fromkeys(folders))]
    for folder in (_SYSTEM, *homes):
        _take(found, found.read(os.path.join(folder, "settings.json")))
        policies = found.entries(os.path.join(folder, "policies"))
        found.rules |= policies is None
        for path in policies or ():
            policy = found.read(path) or b""
            ours = os.fsencode(found.launcher) in policy
            found.allowed |= ours
            found.rules |= not ours
    for extension in found.entries(os.path.join(home, "extensions")) or ():
        hooks = found.read(os.path.join(extension, "hooks", "hooks.json")) or b""
        found.others |= b"BeforeTool" in hooks


def _take(found: Settings, data: bytes | None) -> None:
    """Add what a settings file holds, None if there is none."""
    found.rules |= data == b"" or any(name in (data or b"") for name in _RULES)
    if not data or b"BeforeTool" not in data:
        return
    try:
        entries = json.loads(data)["hooks"]["BeforeTool"]
        commands = [str(hook["command"]) for entry in entries for hook in entry["hooks"]]
        found.others |= not all("hooks/guard" in command for command in commands)
    except (ValueError, RecursionError, AttributeError, TypeError, KeyError):
        found.others = True
