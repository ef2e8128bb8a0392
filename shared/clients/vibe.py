"""Mistral Vibe."""

from __future__ import annotations

import os
import re

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from shared.clients import Settings

TOOLS: dict[str, tuple[str, str, Mapping[str, Any]]] = {
    **dict.fromkeys(("web_search.web_search", "web_fetch.web_fetch"), ("read", "", {})),
    "file_system.read_file": ("file", "file_path", {}),
    "file_system.list_dir": ("folder", "path", {}),
    "file_system.grep": ("search", "path", {"ignored": ("use_default_ignore", False)}),
    "ask_user_question.ask_user_question": ("ask", "", {}),
    **dict.fromkeys(
        ("agents.spawn", "agents.list", "agents.wait", "agents.send_message", "agents.interrupt"),
        ("agents", "", {}),
    ),
    "vibe.todo": ("todo", "", {}),
    **dict.fromkeys(("process.list", "process.output", "process.stop"), ("tasks", "", {})),
    "file_system.bash": ("shell", "command", {}),
    **dict.fromkeys(
        ("file_system.write_file", "file_system.edit", "file_system.search_replace"),
        ("write", "file_path", {}),
    ),
    "vibe.skill": ("skill", "name", {}),
}
EVENTS = {"pre_tool": "call"}
TAKES_CHANGED = True
ASKS = False
SESSION_VARIABLES = ()
MARKS = ("VIBE_APP_SERVER_BIN",)
PROGRAMS = ("vibe", "vibe-acp")
PROGRAM_PATHS = ("/mistral-vibe/", "/mistral_vibe/")
SECRETS = (".vibe/.env", ".vibe/vibehistory")
SECRET_VARIABLES: dict[str, str] = {}
OWN_FILES = ()
HIDDEN_GIT: dict[str, str] = {}
PLUGINS = ()


def deny(reason: str) -> dict[str, Any]:
    """Return the answer that denies a tool call."""
    return {"decision": "deny", "reason": reason}


def change(given: dict[str, Any], ask: str) -> dict[str, Any]:
    """Return the answer by which a tool is called with `given`; it cannot ask."""
    del ask
    return {"hook_specific_output": {"tool_input": given}}


def show_user(text: str) -> dict[str, Any]:
    """Return the part of an answer that the user is shown."""
    return {"system_message": text}


def read_settings(found: Settings, folders: Iterable[str], mode: str) -> None:
    """Fill in what the settings hold, by their keys: reading TOML takes longer than deciding."""
    del mode
    home = os.environ.get("VIBE_HOME") or os.path.expanduser("~/.vibe")
    hooks = 0
    for folder in (home, *(os.path.join(folder, ".vibe") for folder in dict.fromkeys(folders))):
        config = found.read(os.path.join(folder, "config.toml")) or b""
        found.rules |= b"denylist" in config or b"sensitive_patterns" in config
        found.allowed |= os.fsencode(found.launcher) in config
        entries = found.read(os.path.join(folder, "hooks.toml")) or b""
        hooks += len(re.findall(rb"^\s*type\s*=\s*['\"]pre_tool['\"]", entries, re.MULTILINE))
    found.others = hooks > 1
