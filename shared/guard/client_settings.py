"""Says what a client's own settings hold that matters to a shell command whose text is replaced.

Whether there is a rule, not what it means: each release of a client reads its rules differently. A
settings file that cannot be read counts as if it held one.
"""

from __future__ import annotations

import json
import os
import re

from shared.resources import ROOT, installed_path, launcher_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

_MOST_BYTES = 1_000_000
_MOST_ENTRIES = 100  # of a folder; one with more counts as if it held what is looked for
_MOST_PARENTS = 12
# Tools that a shell command cannot stand for; a rule for any other may concern one.
_NOT_SHELL = ("WebFetch", "WebSearch", "mcp__", "Agent", "Task", "Skill", "AskUserQuestion")
_MANAGED = "/etc/claude-code"
_SHELLS = ("sh", "bash", "dash", "zsh", "ksh", "mksh", "busybox", "setsid")
_SYSTEM_GEMINI = "/etc/gemini-cli"
# What in its settings can deny or ask; a whole list of the tools that it has does so, too.
_GEMINI_RULES = (b'"exclude', b'"core"', b'olicyPaths"')
# Where agents and plugins of opencode lie; a plugin of a package is named in the settings.
_PLUGIN = os.path.join(ROOT, "hooks", "opencode.js")
_OPENCODE_FOLDERS = ("agent", "agents", "plugin", "plugins")
_LISTS = ("--disallowedTools", "--disallowed-tools")


class ClientSettings:
    """What the settings of a client hold for shell commands.

    `rules`: perhaps a deny or ask rule. `others`: perhaps another hook that replaces the command.
    `allowed`: our launcher runs without a question.
    """

    __slots__ = ("allowed", "others", "rules")

    def __init__(self, *, rules: bool = False, others: bool = False, allowed: bool = False) -> None:
        self.rules = rules
        self.others = others
        self.allowed = allowed


def read_client(host: str, folders: Iterable[str], mode: str = "") -> ClientSettings:
    """Return what the settings of a client hold that works in these folders, the project's first.

    `mode` is the client's permission mode. A client that takes no changed text counts as one with
    another hook.
    """
    if host == "claude":
        return _claude(folders, mode)
    if host == "vibe":
        return _vibe(folders)
    if host == "gemini":
        return _gemini(folders)
    if host == "opencode":
        return _opencode(folders)
    return ClientSettings(others=True)


# Claude Code


def _claude(folders: Iterable[str], mode: str) -> ClientSettings:
    found = ClientSettings(allowed=mode == "bypassPermissions")
    home = os.environ.get("CLAUDE_CONFIG_DIR") or os.path.expanduser("~/.claude")
    project = os.environ.get("CLAUDE_PROJECT_DIR", "")
    below = [os.path.join(f, ".claude") for f in dict.fromkeys((project, *folders)) if f]
    names = ("settings.json", "settings.local.json")
    paths = [os.path.join(folder, name) for folder in (home, *below) for name in names]
    dropped = _entries(os.path.join(_MANAGED, "managed-settings.d"))
    found.rules = dropped is None
    paths += [os.path.join(_MANAGED, "managed-settings.json"), *(dropped or ())]
    plugins = False
    for path in paths:
        data = _read(path)
        if data is not None:
            plugins |= _take(found, data)
    plugin_folders = list(_options(found))
    if plugins:
        plugin_folders += _installed(found, home)
    for folder in (home, *below):
        for kind in ("skills", "agents"):
            listed = _entries(os.path.join(folder, kind))
            found.others |= listed is None
            plugin_folders += listed or ()
    found.others = found.others or any(map(_replaces, plugin_folders))
    return found


def _take(found: ClientSettings, data: bytes) -> bool:
    """Add what a settings file of Claude Code holds; return whether it enables plugins."""
    try:
        settings: dict[str, Any] = json.loads(data)
        permissions = settings.get("permissions", {})
        ruled = [*permissions.get("deny", ()), *permissions.get("ask", ())]
        found.rules |= not all(rule.startswith(_NOT_SHELL) for rule in ruled)
        found.allowed |= any(_allows_us(rule) for rule in permissions.get("allow", ()))
        entries = settings.get("hooks", {}).get("PreToolUse", ())
        found.others |= any(_matches(entry.get("matcher", "")) for entry in entries)
        return any(settings.get("enabledPlugins", {}).values())
    except (ValueError, RecursionError, AttributeError, TypeError):
        found.rules = True
        return False


def _allows_us(rule: str) -> bool:
    return rule in ("Bash", "Bash(*)") or rule.startswith(f"Bash({launcher_path()}")


def _matches(matcher: str) -> bool:
    """Return whether the matcher of a hook may mean the shell."""
    return not re.fullmatch(r"\w+(\|\w+)*", matcher) or "Bash" in matcher.split("|")


def _options(found: ClientSettings) -> Iterator[str]:
    """Add what the command line of the client says; return the folders of plugins that it names."""
    words = _command_line(os.getppid())
    for at, word in enumerate(words[:-1]):
        name, equals, value = word.partition("=")
        value = value if equals else words[at + 1]
        if name in _LISTS:
            found.rules = True
        elif name == "--settings":
            data = value.encode(errors="replace") if value.startswith("{") else _read(value)
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


def _installed(found: ClientSettings, home: str) -> list[str]:
    """Return the folders of the installed plugins."""
    data = _read(os.path.join(home, "plugins", "installed_plugins.json"))
    paths = re.findall(rb'"installPath"\s*:\s*"([^"\\]*)"', data or b"")
    found.others |= not paths or len(paths) > _MOST_ENTRIES
    return [os.fsdecode(path) for path in paths[:_MOST_ENTRIES]]


