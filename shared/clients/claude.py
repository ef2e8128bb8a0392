"""Claude Code."""

from __future__ import annotations

import json
import os
import re

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any

    from shared.clients import Settings

_LATER = (
    "a prompt that this tool sends later could be taken for the user's",
    "end your turn; the user writes when they are ready",
)
_ELSEWHERE = (
    "this tool makes a session or program act that the guard does not check",
    "start a sub-agent, which the guard checks, and wait for its answer",
)
TOOLS: dict[str, tuple[str, str, Mapping[str, Any]]] = {
    **dict.fromkeys(
        ("LSP", "WebFetch", "WebSearch", "ToolSearch", "ListAgents", "ReportFindings", "CronList"),
        ("read", "", {}),
    ),
    "Read": ("file", "file_path", {}),
    "NotebookRead": ("file", "notebook_path", {}),
    "Glob": ("folder", "path", {}),
    "LS": ("folder", "path", {}),
    "Grep": ("search", "path", {"names": "glob", "leaves_out": "beside"}),
    **dict.fromkeys(("AskUserQuestion", "EnterPlanMode", "ExitPlanMode"), ("ask", "", {})),
    **dict.fromkeys(("Agent", "Task"), ("agents", "", {})),
    **dict.fromkeys(("TodoWrite", "TaskCreate", "TaskUpdate"), ("todo", "", {})),
    **dict.fromkeys(
        ("TaskGet", "TaskList", "TaskOutput", "TaskStop", "AgentOutputTool", "BashOutput",
         "KillShell"), ("tasks", "", {}),
    ),
    "Bash": ("shell", "command", {}),
    **dict.fromkeys(("Write", "Edit", "MultiEdit"), ("write", "file_path", {})),
    "NotebookEdit": ("write", "notebook_path", {}),
    "Skill": ("skill", "skill", {}),
    **dict.fromkeys(("CronCreate", "CronDelete", "ScheduleWakeup"), ("deny", "", {"why": _LATER})),
    **dict.fromkeys(
        ("SendMessage", "Workflow", "RemoteTrigger"), ("deny", "", {"why": _ELSEWHERE})
    ),
}  # fmt: skip
EVENTS = {
    "PreToolUse": "call", "SessionStart": "prompt", "UserPromptSubmit": "prompt",
    "UserPromptExpansion": "expansion", "SubagentStop": "end", "PostToolUse": "after",
}  # fmt: skip
TAKES_CHANGED = True
ASKS = True
SESSION_VARIABLES = ("CLAUDE_CODE_SESSION_ID",)
MARKS = ("CLAUDECODE", "AI_AGENT")
PROGRAMS = ("claude",)
PROGRAM_PATHS = ("/claude/versions/", "/@anthropic-ai/claude-code")
SECRETS = (
    ".claude.json", ".claude/.credentials.json", ".claude/history.jsonl", ".config/anthropic",
)  # fmt: skip
SECRET_VARIABLES = {"CLAUDE_CONFIG_DIR": ".credentials.json"}
OWN_FILES = (".claude/scheduled_tasks.lock",)
HIDDEN_GIT: dict[str, str] = {}
PLUGINS = ()

_MOST_BYTES = 1_000_000
_MOST_PARENTS = 12
_MOST_PLUGINS = 100
# Tools that a shell command cannot stand for; a rule for any other may concern one.
_NOT_SHELL = ("WebFetch", "WebSearch", "mcp__", "Agent", "Task", "Skill", "AskUserQuestion")
_MANAGED = "/etc/claude-code"
_SHELLS = ("sh", "bash", "dash", "zsh", "ksh", "mksh", "busybox", "setsid")
_LISTS = ("--disallowedTools", "--disallowed-tools")


