"""The assistants that `planner setup` knows: how each is found, and what it needs to load us.

An assistant gets a link to the skill, a rule by which our program runs without a question, and the
guard's hooks where its hooks can hold it. docs/hosts.md says what was tried with which client.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from typing import TYPE_CHECKING, Any, NamedTuple

from cli.setup.documents import Entry, Form, Json, Tables, Toml
from shared.clients import codex, cursor, gemini
from shared.commands import COMMANDS, is_for_person
from shared.resources import ROOT, installed_path

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# vibe's own list, which one of the user's replaces; vibe adds the rest of it by itself.
_VIBES_OWN = ("cd", "echo", "git diff", "git log", "git status", "tree", "whoami")
# Where an assistant writes while it plans: answers, and the worktrees of the run.
_WRITTEN = ("**/answers/**", "runs/*/worktree/**", "runs/*/milestones/**")
_PERSONS = [name for name in COMMANDS if is_for_person(name)]
# Variables that name the folder above that of the settings.
_ABOVE = ("XDG_CONFIG_HOME", "GEMINI_CLI_HOME")
_GEMINI_WRITERS = ["write_file", "replace"]
_GEMINI_SKILL = '"name":"planner"'
# A quote within a value is escaped, so no text of a file can pass for the path.
_GEMINI_WRITTEN = (
    r'"file_path":"(?![^"]*\.\.)[^"]*/\.planner/runs/[^"/]+/(answers|worktree|milestones)/'
)


class Wanted(NamedTuple):
    """What one assistant needs: links and files of ours by path, entries in its own settings.

    `note` says what is left to do for the user.
    """

    links: dict[str, str] = {}  # noqa: RUF012 – a tuple's default, never changed
    files: dict[str, str] = {}  # noqa: RUF012 – the same
    entries: tuple[tuple[str, Form, Entry], ...] = ()
    note: str = ""


class Host(NamedTuple):
    """One assistant: programs and folder by which it is found, and what it needs there.

    `title` is its name for people; `variable` may name another folder than `home`; `inside` is its
    folder in a project.
    """

    title: str
    programs: tuple[str, ...]
    variable: str
    home: str
    inside: str
    wanted: Callable[[str, bool], Wanted]

    def folder(self, project: str = "") -> str:
        """Return the folder of its settings: the user's, or that of a project."""
        if project:
            return os.path.join(project, self.inside)
        named = os.environ.get(self.variable, "") if self.variable else ""
        if self.variable in _ABOVE and named:
            named = os.path.join(named, os.path.basename(self.home))
        return named or os.path.expanduser(self.home)

    def is_here(self) -> bool:
        """Return whether the assistant is on this machine."""
        return any(map(shutil.which, self.programs)) or os.path.isdir(self.folder())


def _skill(folder: str) -> str:
    return os.path.join(folder, "skills", "planner")


def _programs(folder: str) -> list[str]:
    """Return the paths by which an assistant may call us: its link, and where that leads."""
    return [os.path.join(_skill(folder), "bin", "planner"), installed_path("bin", "planner")]


def _claude(folder: str, project: bool) -> Wanted:
    """Its hooks come with the folder, so its link leads to all of it, not to the skill alone."""
    settings = os.path.join(folder, "settings.local.json" if project else "settings.json")
    plugins = _plugins(folder)
    programs = [os.path.join(plugin, "bin", "planner") for plugin in plugins]
    programs = [*programs, installed_path("bin", "planner")] if plugins else _programs(folder)
    rules = [f"Bash({program} *)" for program in programs]
    rules += [f"Edit(.planner/{pattern})" for pattern in _WRITTEN]
    entries = [(settings, Json(), Entry(("permissions", "allow"), rule)) for rule in rules]
    if plugins:
        return Wanted(entries=(*entries,), note="the skill and its hooks come with the plugin")
    links = {} if _skill(folder) == ROOT else {_skill(folder): ROOT}
    return Wanted(links, entries=(*entries,))


