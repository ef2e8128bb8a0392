"""OpenAI's codex. It takes no changed text from a hook."""

from __future__ import annotations

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from shared.clients import Settings

_BEGIN, _END = "*** Begin Patch\n", "\n*** End Patch"
_BY_SHELL, _ENDS = "apply_patch <<'EOF'\n", "\nEOF"
_FILES = ("*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: ")


def patched(patch: str) -> list[str] | None:
    """Return the files that a patch changes, None where that cannot be read."""
    text = patch.strip("\n")
    if not text.startswith(_BEGIN) or not text.endswith(_END):
        return None
    # At line feeds alone, as codex reads it: other separators may be part of a file's name.
    lines = [line.strip() for line in text[len(_BEGIN) : -len(_END)].split("\n")]
    named = [line for line in lines if line.startswith("***") and line != "*** End of File"]
    if not all(line.startswith(_FILES) for line in named):
        return None
    return [line.partition(": ")[2].strip() for line in named]


def patched_by_shell(command: str) -> list[str] | None:
    """Return the files that the patch command changes, None for any other shell command."""
    text = command.strip("\n")
    if not text.startswith(_BY_SHELL) or not text.endswith(_ENDS):
        return None
    patch = text[len(_BY_SHELL) : -len(_ENDS)]
    return None if "EOF" in patch.split("\n") else patched(patch)


TOOLS: dict[str, tuple[str, str, Mapping[str, Any]]] = {
    "web_search": ("read", "", {}),
    "view_image": ("file", "path", {}),
    "request_user_input": ("ask", "", {}),
    "update_plan": ("todo", "", {}),
    **dict.fromkeys(("get_goal", "create_goal", "update_goal"), ("tasks", "", {})),
    # Two generations of tools for sub-agents, whose calls come with the same session.
    **dict.fromkeys(
        ("spawn_agent", "wait_agent", "send_input", "close_agent", "resume_agent"),
        ("agents", "", {}),
    ),
    **dict.fromkeys(
        (f"collaboration{name}" for name in ("spawn_agent", "wait_agent", "list_agents",
         "send_message", "followup_task", "interrupt_agent")), ("agents", "", {}),
    ),
    "Bash": ("shell", "command", {"patched": patched_by_shell}),
    "apply_patch": ("patch", "command", {"patched": patched}),
}  # fmt: skip
EVENTS = {"PreToolUse": "call", "UserPromptSubmit": "prompt", "SessionStart": "prompt"}
TAKES_CHANGED = False
ASKS = False
SESSION_VARIABLES = ("CODEX_SESSION_ID",)
MARKS = ("CODEX_SESSION_ID", "CODEX_CI")
PROGRAMS = ("codex",)
PROGRAM_PATHS = ("/@openai/codex",)
SECRETS = (".codex/auth.json", ".config/openai", ".codex/history.jsonl")
SECRET_VARIABLES = {"CODEX_HOME": "auth.json"}
OWN_FILES = ()
HIDDEN_GIT: dict[str, str] = {}
PLUGINS = ()


def read_settings(found: Settings, folders: Iterable[str], mode: str) -> None:
    """Fill in that no text can be put in place of a command's, whatever the settings hold."""
    del folders, mode
    found.others = True