def _replaces(path: str) -> bool:
    """Return whether a plugin, skill or agent of Claude Code brings a hook before tools."""
    if os.path.realpath(path) == ROOT:
        return False
    names = ("hooks/hooks.json", "SKILL.md", ".claude-plugin/plugin.json")
    inside = [path] if path.endswith(".md") else [os.path.join(path, name) for name in names]
    found = [_read(name) or b"" for name in inside]
    # A manifest may name any file of the plugin as its hooks.
    return any(b"PreToolUse" in data for data in found) or b'"hooks"' in found[-1]


# vibe


def _vibe(folders: Iterable[str]) -> ClientSettings:
    """Return what vibe's settings hold; reading TOML takes longer than deciding, so by its keys."""
    home = os.environ.get("VIBE_HOME") or os.path.expanduser("~/.vibe")
    homes = [home, *(os.path.join(folder, ".vibe") for folder in dict.fromkeys(folders))]
    found = ClientSettings()
    hooks = 0
    for folder in homes:
        config = _read(os.path.join(folder, "config.toml")) or b""
        found.rules |= b"denylist" in config or b"sensitive_patterns" in config
        found.allowed |= os.fsencode(launcher_path()) in config
        entries = _read(os.path.join(folder, "hooks.toml")) or b""
        hooks += len(re.findall(rb"^\s*type\s*=\s*['\"]pre_tool['\"]", entries, re.MULTILINE))
    found.others = hooks > 1
    return found


# Gemini


def _gemini(folders: Iterable[str]) -> ClientSettings:
    """Return what Gemini's settings and policies hold; it compares them with the changed text."""
    home = os.path.join(os.environ.get("GEMINI_CLI_HOME") or os.path.expanduser("~"), ".gemini")
    homes = [home, *(os.path.join(folder, ".gemini") for folder in dict.fromkeys(folders))]
    found = ClientSettings()
    for folder in (_SYSTEM_GEMINI, *homes):
        _take_gemini(found, _read(os.path.join(folder, "settings.json")))
        policies = _entries(os.path.join(folder, "policies"))
        found.rules |= policies is None
        for path in policies or ():
            policy = _read(path) or b""
            ours = os.fsencode(launcher_path()) in policy
            found.allowed |= ours
            found.rules |= not ours
    for extension in _entries(os.path.join(home, "extensions")) or ():
        hooks = _read(os.path.join(extension, "hooks", "hooks.json")) or b""
        found.others |= b"BeforeTool" in hooks
    return found


def _take_gemini(found: ClientSettings, data: bytes | None) -> None:
    """Add what a settings file of Gemini holds, None if there is none."""
    found.rules |= data == b"" or any(name in (data or b"") for name in _GEMINI_RULES)
    if not data or b"BeforeTool" not in data:
        return
    try:
        entries = json.loads(data)["hooks"]["BeforeTool"]
        commands = [str(hook["command"]) for entry in entries for hook in entry["hooks"]]
        found.others |= not all("hooks/guard" in command for command in commands)
    except (ValueError, RecursionError, AttributeError, TypeError, KeyError):
        found.others = True


# opencode


def _opencode(folders: Iterable[str]) -> ClientSettings:
    """Return what opencode's settings hold; without a rule it runs every shell command."""
    home = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    mine = [os.environ.get("OPENCODE_CONFIG_DIR", ""), os.path.join(home, "opencode")]
    below = [f for folder in dict.fromkeys(folders) for f in (folder, f"{folder}/.opencode")]
    found = ClientSettings(rules=bool(os.environ.get("OPENCODE_PERMISSION")))
    given = os.environ.get("OPENCODE_CONFIG_CONTENT", "").encode(errors="replace")
    texts = [_read(os.environ.get("OPENCODE_CONFIG", "")), given or None]
    for folder in filter(None, (*mine, *below)):
        names = ("opencode.json", "opencode.jsonc", "config.json")
        texts += [_read(os.path.join(folder, name)) for name in names]
        _take_opencode(found, folder)
    for text in texts:
        if text is not None:  # one that cannot be read is empty
            found.rules |= not text or b'"permission"' in text or b'"tools"' in text
            found.others |= b'"plugin"' in text
    found.allowed = not found.rules
    return found


def _take_opencode(found: ClientSettings, folder: str) -> None:
    """Add what the agents and plugins hold that lie in a folder of opencode."""
    ours = [os.path.realpath(path) for path in (_PLUGIN, installed_path("hooks", "opencode.js"))]
    listed = [_entries(os.path.join(folder, kind)) for kind in _OPENCODE_FOLDERS]
    found.rules |= None in listed
    for path in (path for paths in listed for path in paths or ()):
        data = _read(path) or b""
        found.rules |= path.endswith(".md") and b"permission" in data
        found.others |= b"tool.execute.before" in data and os.path.realpath(path) not in ours


# files


def _read(path: str) -> bytes | None:
    """Return the content of a settings file, None if there is none; what cannot be read is b""."""
    try:
        with open(path, "rb") as file:
            data = file.read(_MOST_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError):
        return b""
    return data if len(data) <= _MOST_BYTES else b""


def _entries(folder: str) -> list[str] | None:
    """Return the paths of what is in a folder, None if that is too much."""
    try:
        with os.scandir(folder) as found:
            paths = [entry.path for entry, _ in zip(found, range(_MOST_ENTRIES + 1), strict=False)]
    except OSError:
        return []
    return paths if len(paths) <= _MOST_ENTRIES else None