def _plugins(folder: str) -> list[str]:
    """Return the folders that Claude Code loads us from as a plugin, none where it does not.

    A link beside it would load us twice. The folder changes with each version, except where the
    marketplace is a folder itself, which is read in place.
    """
    enabled = _read(folder, "settings.json").get("enabledPlugins") or {}
    names = [name for name, on in enabled.items() if name.startswith("planner@") and on is True]
    known = _read(folder, "plugins", "known_marketplaces.json")
    installed = _read(folder, "plugins", "installed_plugins.json").get("plugins") or {}
    paths = []
    for name in names:
        source = known.get(name.partition("@")[2], {}).get("source", {})
        in_place = source.get("source") == "directory"
        versions = [source] if in_place else installed.get(name) or [{}]
        paths += [str(v.get("path" if in_place else "installPath") or ROOT) for v in versions]
    return paths


def _read(*path: str) -> dict[str, Any]:
    """Return what a settings file of Claude Code holds, nothing where it cannot be read."""
    try:
        with open(os.path.join(*path), encoding="utf-8") as file:
            found = Json().parse(file.read())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _vibe(folder: str, project: bool) -> Wanted:
    config, hooks = (os.path.join(folder, name) for name in ("config.toml", "hooks.toml"))
    guard = f"sh '{installed_path('hooks', 'guard')}' vibe pre_tool"
    table = {"name": "planner", "type": "pre_tool", "command": guard, "timeout": 120.0}
    # Where it takes no part in a pipeline, a text that rules are compared with begins with `false`.
    allowed = ("false", installed_path("bin", "planner"))
    entries: list[tuple[str, Form, Entry]] = [
        (config, Toml(), Entry(("tools", "bash", "allowlist"), word, _VIBES_OWN))
        for word in allowed
    ]
    entries.append((hooks, Tables(), Entry(("hooks",), table | {"strict": True})))
    note = "trust the folder when vibe asks" if project else ""
    return Wanted({_skill(folder): installed_path()}, entries=(*entries,), note=note)


def _codex(folder: str, project: bool) -> Wanted:
    del project
    guard = installed_path("hooks", "guard")
    hooks = os.path.join(folder, "hooks.json")
    entries = [
        (hooks, Json(), Entry(("hooks", event), {"hooks": [
            {"type": "command", "command": f'sh "{guard}" codex {event}'}]}))
        for event in codex.EVENTS
    ]  # fmt: skip
    programs = _programs(folder)
    rules = (
        "# The planner's commands run without a question and outside of the sandbox, but those\n"
    )
    rules += "# of a person not at all. The strictest of the rules that fit counts.\n"
    rules += _codex_rule([programs], "allow")
    rules += "".join(_codex_rule([programs, *words], "forbidden") for words in _persons_words())
    files = {os.path.join(folder, "rules", "planner.rules"): rules}
    return Wanted(
        {_skill(folder): installed_path()}, files, (*entries,), "trust the hooks when codex asks"
    )


def _persons_words() -> list[list[Any]]:
    """Return the words of a person's commands; a list among them holds those that may stand there.

    All of one word are the first; those of two follow, by their first word.
    """
    single: list[str] = []
    groups: dict[str, list[str]] = {}
    for first, _, second in (name.partition(" ") for name in _PERSONS):
        (groups.setdefault(first, []) if second else single).append(second or first)
    return [[single], *([first, seconds] for first, seconds in groups.items())]


def _codex_rule(pattern: list[Any], decision: str) -> str:
    return f'prefix_rule(pattern = {json.dumps(pattern)}, decision = "{decision}")\n'


def _gemini(folder: str, project: bool) -> Wanted:
    links = {_skill(folder): installed_path()}
    settings, guard = os.path.join(folder, "settings.json"), installed_path("hooks", "guard")
    entries = [
        (settings, Json(), Entry(("hooks", event), {"hooks": [{
            "type": "command", "name": "planner", "command": f'sh "{guard}" gemini {event}',
            "timeout": 120_000}]}))
        for event in gemini.EVENTS
    ]  # fmt: skip
    if project:
        note = "gemini reads rules of the user alone: each command asks"
        return Wanted(links, entries=(*entries,), note=note)
    rules = "# The planner's skill, its commands and the files of a run need no question, but the\n"
    rules += "# commands of a person are denied.\n"
    programs = _programs(folder)
    named = re.sub(r"([.+])", r"\\\1", "|".join(programs))  # a path of plain characters
    commands = rf"({named}) ({'|'.join(_PERSONS)})\b"
    # As for vibe: `false` begins a text that rules are compared with.
    allowed = f"commandPrefix = {json.dumps([*programs, 'false'])}"
    rules += _gemini_rule("run_shell_command", allowed, "allow", 100)
    rules += _gemini_rule(
        "run_shell_command", f"commandRegex = {json.dumps(commands)}", "deny", 101
    )
    for tools, pattern in ((_GEMINI_WRITERS, _GEMINI_WRITTEN), ("activate_skill", _GEMINI_SKILL)):
        rules += _gemini_rule(tools, f"argsPattern = {json.dumps(pattern)}", "allow", 100)
    return Wanted(links, {os.path.join(folder, "policies", "planner.toml"): rules}, (*entries,))