def read_settings(found: Settings, folders: Iterable[str], mode: str) -> None:
    """Fill in what the settings hold: files, command line, plugins, skills and agents."""
    found.allowed = mode == "bypassPermissions"
    home = os.environ.get("CLAUDE_CONFIG_DIR") or os.path.expanduser("~/.claude")
    project = os.environ.get("CLAUDE_PROJECT_DIR", "")
    below = [os.path.join(f, ".claude") for f in dict.fromkeys((project, *folders)) if f]
    names = ("settings.json", "settings.local.json")
    paths = [os.path.join(folder, name) for folder in (home, *below) for name in names]
    dropped = found.entries(os.path.join(_MANAGED, "managed-settings.d"))
    found.rules = dropped is None
    paths += [os.path.join(_MANAGED, "managed-settings.json"), *(dropped or ())]
    plugins = False
    for path in paths:
        data = found.read(path)
        if data is not None:
            plugins |= _take(found, data)
    plugin_folders = list(_options(found))
    if plugins:
        plugin_folders += _installed(found, home)
    for folder in (home, *below):
        for kind in ("skills", "agents"):
            listed = found.entries(os.path.join(folder, kind))
            found.others |= listed is None
            plugin_folders += listed or ()
    found.others = found.others or any(_replaces(found, path) for path in plugin_folders)


def _take(found: Settings, data: bytes) -> bool:
    """Add what a settings file holds; return whether it enables plugins."""
    try:
        settings: dict[str, Any] = json.loads(data)
        permissions = settings.get("permissions", {})
        ruled = [*permissions.get("deny", ()), *permissions.get("ask", ())]
        found.rules |= not all(rule.startswith(_NOT_SHELL) for rule in ruled)
        found.allowed |= any(_allows_us(found, rule) for rule in permissions.get("allow", ()))
        entries = settings.get("hooks", {}).get("PreToolUse", ())
        found.others |= any(_matches(entry.get("matcher", "")) for entry in entries)
        return any(settings.get("enabledPlugins", {}).values())
    except (ValueError, RecursionError, AttributeError, TypeError):
        found.rules = True
        return False


def _allows_us(found: Settings, rule: str) -> bool:
    return rule in ("Bash", "Bash(*)") or rule.startswith(f"Bash({found.launcher}")


def _matches(matcher: str) -> bool:
    """Return whether the matcher of a hook may mean the shell."""
    return not re.fullmatch(r"\w+(\|\w+)*", matcher) or "Bash" in matcher.split("|")


def _options(found: Settings) -> Iterator[str]:
    """Add what the command line of the client says; return the folders of plugins that it names."""
    words = _command_line(os.getppid())
    for at, word in enumerate(words[:-1]):
        name, equals, value = word.partition("=")
        value = value if equals else words[at + 1]
        if name in _LISTS:
            found.rules = True
        elif name == "--settings":
            inline = value.startswith("{")
            data = value.encode(errors="replace") if inline else found.read(value)
            found.rules |= data is None
            _take(found, data or b"{}")
        elif name == "--plugin-dir":
            yield value


def _command_line(pid: int) -> list[str]:
    """Return the words of the client: the first process from `pid` upwards that is no shell."""
    for _ in range(_MOST_PARENTS):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                words = os.fsdecode(file.read(_MOST_BYTES)).split("\0")
            with open(f"/proc/{pid}/stat", "rb") as file:
                pid = int(file.read().rpartition(b")")[2].split()[1])
        except (OSError, IndexError, ValueError):
            break
        if os.path.basename(words[0]) not in _SHELLS:
            return words
    return []


def _installed(found: Settings, home: str) -> list[str]:
    """Return the folders of the installed plugins."""
    data = found.read(os.path.join(home, "plugins", "installed_plugins.json"))
    paths = re.findall(rb'"installPath"\s*:\s*"([^"\\]*)"', data or b"")
    found.others |= not paths or len(paths) > _MOST_PLUGINS
    return [os.fsdecode(path) for path in paths[:_MOST_PLUGINS]]


def _replaces(found: Settings, path: str) -> bool:
    """Return whether a plugin, skill or agent brings a hook before tools."""
    if found.is_ours(path):
        return False
    names = ("hooks/hooks.json", "SKILL.md", ".claude-plugin/plugin.json")
    inside = [path] if path.endswith(".md") else [os.path.join(path, name) for name in names]
    texts = [found.read(name) or b"" for name in inside]
    # A manifest may name any file of the plugin as its hooks.
    return any(b"PreToolUse" in data for data in texts) or b'"hooks"' in texts[-1]
