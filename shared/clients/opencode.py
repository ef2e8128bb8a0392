"""opencode. Its hooks come by our plugin, hooks/opencode.js, which speaks the common form."""

from __future__ import annotations

import os

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from shared.clients import Settings

TOOLS: dict[str, tuple[str, str, Mapping[str, Any]]] = {
    **dict.fromkeys(("webfetch", "websearch", "codesearch", "lsp"), ("read", "", {})),
    "read": ("file", "filePath", {}),
    **dict.fromkeys(("list", "glob"), ("folder", "path", {})),
    "grep": ("search", "path", {"names": "include", "leaves_out": "alone"}),
    **dict.fromkeys(("question", "plan_enter", "plan_exit"), ("ask", "", {})),
    "task": ("agents", "", {}),
    "todowrite": ("todo", "", {}),
    "todoread": ("tasks", "", {}),
    "bash": ("shell", "command", {"folder": "workdir"}),
    **dict.fromkeys(("write", "edit", "multiedit"), ("write", "filePath", {})),
    "skill": ("skill", "name", {}),
}
EVENTS = {"PreToolUse": "call"}
TAKES_CHANGED = True
ASKS = False
SESSION_VARIABLES = ()
MARKS = ("OPENCODE",)
PROGRAMS = ("opencode",)
PROGRAM_PATHS = ("/opencode-ai/",)
SECRETS = (".local/share/opencode/auth.json", ".local/state/opencode/prompt-history.jsonl")
SECRET_VARIABLES: dict[str, str] = {}
OWN_FILES = ()
HIDDEN_GIT: dict[str, str] = {}
PLUGINS = ("opencode.js",)

# Where agents and plugins lie; a plugin of a package is named in the settings.
_FOLDERS = ("agent", "agents", "plugin", "plugins")
_SETTINGS = ("opencode.json", "opencode.jsonc", "config.json")


def read_settings(found: Settings, folders: Iterable[str], mode: str) -> None:
    """Fill in what the settings hold; without a rule every shell command runs."""
    del mode
    home = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    mine = [os.environ.get("OPENCODE_CONFIG_DIR", ""), os.path.join(home, "opencode")]
    below = [f for folder in dict.fromkeys(folders) for f in (folder, f"{folder}/.opencode")]
    found.rules = bool(os.environ.get("OPENCODE_PERMISSION"))
    given = os.environ.get("OPENCODE_CONFIG_CONTENT", "").encode(errors="replace")
    texts = [found.read(os.environ.get("OPENCODE_CONFIG", "")), given or None]
    for folder in filter(None, (*mine, *below)):
        texts += [found.read(os.path.join(folder, name)) for name in _SETTINGS]
        _take(found, folder)
    for text in texts:
        if text is not None:  # one that cannot be read is empty
            found.rules |= not text or b'"permission"' in text or b'"tools"' in text
            found.others |= b'"plugin"' in text
    found.allowed = not found.rules


def _take(found: Settings, folder: str) -> None:
    """Add what the agents and plugins hold that lie in a folder."""
    listed = [found.entries(os.path.join(folder, kind)) for kind in _FOLDERS]
    found.rules |= None in listed
    for path in (path for paths in listed for path in paths or ()):
        data = found.read(path) or b""
        found.rules |= path.endswith(".md") and b"permission" in data
        found.others |= b"tool.execute.before" in data and not found.is_ours(path)