def _gemini_rule(tools: str | list[str], given: str, decision: str, priority: int) -> str:
    rule = f"[[rule]]\ntoolName = {json.dumps(tools)}\n{given}\n"
    return rule + f'decision = "{decision}"\npriority = {priority}\n'


def _opencode(folder: str, project: bool) -> Wanted:
    """It runs shell commands without a question, and so ours, unless the user's rules ask."""
    del project
    plugin = os.path.join(folder, "plugins", "planner.js")
    return Wanted(
        {_skill(folder): installed_path(), plugin: installed_path("hooks", "opencode.js")}
    )


def _cursor(folder: str, project: bool) -> Wanted:
    del project
    hooks, guard = os.path.join(folder, "hooks.json"), installed_path("hooks", "guard")
    entries = [(hooks, Json(), Entry(("version",), 1, None))]
    entries += [
        (hooks, Json(), Entry(("hooks", event), {
            "command": f'sh "{guard}" cursor {event}', "timeout": 120}))
        for event in cursor.EVENTS
    ]  # fmt: skip
    note = "allow the launcher when Cursor asks; its hooks were not tried with the real client"
    return Wanted({_skill(folder): installed_path()}, entries=(*entries,), note=note)


HOSTS = {
    "claude": Host(
        "Claude Code", ("claude",), "CLAUDE_CONFIG_DIR", "~/.claude", ".claude", _claude
    ),
    "codex": Host("codex", ("codex",), "CODEX_HOME", "~/.codex", ".codex", _codex),
    "vibe": Host("vibe", ("vibe",), "VIBE_HOME", "~/.vibe", ".vibe", _vibe),
    "opencode": Host(
        "opencode", ("opencode",), "XDG_CONFIG_HOME", "~/.config/opencode", ".opencode", _opencode
    ),
    "gemini": Host("Gemini", ("gemini",), "GEMINI_CLI_HOME", "~/.gemini", ".gemini", _gemini),
    "cursor": Host("Cursor", ("cursor-agent", "cursor"), "", "~/.cursor", ".cursor", _cursor),
}


def parts_of(wanted: Wanted) -> Iterator[tuple[str, str]]:
    """Yield what each path is for: the skill, hooks, or the rule that allows our commands."""
    for path, target in wanted.links.items():
        if target.startswith(installed_path("hooks")):
            yield "hooks", path
        else:
            # Claude Code reads the hooks from the folder of the skill.
            yield "skill with its hooks" if target == ROOT else "skill", path
    for path, _, entry in wanted.entries:
        is_hook = "hooks" in entry.keys or os.path.basename(path).startswith("hooks")
        yield "hooks" if is_hook else "rule", path
    yield from (("rule", path) for path in wanted.files)


def foreign_guard(settings: Any, entries: list[Entry]) -> str:  # noqa: ANN401 – any JSON value
    """Return the command of a planner's guard that is not among our entries, "" without one.

    Two guards would judge each call, and one that has moved denies every one.
    """
    ours = json.dumps([entry.value for entry in entries])
    return next(
        (c for c in _commands(settings) if "hooks/guard" in c and json.dumps(c) not in ours), ""
    )


def _commands(value: Any) -> list[str]:  # noqa: ANN401 – any JSON value
    if isinstance(value, dict):
        own = [v for k, v in value.items() if k == "command" and isinstance(v, str)]
        return own + [c for v in value.values() for c in _commands(v)]
    return [c for v in value for c in _commands(v)] if isinstance(value, list) else []
